"""Every entropy a model tells of is the integral of -p log p over its density."""

import functools
import math

import numpy as np
import pytest
import torch
from cases import CONSTRUCTORS, E, R

from kgflow.models import (
    composed_entropy,
    entity_entropy,
    entity_flow,
    relation_entropy,
    triple_entropy,
)
from laws import close

H, RELATION, TAIL = torch.tensor([0, 2]), torch.tensor([1, 3]), torch.tensor([5, 0])


@functools.cache
def made(name):
    """A model whose scales are off zero, where there are densities."""
    return CONSTRUCTORS[name].make(away_from_zero=0.3)


WITH = [name for name in CONSTRUCTORS if entity_entropy(made(name)) is not None]
FLOWS = [name for name in WITH if relation_entropy(made(name)) is not None]


def integral(flow):
    """-∫ p log p by Gauss-Legendre between the images of kinks, summed over coordinates."""
    node, weight = (torch.from_numpy(x) for x in np.polynomial.legendre.leggauss(40))
    levels = [1e-12, 1e-5, 0.02, 0.2, 0.5, 0.8, 0.98, 1 - 1e-5, 1 - 1e-12]
    full = torch.zeros(flow.f.shape, dtype=torch.float64)
    z = [full + z for z in levels] + [(full + z).clamp(1e-12, 1 - 1e-12) for z in flow.kinks()]
    edges = flow.quantile(torch.stack(z).sort(0).values)
    middle, half = (edges[1:] + edges[:-1]) / 2, edges.diff(dim=0) / 2
    x = middle[..., None] + half[..., None] * node
    log_p = flow.marginals.log_prob(x.movedim(-1, 0)).movedim(0, -1)
    surprise = torch.where(log_p.isfinite(), -log_p.exp() * log_p, 0)
    mass = (half[..., None] * log_p.exp() * weight).sum((0, -1))
    close(mass, torch.ones_like(mass), 1e-7)
    return (half[..., None] * surprise * weight).sum((0, -1)).sum(-1)


def start(flow):
    return flow.f.shape[-1] * flow.x0.entropy()


@pytest.mark.parametrize("name", WITH)
@torch.no_grad()
def test_of_entities(name):
    model = made(name)
    flow = entity_flow(model, model.entity(H))
    close(entity_entropy(model)[H], integral(flow) - start(flow), 1e-6)


@pytest.mark.parametrize("name", FLOWS)
@torch.no_grad()
def test_of_relations_and_triples(name):
    model = made(name)
    h, r = model.entity(H), model.relation(RELATION)
    flows = model.flow(h), model.relation_flow(r), model.composed(h, r)
    of_h, of_r, of_rh = (integral(flow) for flow in flows)
    x0 = start(flows[0])
    found = triple_entropy(model, H, RELATION, TAIL)
    close(relation_entropy(model)[RELATION], of_r - x0, 1e-6)
    close(found.head, of_h - x0, 1e-6)
    close(found.relation, of_rh - of_h, 1e-6)
    close(found.composed, of_rh - x0, 1e-6)
    close(found.tail, entity_entropy(model)[TAIL], 1e-12)
    close(composed_entropy(model, H, RELATION), found.composed, 1e-12)
    close(found.composed, found.relation + found.head, 1e-12)
    # All relations are linear, so what one adds does not depend on the head.
    close(found.relation, relation_entropy(model)[RELATION], 1e-9)


@pytest.mark.parametrize("name", sorted(set(CONSTRUCTORS) - set(FLOWS)))
def test_of_what_is_no_flow(name):
    model = made(name)
    assert relation_entropy(model) is composed_entropy(model, H, RELATION) is None
    found = triple_entropy(model, H, RELATION, TAIL)
    if name not in WITH:
        assert found is entity_entropy(model) is None
    else:
        assert found.relation is found.composed is None
        close(found.tail, entity_entropy(model)[TAIL], 1e-12)


def test_the_dirac_limit_and_discrete_variables_have_none():
    names = {name for name in CONSTRUCTORS if name.startswith(("nfe-1", "nfe-2", "nfe-k"))}
    without = {name for name in names if name.endswith((" 0", "discrete"))}
    assert names - without <= set(FLOWS)
    assert not without & set(WITH)
    assert {"kg2e", "kg2e divergence=el", "transg", "nfe-3", "nfe-3 scale=softplus"} <= set(WITH)
    assert not {"distmult", "transe", "nfe-point", "boxe"} & set(WITH)


@pytest.mark.parametrize("name", ["nfe-1", "nfe-2", "nfe-k normal", "nfe-k degree=3 uniform"])
def test_a_zero_scale_is_minus_infinity(name):
    model = CONSTRUCTORS[name].make(away_from_zero=0.3)
    model.entity.weight.data[2] = 0
    entropy = entity_entropy(model)
    assert entropy[2] == -math.inf
    assert entropy[[0, 1, *range(3, E)]].isfinite().all()
    found = triple_entropy(model, H, RELATION, TAIL)
    assert found.head[1] == found.composed[1] == -math.inf
    assert found.relation[1].isnan()
    model.relation.weight.data[1] = 0
    assert relation_entropy(model)[1] == -math.inf
    assert triple_entropy(model, H, RELATION, TAIL).composed[0] == -math.inf
    assert len(relation_entropy(model)) == R
