"""Every model against the paper's formula, one coordinate at a time, and against integration."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
import torch
from scipy import special, stats

from kgflow.models import MODELS, Model, build, options
from laws import SQRT3, close, integral, wasserstein

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


@dataclass(frozen=True)
class Case:
    model: str
    formula: Callable[..., float]
    options: dict = field(default_factory=dict)
    images: Callable | None = None
    ppf: Callable[[float], float] = special.ndtri
    restricted: bool = False
    """Whether it is a Wasserstein distance for r_σ >= 0 only."""


CONSTRUCTORS = {
    "transe": Case("transe", transe),
    "distmult": Case("distmult", distmult),
    "nfe-point": Case("nfe-point", eq13),
    "nfe-1": Case("nfe-1", eq10(), {}, affine_images),
    "nfe-1 uniform": Case("nfe-1", eq10(), {"x0": "uniform"}, affine_images, uniform),
    "nfe-1 1/4": Case("nfe-1", eq10(1 / 4), {"uncertainty": 1 / 4}, affine_images, halved),
    "nfe-1 16": Case("nfe-1", eq10(16), {"uncertainty": 16, "x0": "uniform"}),
    "nfe-1 0": Case("nfe-1", eq10(0), {"uncertainty": 0}, affine_images, lambda z: 0.0),
    "nfe-1-mu": Case("nfe-1-mu", transe, {}, mu_images),
    "nfe-1-sigma": Case("nfe-1-sigma", sigma_only, {}, sigma_images),
    "nfe-2": Case("nfe-2", oriented(NORMAL), {}, kinked_images),
    "nfe-2 uniform": Case("nfe-2", oriented(UNIFORM), {"x0": "uniform"}, kinked_images, uniform),
    "nfe-2 1/4": Case("nfe-2", oriented(NORMAL, 2), {"uncertainty": 1 / 4}, kinked_images, halved),
    "nfe-2 0": Case("nfe-2", eq13, {"uncertainty": 0.0}, kinked_images, lambda z: 0.0),
    "nfe-2-paper": Case("nfe-2-paper", printed(NORMAL), {}, kinked_images, restricted=True),
    "nfe-2-paper uniform": Case(
        "nfe-2-paper", printed(UNIFORM), {"x0": "uniform"}, kinked_images, uniform, restricted=True
    ),
    "nfe-2-paper 1/4": Case("nfe-2-paper", printed(NORMAL, 2), {"uncertainty": 1 / 4}),
    "nfe-3": Case("nfe-3", eq15(0.001)),
    "nfe-3 high floor": Case("nfe-3", eq15(0.7), {"floor": 0.7}),
    "nfe-3-softplus": Case("nfe-3-softplus", eq15_softplus),
}

E, R, DIM = 7, 4, 3
every = pytest.mark.parametrize("name", CONSTRUCTORS)


def make(name: str, seed: int = 0, away_from_zero: float = 0.0) -> Model:
    """A model in float64 with parameters of all signs, some of them zero unless kept away."""
    case = CONSTRUCTORS[name]
    model = build(case.model, E, R, DIM, case.options).double()
    generator = torch.Generator().manual_seed(seed)
    for table in (model.entity, model.relation):
        weight = torch.randn(table.weight.shape, dtype=torch.float64, generator=generator)
        weight[:, ::5] *= 0 if away_from_zero == 0 else 1
        table.weight.data = weight + away_from_zero * weight.sign()
    return model


def triples():
    return torch.cartesian_prod(torch.arange(E), torch.arange(R), torch.arange(E)).unbind(1)


def total(model: Model, formula, h, r, t) -> float:
    """The sum of a formula for one coordinate over the n coordinates of a triple."""
    tables = (model.entity, h), (model.relation, r), (model.entity, t)
    rows = [torch.stack(table.split(table.weight[i]), dim=1).tolist() for table, i in tables]
    return sum(formula(*parts) for parts in zip(*rows, strict=True))


@every
def test_scores_are_the_formula(name):
    model = make(name)
    h, r, t = triples()
    expected = [total(model, CONSTRUCTORS[name].formula, *ids) for ids in zip(h, r, t, strict=True)]
    close(model.score(h, r, t), expected, 1e-10)


@every
def test_all_scores_are_one_matrix_product(name):
    model = make(name)
    h, r = torch.cartesian_prod(torch.arange(E), torch.arange(R)).unbind(1)
    (Q, a), (K, b) = model.query(h, r), model.keys(torch.arange(E))
    S = Q @ K.T + a[:, None] + b
    close(S.flatten(), model.score(*triples()), 1e-10)


@pytest.mark.parametrize("name", [n for n, case in CONSTRUCTORS.items() if case.images])
def test_scores_are_the_integral(name):
    """To 1e-6, for all signs; the printed form where its restriction holds."""
    case = CONSTRUCTORS[name]
    model = make(name, seed=1)
    if case.restricted:
        model.relation.weight.data.abs_()
    for h, r, t in [(0, 0, 1), (2, 1, 3), (4, 2, 5), (6, 3, 0), (1, 3, 1)]:
        W = total(model, lambda *parts: wasserstein(*case.images(*parts), case.ppf), h, r, t)
        close(model.score(*torch.tensor([[h], [r], [t]])), [-W], 1e-6)


def test_kl_scores_are_the_integral():
    model = make("nfe-3", seed=1, away_from_zero=0.3)

    def divergence(h, r, t):
        (mu, sigma), (nu, tau) = ((f(0.0), abs(f(1.0) - f(0.0))) for f in affine_images(h, r, t))
        p, q = stats.norm(mu, sigma), stats.norm(nu, tau)
        gap = [mu - 12 * sigma, mu, mu + 12 * sigma]
        return integral(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), *gap)

    for h, r, t in [(0, 0, 1), (2, 1, 3), (4, 2, 5)]:
        expected = -total(model, divergence, h, r, t)
        close(model.score(*torch.tensor([[h], [r], [t]])), [expected], 1e-6)


@every
def test_gradients_are_finite_differences(name):
    model = make(name, away_from_zero=0.8)  # away from NFE-3's floor, too
    h, t = model.entity.weight.detach()[:3].clone(), model.entity.weight.detach()[3:6].clone()
    r = model.relation.weight.detach()[:3].clone()
    for rows in (h, r, t):
        rows.requires_grad_()
    assert torch.autograd.gradcheck(lambda h, r: tuple(model.lower_query(h, r)), (h, r))
    assert torch.autograd.gradcheck(lambda t: tuple(model.lower_keys(t)), (t,))


def test_no_model_escapes_this_table():
    """Neither a name of the catalogue nor a class with rows of its own in a module of ours."""
    ours = {cls for cls in descendants(Model) if cls.__module__.startswith("kgflow.")}
    named = {cls for cls in ours if getattr(sys.modules[cls.__module__], cls.__name__, 0) is cls}
    assert {cls for cls in named if hasattr(cls, "entity_parts")} == set(MODELS.values())
    assert {case.model for case in CONSTRUCTORS.values()} == set(MODELS)


def test_no_option_escapes_this_table():
    for name in MODELS:
        used = {key for case in CONSTRUCTORS.values() if case.model == name for key in case.options}
        assert used == set(options(name)), name


def descendants(cls):
    return {d for child in cls.__subclasses__() for d in {child} | descendants(child)}
