"""The NFE family and its ablations, one coordinate at a time."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from cases.case import Case, coordinatewise
from laws import FIVE, PPF, SQRT3, SQRT6, VARIABLES, spline_of

Parts = Sequence[float]
NORMAL, UNIFORM = math.sqrt(2 / math.pi), math.sqrt(3 / 4)
"""The constants of Eq. 12 and Eq. 11."""
OTHERS = {
    "triangular": SQRT6 / 3,
    "logistic": 2 * math.log(2) * SQRT3 / math.pi,
    "discrete": 6 / (5 * math.sqrt(2)),
}
"""What stands in their place for another x0: E|x0|."""


# --- the paper's formulas, for one coordinate ---------------------------------------------------


def transe(h: Parts, r: Parts, t: Parts) -> float:
    return -((h[0] + r[0] - t[0]) ** 2)


def distmult(h: Parts, r: Parts, t: Parts) -> float:
    return h[0] * r[0] * t[0]


def sigma_only(h: Parts, r: Parts, t: Parts) -> float:
    return -((abs(r[0] * h[0]) - abs(t[0])) ** 2)


def eq13(h: Parts, r: Parts, t: Parts) -> float:
    return -((r[1] * h[0] + r[0] - t[0]) ** 2)


def eq10(uncertainty: float = 1.0) -> Callable[..., float]:
    def score(h, r, t):
        return eq13(h, r, t) - uncertainty * (abs(r[1] * h[1]) - abs(t[1])) ** 2

    return score


def complex_affine(h: Parts, r: Parts, t: Parts) -> float:
    sigma, mu = complex(*r[:2]), complex(*r[2:])
    scales = abs(sigma) * abs(h[2]) - abs(t[2])
    return -(abs(sigma * complex(*h[:2]) + mu - complex(*t[:2])) ** 2) - scales**2


def complex_flow(h: Parts, r: Parts, t: Parts) -> float:
    turned = complex(*r) * complex(*h[:2])
    return (turned * complex(*t[:2]).conjugate()).real + abs(complex(*r)) * abs(h[2]) * abs(t[2])


def printed(c: float, k: float = 1.0) -> Callable[..., float]:
    """Eq. 11 and Eq. 12, with x0/k."""

    def score(h, r, t):
        m = r[1] * h[0] + r[0] - t[0]
        d1 = abs(r[1] * h[1]) - abs(t[1])
        d2 = abs(r[1] * h[2]) - abs(t[2])
        return -(m**2) - d1**2 / (2 * k**2) - d2**2 / (2 * k**2) - c / k * m * (d2 - d1)

    return score


def oriented(c: float, k: float = 1.0) -> Callable[..., float]:
    """The same, with the head's halves swapped where the relation mirrors them."""

    def score(h, r, t):
        return printed(c, k)((h[0], h[2], h[1]) if r[1] < 0 else h, r, t)

    return score


def kl(mu: float, sigma: float, nu: float, tau: float) -> float:
    return math.log(tau / sigma) + (sigma**2 + (mu - nu) ** 2) / (2 * tau**2) - 1 / 2


def eq15(h: Parts, r: Parts, t: Parts) -> float:
    """With scales held away from zero."""
    h_s, r_s, t_s = (math.copysign(max(abs(p[1]), 0.001), p[1]) for p in (h, r, t))
    return -kl(r_s * h[0] + r[0], abs(r_s * h_s), t[0], abs(t_s))


def eq15_softplus(h: Parts, r: Parts, t: Parts) -> float:
    def s(x):
        return math.log1p(math.exp(x))

    return -kl(r[1] * h[0] + r[0], s(r[1]) * s(h[1]), t[0], s(t[1]))


# --- splines: no formula but the integral, as a sum over nodes of x0 ------------------------------


def knots(degree: int, size: int, x0: str) -> list[float]:
    """They cut x0 into equally likely pieces: as many as scales, but one more for quadratics.

    Half the way to the mirror image, since a discrete x0 jumps at some of them.
    """
    pieces = size + (degree == 2)
    levels = [i / pieces for i in range(1, pieces)]
    return [(PPF[x0](z) - PPF[x0](w)) / 2 for z, w in zip(levels, levels[::-1], strict=True)]


