"""KG2E and BoxE against PyKEEN, on the same weights."""

import math
import warnings

import numpy as np
import pytest
import torch

from graphs import build
from kgflow.models.gaussian import variance
from laws import close

E, R, DIM = 7, 3, 4
IDS = torch.cartesian_prod(torch.arange(E), torch.arange(R), torch.arange(E))


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def peer(name: str, **options):
    """A PyKEEN model of 7 entities and 3 relations, in double precision."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pykeen.models import model_resolver
        from pykeen.triples import CoreTriplesFactory

        graph = np.array([[i % E, i % R, (i + 1) % E] for i in range(E)])
        factory = CoreTriplesFactory(torch.from_numpy(graph), E, R)
        model = model_resolver.make(
            name, triples_factory=factory, embedding_dim=DIM, random_seed=0, **options
        )
        return model.double().eval()


def copy(rows, representations) -> None:
    for values, representation in zip(rows, representations, strict=True):
        weight = representation._embeddings.weight
        weight.data = values.detach().clone().view_as(weight)


def scores_of(model) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.score_hrt(IDS)[:, 0]


def made(name: str):
    model = build(name, E, R, DIM).double()
    for table in (model.entity, model.relation):
        table.weight.data.normal_()
    return model


@pytest.mark.parametrize("kind", ["kl", "el"])
def test_kg2e(kind):
    model = made({"kl": "kg2e", "el": "kg2e divergence=el"}[kind])
    other = peer("kg2e", dist_similarity=kind)
    for table, theirs in (
        (model.entity, other.entity_representations),
        (model.relation, other.relation_representations),
    ):
        mu, spread = table.split(table.weight)
        copy((mu, variance(spread)), theirs)
    found = scores_of(other)
    if kind == "el":
        # PyKEEN's is twice the negative log likelihood, and its constant counts rows of the batch
        # in place of dimensions.
        found = -0.5 * (found + (DIM - found.shape[-1]) * math.log(2 * math.pi))
    close(model.score(*IDS.T), found, 1e-10)


def test_boxe():
    model = made("boxe")
    other = peer("boxe", tanh_map=False, p=2)
    copy(model.entity.split(model.entity.weight), other.entity_representations)
    theirs = []
    for centre, size in zip(*[iter(model.relation.split(model.relation.weight))] * 2, strict=True):
        # PyKEEN's size is a shape of geometric mean 1 times elu(scale) + 1.
        mean = size.abs().log().mean(-1, keepdim=True).exp()
        theirs += [centre, size, torch.where(mean > 1, mean - 1, mean.log())]
    copy(theirs, other.relation_representations)
    close(model.score(*IDS.T), scores_of(other), 1e-6)
