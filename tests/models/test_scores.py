"""Every model against the paper's formula, and, where it is a distance, against integration."""

import sys
from dataclasses import replace

import pytest
import torch
from cases import CONSTRUCTORS, E, R
from cases.case import coordinatewise
from cases.nfe import affine_images
from scipy import stats

from graphs import ALL_MODELS
from kgflow.kernels import EncodedEntities
from kgflow.models import MODELS, Ensemble, Model
from laws import close, integral, wasserstein

every = pytest.mark.parametrize("name", CONSTRUCTORS)


def triples():
    return torch.cartesian_prod(torch.arange(E), torch.arange(R), torch.arange(E)).unbind(1)


@every
def test_scores_are_the_formula(name):
    case = CONSTRUCTORS[name]
    model = case.make()
    h, r, t = triples()
    expected = [case.expected(model, *ids) for ids in zip(h, r, t, strict=True)]
    close(model.score(h, r, t), expected, 1e-10)


@every
@torch.no_grad()
def test_all_scores_are_one_product_or_pairwise(name):
    model = CONSTRUCTORS[name].make()
    h, r = torch.cartesian_prod(torch.arange(E), torch.arange(R)).unbind(1)
    (Q, a), (K, b) = model.query(h, r), model.keys(torch.arange(E))
    met = Q @ K.T if model.interaction is None else model.interaction(Q, K)
    close((met + a[:, None] + b).flatten(), model.score(*triples()), 1e-10)
    entities = EncodedEntities(model.entity.weight, model.encode_keys, model.interaction, block=3)
    close(entities.scores(Q, a), met + a[:, None] + b, 1e-10)


@every
def test_asking_by_ids_is_lowering_their_rows_in_value_and_gradient(name):
    model = CONSTRUCTORS[name].make()
    h, r = torch.tensor([1, 4, 0, 2, 4, 3]), torch.tensor([2, 0, 2, 3, 2, 0])
    found, gradients = [], []
    for query in (
        model.encode_query_ids(model.entity(h), r),
        model.encode_query(model.entity(h), model.relation(r)),
    ):
        model.zero_grad()
        weight = torch.arange(query.Q.numel()).view_as(query.Q).cos()
        ((query.Q * weight).sum() + (query.a * weight[:, 0]).sum()).backward()
        found.append(query)
        gradients.append([x.weight.grad.clone() for x in (model.entity, model.relation)])
    for ours, plain in zip(*found, strict=True):
        close(ours, plain, 1e-12)
    for ours, plain in zip(*gradients, strict=True):
        close(ours, plain, 1e-12)
    none = torch.tensor([], dtype=torch.long)
    assert model.encode_query_ids(model.entity(none), none).Q.shape == (0, found[0].Q.shape[1])


@pytest.mark.parametrize("name", [n for n, case in CONSTRUCTORS.items() if case.images])
def test_scores_are_the_integral(name):
    """To 1e-6, for all signs; the printed form where its restriction holds."""
    case = CONSTRUCTORS[name]
    model = case.make(seed=1)
    if case.restricted:
        model.relation.weight.data.abs_()
    for h, r, t in [(0, 0, 1), (2, 1, 3), (4, 2, 5), (6, 3, 0), (1, 3, 1)]:
        distance = coordinatewise(lambda *parts: wasserstein(*case.images(*parts), case.ppf))
        W = replace(case, score=distance).expected(model, h, r, t)
        close(model.score(*torch.tensor([[h], [r], [t]])), [-W], 1e-6)


def test_kl_scores_are_the_integral():
    case = CONSTRUCTORS["nfe-3"]
    model = case.make(seed=1, away_from_zero=0.3)

    def divergence(h, r, t):
        (mu, sigma), (nu, tau) = ((f(0.0), abs(f(1.0) - f(0.0))) for f in affine_images(h, r, t))
        p, q = stats.norm(mu, sigma), stats.norm(nu, tau)
        gap = [mu - 12 * sigma, mu, mu + 12 * sigma]
        return integral(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), *gap)

    for h, r, t in [(0, 0, 1), (2, 1, 3), (4, 2, 5)]:
        expected = -replace(case, score=coordinatewise(divergence)).expected(model, h, r, t)
        close(model.score(*torch.tensor([[h], [r], [t]])), [expected], 1e-6)


@every
def test_gradients_are_finite_differences(name):
    case = CONSTRUCTORS[name]
    model = case.make(away_from_zero=0.8)  # away from NFE-3's floor, too
    h, t = model.entity.weight.detach()[:3].clone(), model.entity.weight.detach()[3:6].clone()
    r = model.relation.weight.detach()[:3].clone()
    for rows in (h, r, t):
        rows.requires_grad_(rows is not r or not case.stepped)
    assert torch.autograd.gradcheck(lambda h, r: tuple(model.encode_query(h, r)), (h, r))
    assert torch.autograd.gradcheck(lambda t: tuple(model.encode_keys(t)), (t,))
    if model.interaction is not None:
        Q, K = (
            x.detach().requires_grad_()
            for x in (model.encode_query(h, r).Q, model.encode_keys(t).K)
        )
        assert torch.autograd.gradcheck(model.pairwise, (Q, K))
        assert torch.autograd.gradcheck(model.interaction, (Q, K))


def test_no_model_escapes_this_table():
    """Every registered name and every class with a name has a case."""
    ours = {cls for cls in descendants(Model) if cls.__module__.startswith("kgflow.")}
    named = {cls for cls in ours if getattr(sys.modules[cls.__module__], cls.__name__, 0) is cls}
    variants = {found.model for cls in MODELS.values() for found in cls.variants} - {None}
    known = {*MODELS.values(), *variants, Ensemble}
    assert {cls for cls in named if hasattr(cls, "name")} == known
    assert {case.model for case in CONSTRUCTORS.values()} == set(ALL_MODELS)


def test_no_option_escapes_this_table():
    for name in MODELS:
        cases = [case for case in CONSTRUCTORS.values() if case.model.split()[0] == name]
        used = {key for case in cases for key in case.all_options}
        assert used == set(MODELS[name].Options.model_fields), name


def descendants(cls):
    return {d for child in cls.__subclasses__() for d in {child} | descendants(child)}
