"""Models by name, and what bad names and options get: one sentence."""

import pytest
import torch

from kgflow.errors import KgflowError
from kgflow.flows import VARIABLES, Normal, Scaled, Uniform
from kgflow.models import MODELS, build, model_class, options


@pytest.mark.parametrize("name", MODELS)
def test_a_name_builds_its_model(name):
    model = build(name, entities=5, relations=4, dim=12)
    assert type(model) is MODELS[name] is model_class(name)
    assert (len(model.entity), len(model.relation), model.dim) == (5, 4, 12)
    assert list(model.entity.parts) == list(model.entity_parts)
    ids = torch.tensor([0, 1])
    assert model.score(ids, ids, ids).shape == (2,)
    assert model.score(ids, ids, ids).dtype == torch.float32


OWN_START = {
    "nfe-3", "rotate", "rotate-squared", "nage-so3", "nage-so3-squared",
    "nage-su2", "nage-su2-squared", "toruse-l1", "toruse-l2", "toruse-el2", "mobiuse", "roth",
    "atth",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(OWN_START))
def test_a_start_of_its_own_is_not_shrunk(name):
    with pytest.raises(KgflowError, match=f"{name} begins its rows in a way of its own"):
        build(name, 5, 4, 12, start=0.01)


SHRUNK = [(name, {}) for name in sorted(MODELS.keys() - OWN_START)]


@pytest.mark.parametrize(
    ("name", "further"),
    [*SHRUNK, ("complex", {"bias": True}), ("complex", {"inverse_relations": False})],
)
def test_start_multiplies_the_first_numbers_of_all_rows(name, further):
    def rows(start):
        torch.manual_seed(0)
        model = build(name, 5, 4, 12, start=start, **further)
        return model.entity.weight, model.relation.weight

    for small, usual in zip(rows(0.01), rows(1.0), strict=True):
        torch.testing.assert_close(small, 0.01 * usual, rtol=1e-6, atol=0)


def test_options_reach_the_model():
    model = build("nfe-1", 5, 4, 8, {"x0": "uniform", "uncertainty": "0.25"})
    assert model.x0 == Scaled(Uniform(), 0.5)
    assert build("nfe-2", 5, 4, 8).x0 == Normal()
    assert build("nfe-3", 5, 4, 8, {"floor": 0.2}).floor == 0.2
    assert list(options("transe")) == []
    assert list(options("nfe-2-paper")) == ["x0", "uncertainty"]
    assert list(options("nfe-k")) == ["x0", "uncertainty", "pieces"]
    assert build("nfe-k", 5, 4, 8, {"pieces": "6"}).entity.weight.shape == (5, 7 * 8)
    for name, x0 in VARIABLES.items():
        assert build("nfe-2", 5, 4, 8, {"x0": name}).x0 == x0


@pytest.mark.parametrize(
    ("name", "dim", "chosen", "sentence"),
    [
        ("nfe-1", 0, {}, "dimension 0 is too small"),
        ("nfe-1", -3, {}, "dimension -3 is too small"),
        ("nfe1", 8, {}, "unknown model 'nfe1'; did you mean nfe-1"),
        ("zzz", 8, {}, "unknown model 'zzz'; known are "),
        ("nfe-1", 8, {"x00": "normal"}, "no option 'x00'; did you mean x0"),
        ("transe", 8, {"uncertainty": 1}, "no option 'uncertainty'; it takes none"),
        ("nfe-1", 8, {"x0": "cauchy"}, "unknown x0 'cauchy'; known are normal, uniform, "),
        ("nfe-1", 8, {"x0": "norml"}, "unknown x0 'norml'; did you mean normal"),
        ("nfe-k", 8, {"pieces": 0}, "1 piece or more: 0 is not"),
        ("nfe-k-cubic", 8, {"pieces": "many"}, "wants int, not 'many'"),
        ("nfe-1", 8, {"uncertainty": -1}, "uncertainty is 1/k², 0 or more: -1.0 is not"),
        ("nfe-2", 8, {"uncertainty": float("nan")}, "nan is not"),
        ("nfe-2", 8, {"uncertainty": float("inf")}, "inf is not"),
        ("nfe-1", 8, {"uncertainty": "much"}, "wants float, not 'much'"),
        ("nfe-3", 8, {"floor": 0}, "above 0: 0.0 is not"),
    ],
)
def test_bad_input_gets_one_sentence(name, dim, chosen, sentence):
    with pytest.raises(KgflowError) as raised:
        build(name, entities=5, relations=4, dim=dim, chosen=chosen)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)
