"""All relations of a pair at once are all of them one by one."""

import pytest
import torch

from kgflow.models import MODELS, build
from laws import close

E, R, DIM = 5, 4, 12


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_between_is_the_score(name, bias):
    if bias and name in ("conve", "hyper"):
        pytest.skip("has a bias of its own")
    torch.manual_seed(0)
    model = build(name, E, R, DIM, bias=bias).double().eval()
    for table in (model.entity, model.relation):
        torch.nn.init.normal_(table.weight)
    h, t = torch.arange(E), torch.arange(E).flip(0)
    found = model.score_relations(model.entity(h), model.entity(t), model.relation.weight)
    expected = torch.stack([model.score(h, torch.full_like(h, r), t) for r in range(R)], dim=1)
    if found is not None:
        close(found, expected, 1e-10)


def test_who_knows_it():
    def knows(name):
        model = build(name, E, R, DIM)
        rows = model.entity.weight
        return model.score_relations(rows, rows, model.relation.weight) is not None

    found = {name for name in MODELS if knows(name)}
    nfe = {"nfe-1", "nfe-1-complex", "nfe-1-mu", "nfe-1-sigma", "nfe-point"}
    assert found == nfe | {"transe", "distmult", "complex", "complex-flow"}
