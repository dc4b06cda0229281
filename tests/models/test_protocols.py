"""Declared capabilities of every variant of every model hold on random embeddings."""

import pytest
import torch

from graphs import ALL_MODELS, VARIANTS, build
from kgflow.models import variant
from kgflow.models.protocols import (
    EntityFlow,
    InverseQueries,
    InvertibleRelations,
    RelationFlow,
    RelationScores,
)
from laws import close

E, R, DIM = 8, 8, 12

SCALING = {"nfe-1", "nfe-1-complex", "nfe-1-quaternion", "nfe-1-sigma", "nfe-point"}
TRANSE = {"transe", "transe norm=l1", "transe norm=l2"}
TORUS = {"toruse", "toruse norm=l2", "toruse norm=el2", "mobiuse"}
ROTATIONS = {
    *("rotate", "rotate norm=squared-l2", "nage-so3", "nage-so3 norm=squared-l2"),
    *("nage-su2", "nage-su2 norm=squared-l2"),
}
BILINEAR = {"distmult", "complex", "complex-flow", "rescal", "quate", "dihedral"}
GAUSSIAN = {"kg2e", "kg2e divergence=el", "transg"}
SPLINES = {"nfe-2", "nfe-2 form=paper", "nfe-k", "nfe-k degree=2", "nfe-k degree=3"}

DECLARED = {
    InverseQueries: SCALING,
    InvertibleRelations: TRANSE
    | TORUS
    | ROTATIONS
    | BILINEAR
    | GAUSSIAN
    | {"nfe-1-mu", "manifolde", "boxe"},
    RelationScores: TRANSE
    | {"distmult", "complex", "complex-flow", "nfe-1-mu"}
    | SCALING - {"nfe-1-quaternion"},
}


def random_model(key):
    torch.manual_seed(0)
    model = build(key, E, R, DIM).double().eval()
    for table in (model.entity, model.relation):
        torch.nn.init.normal_(table.weight)
    return model


def declaring(protocol):
    return [key for key in ALL_MODELS if isinstance(random_model(key), protocol)]


@pytest.mark.parametrize("protocol", DECLARED)
def test_the_expected_models_declare_it(protocol):
    assert set(declaring(protocol)) == DECLARED[protocol]


def test_flow_models_have_flows():
    assert {*SPLINES, *SCALING, *GAUSSIAN, "tucker-flow", "nfe-3 scale=softplus"} <= {
        *declaring(EntityFlow)
    }
    assert set(declaring(RelationFlow)) <= set(declaring(EntityFlow))
    assert not {"tucker-flow", "nfe-3 scale=softplus", "kg2e"} & {*declaring(RelationFlow)}


def triples(model):
    h, r, t = torch.arange(E), torch.arange(R), torch.arange(E).flip(0)
    return (h, r, t), (model.entity(h), model.relation(r), model.entity(t))


@pytest.mark.parametrize("key", sorted(DECLARED[InvertibleRelations]))
def test_inverse_relations_exchange_head_and_tail(key):
    model = random_model(key)
    ids, (h, r, t) = triples(model)
    query, keys = model.encode_query(t, model.inverse_relation(r)), model.encode_keys(h)
    close(model.pairwise(query.Q, keys.K) + query.a + keys.b, model.score(*ids), 1e-10)


@pytest.mark.parametrize("key", sorted(DECLARED[InverseQueries]))
def test_inverse_queries_score_heads(key):
    model = random_model(key)
    ids, (h, r, t) = triples(model)
    query, keys = model.encode_inverse_query(t, r), model.encode_keys(h)
    K = torch.cat([keys.K, model.extra_keys(h)], dim=1)
    close(model.pairwise(query.Q, K) + query.a + keys.b, model.score(*ids), 1e-10)


@pytest.mark.parametrize("key", sorted(DECLARED[RelationScores]))
def test_scores_of_all_relations_are_the_scores(key):
    model = random_model(key)
    (h, _, t), (head, _, tail) = triples(model)
    found = model.score_relations(head, tail, model.relation.weight)
    expected = torch.stack([model.score(h, torch.full_like(h, r), t) for r in range(R)], dim=1)
    close(found, expected, 1e-10)


@pytest.mark.parametrize("key", ALL_MODELS)
def test_declared_squared_distances_are_squared_distances(key):
    model = random_model(key)
    keys = model.encode_keys(model.entity.weight)
    squared = torch.allclose(keys.b, -keys.K.square().sum(-1), rtol=1e-8)
    assert model.is_squared_distance == (squared and model.interaction is None)


@pytest.mark.parametrize("key", ALL_MODELS)
def test_cards_declare_the_interaction(key):
    assert variant(*VARIANTS[key]).card.pairwise == (random_model(key).interaction is not None)
