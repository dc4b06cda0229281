"""Models of points against PyKEEN's: the same numbers in both tables, the same scores."""

import warnings

import pytest
import torch

from graphs import build
from laws import close

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pykeen import models as peers
    from pykeen.nn.modules import RotatEInteraction
    from pykeen.triples import CoreTriplesFactory

E, R, DIM = 5, 3, 8
IDS = torch.cartesian_prod(torch.arange(E), torch.arange(R), torch.arange(E))


def same(x):
    return x


def numbers(count):
    """From all first parts, then all second parts, and so on, to one number after the other."""
    return lambda rows: rows.unflatten(-1, (count, -1)).mT


def on_circle(phase):
    return torch.stack([phase.cos(), phase.sin()], dim=-1)


# Theirs with its arguments; how rows of our entities and relations are written there; and how a
# score of theirs becomes ours.
PEERS = {
    # PyKEEN's TransE and DistMult hold entities to length 1.
    "transe": (
        ("TransE", {"embedding_dim": DIM, "scoring_fct_norm": 2, "entity_constrainer": None}),
        (same, same),
        lambda score: -score.square(),
    ),
    "transe norm=l1": (
        ("TransE", {"embedding_dim": DIM, "scoring_fct_norm": 1, "entity_constrainer": None}),
        (same, same),
        same,
    ),
    "transe norm=l2": (
        ("TransE", {"embedding_dim": DIM, "scoring_fct_norm": 2, "entity_constrainer": None}),
        (same, same),
        same,
    ),
    "distmult": (
        ("DistMult", {"embedding_dim": DIM, "entity_constrainer": None}),
        (same, same),
        same,
    ),
    "complex": (("ComplEx", {"embedding_dim": DIM // 2}), (numbers(2), numbers(2)), same),
    # PyKEEN's RotatE is the root of the sum of squares.
    "rotate norm=squared-l2": (
        ("RotatE", {"embedding_dim": DIM // 2}),
        (numbers(2), on_circle),
        lambda score: -score.square(),
    ),
    # PyKEEN turns QuatE's sign.
    "quate": (
        ("QuatE", {"embedding_dim": DIM // 4}),
        (numbers(4), numbers(4)),
        lambda score: -score,
    ),
    "rescal": (("RESCAL", {"embedding_dim": DIM}), (same, same), same),
    # TorusE's paper doubles the distances of the torus, so that opposite points are 1 apart.
    "toruse": (
        ("TorusE", {"embedding_dim": DIM, "p": 1}),
        (same, same),
        lambda score: 2 * score,
    ),
    "toruse norm=l2": (
        ("TorusE", {"embedding_dim": DIM, "p": 2}),
        (same, same),
        lambda score: -((2 * score) ** 2),
    ),
}


def peer(name, arguments):
    factory = CoreTriplesFactory.create(IDS[:3].clone(), E, R)
    return getattr(peers, name)(triples_factory=factory, random_seed=0, **arguments).double().eval()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PEERS)
@torch.no_grad()
def test_scores_are_those_of_pykeen(name):
    (theirs, arguments), layouts, ours = PEERS[name]
    other, model = peer(theirs, arguments), build(name, E, R, DIM).double()
    representations = other.entity_representations, other.relation_representations
    tables = zip((model.entity, model.relation), representations, layouts, strict=True)
    for table, (representation,), layout in tables:
        table.weight.normal_()
        weight = representation._embeddings.weight
        weight.copy_(layout(table.weight).reshape(weight.shape))
    scores = model.score(*IDS.T)
    close(scores, ours(other.score_hrt(IDS).flatten()), 1e-9)
    close(scores, ours(other.score_t(IDS[::E, :2]).flatten()), 1e-9)


@torch.no_grad()
def test_the_sum_of_moduli_is_the_sum_of_pykeens_of_one_number():
    """PyKEEN's RotatE is the root of the sum of squares, which of one number is its modulus."""
    model = build("rotate", E, R, DIM).double()
    model.entity.weight.normal_()
    entity = torch.view_as_complex(numbers(2)(model.entity.weight).contiguous())
    turn = torch.view_as_complex(on_circle(model.relation.weight))
    h, r, t = IDS.T
    columns = zip(entity[h].T, turn[r].T, entity[t].T, strict=True)
    expected = sum(RotatEInteraction()(*(x[:, None] for x in column)) for column in columns)
    close(model.score(h, r, t), expected, 1e-12)
