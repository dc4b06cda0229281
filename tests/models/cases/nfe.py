"""The NFE family and its ablations, one coordinate at a time."""

import math
from collections.abc import Callable, Sequence

from scipy import special

from cases.case import Case, coordinatewise
from laws import SQRT3

Parts = Sequence[float]
NORMAL, UNIFORM = math.sqrt(2 / math.pi), math.sqrt(3 / 4)
"""The constants of Eq. 12 and Eq. 11."""


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


def eq15(floor: float) -> Callable[..., float]:
    """With scales held away from zero."""

    def score(h, r, t):
        h_s, r_s, t_s = (math.copysign(max(abs(p[1]), floor), p[1]) for p in (h, r, t))
        return -kl(r_s * h[0] + r[0], abs(r_s * h_s), t[0], abs(t_s))

    return score


def eq15_softplus(h: Parts, r: Parts, t: Parts) -> float:
    def s(x):
        return math.log1p(math.exp(x))

    return -kl(r[1] * h[0] + r[0], s(r[1]) * s(h[1]), t[0], s(t[1]))


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
    "nfe-2-paper": Case(
        "nfe-2-paper", coordinatewise(printed(NORMAL)), {}, kinked_images, restricted=True
    ),
    "nfe-2-paper uniform": Case(
        "nfe-2-paper",
        coordinatewise(printed(UNIFORM)),
        {"x0": "uniform"},
        kinked_images,
        uniform,
        restricted=True,
    ),
    "nfe-2-paper 1/4": Case(
        "nfe-2-paper", coordinatewise(printed(NORMAL, 2)), {"uncertainty": 1 / 4}
    ),
    "nfe-3": Case("nfe-3", coordinatewise(eq15(0.001))),
    "nfe-3 high floor": Case("nfe-3", coordinatewise(eq15(0.7)), {"floor": 0.7}),
    "nfe-3-softplus": Case("nfe-3-softplus", coordinatewise(eq15_softplus)),
}
