"""Declared capabilities of every variant of every model hold on random embeddings."""

import pytest
import torch

from graphs import ALL_MODELS, VARIANTS, build
from kgflow.models import variant
from kgflow.models.protocols import (
    ComposableRelations,
    EntityFlow,
    InverseQueries,
    InvertibleRelations,
    RelationFlow,
    RelationScores,
)
from kgflow.models.quaternion import hamilton
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

POINTS = {"rotate", "rotate norm=squared-l2", *TRANSE, *TORUS, "nfe-1-mu"}
COMPOSED = {
    **dict.fromkeys(POINTS, lambda r, s: r + s),
    **dict.fromkeys(("distmult", "nfe-1-sigma"), lambda r, s: r * s),
    **dict.fromkeys(("nfe-1", "nfe-point", *SPLINES), lambda r, s: affine(r, s, torch.mul)),
    **dict.fromkeys(("complex", "complex-flow"), lambda r, s: complex_product(r, s)),
    "nfe-3": lambda r, s: affine(r, s, torch.mul),
    "nfe-1-complex": lambda r, s: affine_last(r, s, complex_product),
    "nfe-1-quaternion": lambda r, s: affine_last(r, s, quaternion_product),
    "quate": lambda r, s: quaternion_product(r, s),
    "rescal": lambda r, s: (square(r) @ square(s)).flatten(-2),
}
"""The embedding of a relation that is r, then s."""

DECLARED = {
    ComposableRelations: {*COMPOSED, "dihedral", *ROTATIONS},
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


def complex_product(r, s):
    (a, b), (c, d) = r.chunk(2, -1), s.chunk(2, -1)
    return torch.cat([a * c - b * d, a * d + b * c], -1)


def quaternion_product(r, s):
    return hamilton(r.unflatten(-1, (4, -1)), s.unflatten(-1, (4, -1))).flatten(-2)


def square(r):
    return r.unflatten(-1, (DIM, DIM))


def affine(r, s, product):
    """Of x ↦ σx + μ with μ first."""
    (mu, sigma), (nu, tau) = r.chunk(2, -1), s.chunk(2, -1)
    return torch.cat([product(mu, tau) + nu, product(sigma, tau)], -1)


def affine_last(r, s, product):
    """Of x ↦ σx + μ with σ first."""
    (sigma, mu), (tau, nu) = r.chunk(2, -1), s.chunk(2, -1)
    return torch.cat([product(sigma, tau), product(mu, tau) + nu], -1)


@pytest.mark.parametrize("key", sorted(COMPOSED))
def test_a_path_is_one_relation(key):
    """The scores of r, then s, are those of the relation that is both."""
    model = random_model(key)
    _, (h, r, t) = triples(model)
    if key == "nfe-3":
        r = r + 5 * (r.detach() > 0)  # away from the bound of scales
    s = r.flip(0)
    path = model.encode_path(h, [r, s])
    one = model.encode_query(h, COMPOSED[key](r, s))
    K, b = model.encode_keys(t)
    close(model.pairwise(path.Q, K) + path.a + b, model.pairwise(one.Q, K) + one.a + b, 1e-9)


@pytest.mark.parametrize("key", sorted(DECLARED[ComposableRelations]))
def test_paths_of_one_relation_are_queries_and_inverses_cancel(key):
    model = random_model(key)
    _, (h, r, _) = triples(model)
    close(model.encode_path(h, [r]).Q, model.encode_query(h, r).Q, 1e-12)
    if key in ROTATIONS | {"dihedral"}:
        back = model.encode_path(h, [r, r.flip(0), model.inverse_relation(r.flip(0))])
        close(back.Q, model.encode_query(h, r).Q, 1e-9)


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