def nodes(x0: str, cuts: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric points of x0 with their weights, to integrate what is smooth between the cuts."""
    if x0 == "discrete":
        return np.array(FIVE), np.full(5, 0.2)
    twin, (point, weight) = VARIABLES[x0][1], np.polynomial.legendre.leggauss(24)
    low, high = np.clip(twin.support(), -26, 26)
    edges = np.unique(np.clip([low, *range(-26, 27), *cuts, high], low, high))
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    x = (middle[:, None] + half[:, None] * point).ravel()
    return x, (half[:, None] * weight).ravel() * twin.pdf(x)


def splines(degree: int, size: int, x0: str = "normal", k: float = 1.0) -> Callable[..., float]:
    """The squared distance of the quantile functions, with x0/k."""
    cuts = [knot / k for knot in knots(degree, size, x0)]
    x, weight = nodes(x0, knots(degree, size, x0))
    units = np.eye(size).tolist()
    phi = np.array([[spline_of(degree, cuts, 0.0, unit)(v) for v in x / k] for unit in units])

    def score(h, r, t):
        moved, fixed = (e[0] + np.abs(e[1:]) @ phi for e in (h, t))
        # Where the relation falls, the largest value is that of the smallest x0.
        moved = r[1] * (moved[::-1] if r[1] < 0 else moved) + r[0]
        return -float(weight @ (moved - fixed) ** 2)

    return score


def spline_images(degree: int, size: int, x0: str = "normal", k: float = 1.0) -> Callable:
    cuts = [knot / k for knot in knots(degree, size, x0)]

    def images(h, r, t):
        f_h, f_t = (spline_of(degree, cuts, e[0], [abs(s) for s in e[1:]]) for e in (h, t))
        return lambda x: r[1] * f_h(x) + r[0], f_t

    return images


# --- what the formulas are the integrals of: f_r ∘ f_h and f_t, for one coordinate ---------------


def affine_images(h, r, t):
    return lambda x: r[1] * (h[1] * x + h[0]) + r[0], lambda x: t[1] * x + t[0]


def mu_images(h, r, t):
    return affine_images((*h, 1), (*r, 1), (*t, 1))


def sigma_images(h, r, t):
    return affine_images((0, *h), (0, *r), (0, *t))


def kinked_images(h, r, t):
    def f(e, x):
        return abs(e[1] if x <= 0 else e[2]) * x + e[0]

    return lambda x: r[1] * f(h, x) + r[0], lambda x: f(t, x)


def uniform(z: float) -> float:
    return SQRT3 * (2 * z - 1)


def halved(z: float) -> float:
    return special.ndtri(z) / 2


CASES = {
    "transe": Case("transe", coordinatewise(transe)),
    "distmult": Case("distmult", coordinatewise(distmult)),
    "nfe-point": Case("nfe-point", coordinatewise(eq13)),
    "nfe-1": Case("nfe-1", coordinatewise(eq10()), {}, affine_images),
    "nfe-1 uniform": Case(
        "nfe-1", coordinatewise(eq10()), {"x0": "uniform"}, affine_images, uniform
    ),
    "nfe-1 1/4": Case(
        "nfe-1", coordinatewise(eq10(1 / 4)), {"uncertainty": 1 / 4}, affine_images, halved
    ),
    "nfe-1 16": Case("nfe-1", coordinatewise(eq10(16)), {"uncertainty": 16, "x0": "uniform"}),
    "nfe-1 0": Case(
        "nfe-1", coordinatewise(eq10(0)), {"uncertainty": 0}, affine_images, lambda z: 0.0
    ),
    "nfe-1-complex": Case("nfe-1-complex", coordinatewise(complex_affine), dim=6),
    "complex-flow": Case("complex-flow", coordinatewise(complex_flow), dim=6),
    "nfe-1-mu": Case("nfe-1-mu", coordinatewise(transe), {}, mu_images),
    "nfe-1-sigma": Case("nfe-1-sigma", coordinatewise(sigma_only), {}, sigma_images),
    "nfe-2": Case("nfe-2", coordinatewise(oriented(NORMAL)), {}, kinked_images),
    "nfe-2 uniform": Case(
        "nfe-2", coordinatewise(oriented(UNIFORM)), {"x0": "uniform"}, kinked_images, uniform
    ),
    "nfe-2 1/4": Case(
        "nfe-2", coordinatewise(oriented(NORMAL, 2)), {"uncertainty": 1 / 4}, kinked_images, halved
    ),
    "nfe-2 0": Case(
        "nfe-2", coordinatewise(eq13), {"uncertainty": 0.0}, kinked_images, lambda z: 0.0
    ),
    "nfe-2 form=paper": Case(
        "nfe-2 form=paper", coordinatewise(printed(NORMAL)), {}, kinked_images, restricted=True
    ),
    "nfe-2 form=paper uniform": Case(
        "nfe-2 form=paper",
        coordinatewise(printed(UNIFORM)),
        {"x0": "uniform"},
        kinked_images,
        uniform,
        restricted=True,
    ),
    "nfe-2 form=paper 1/4": Case(
        "nfe-2 form=paper", coordinatewise(printed(NORMAL, 2)), {"uncertainty": 1 / 4}
    ),
    "nfe-3": Case("nfe-3", coordinatewise(eq15)),
    "nfe-3 scale=softplus": Case("nfe-3 scale=softplus", coordinatewise(eq15_softplus)),
}

for x0, c in OTHERS.items():
    chosen = {"x0": x0}
    score = coordinatewise(eq10())
    CASES[f"nfe-1 {x0}"] = Case("nfe-1", score, chosen, affine_images, PPF[x0])
    score = coordinatewise(oriented(c))
    CASES[f"nfe-2 {x0}"] = Case("nfe-2", score, chosen, kinked_images, PPF[x0])
    score = coordinatewise(printed(c))
    CASES[f"nfe-2 form=paper {x0}"] = Case(
        "nfe-2 form=paper", score, chosen, kinked_images, PPF[x0], restricted=True
    )

for degree, model in enumerate(("nfe-k", "nfe-k degree=2", "nfe-k degree=3"), start=1):
    for x0 in ("normal", "uniform", *OTHERS):
        CASES[f"{model} {x0}"] = Case(
            model,
            coordinatewise(splines(degree, 4, x0)),
            {"x0": x0},
            spline_images(degree, 4, x0),
            PPF[x0],
        )
    CASES[f"{model} 7 1/4"] = Case(
        model,
        coordinatewise(splines(degree, 7, k=2)),
        {"pieces": 7, "uncertainty": 1 / 4},
        spline_images(degree, 7, k=2),
        halved,
    )
    CASES[f"{model} 3 uniform"] = Case(
        model, coordinatewise(splines(degree, 3, "uniform")), {"pieces": 3, "x0": "uniform"}
    )
    CASES[f"{model} 0"] = Case(
        model,
        coordinatewise(eq13),
        {"uncertainty": 0},
    )
