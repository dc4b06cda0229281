"""Models by name, and what bad names and options get: one sentence."""

import pytest
import torch

from graphs import ALL_MODELS, VARIANTS
from kgflow.errors import KgflowError
from kgflow.flows import VARIABLES, Normal, Scaled, Uniform
from kgflow.models import MODELS, build, model_class, variant
from kgflow.models.nfe3 import NFE3, NFE3Softplus


@pytest.mark.parametrize("key", ALL_MODELS)
def test_a_name_builds_its_model(key):
    name, options = VARIANTS[key]
    model = build(name, entities=5, relations=4, dim=12, options=options)
    assert type(model) is (variant(name, options).model or MODELS[name])
    assert model_class(name) is MODELS[name]
    assert options.items() <= model.options.model_dump().items()
    assert (len(model.entity), len(model.relation), model.dim) == (5, 4, 12)
    assert list(model.entity.parts) == list(model.entity_parts)
    ids = torch.tensor([0, 1])
    assert model.score(ids, ids, ids).shape == (2,)
    assert model.score(ids, ids, ids).dtype == torch.float32


def test_options_reach_the_model():
    model = build("nfe-1", 5, 4, 8, {"x0": "uniform", "uncertainty": "0.25"})
    assert model.x0 == Scaled(Uniform(), 0.5)
    assert build("nfe-2", 5, 4, 8).x0 == Normal()
    assert type(build("nfe-3", 5, 4, 8, {"scale": "softplus"})) is NFE3Softplus
    assert build("nfe-k", 5, 4, 8, {"pieces": "6"}).entity.weight.shape == (5, 7 * 8)
    for name, x0 in VARIABLES.items():
        assert build("nfe-2", 5, 4, 8, {"x0": name}).x0 == x0


@pytest.mark.parametrize(
    ("name", "dim", "chosen", "sentence"),
    [
        ("nfe-1", 0, {}, "dimension 0 is too small"),
        ("nfe-1", -3, {}, "dimension -3 is too small"),
        ("nfe1", 8, {}, "unknown model 'nfe1'; did you mean nfe-1"),
        ("zzz", 8, {}, "unknown model 'zzz'; known models: "),
        ("nfe-1", 8, {"x00": "normal"}, "unknown key 'model.x00'; did you mean x0"),
        ("boxe", 8, {"uncertainty": 1}, "unknown key 'model.uncertainty'; boxe knows"),
        (
            "transe",
            8,
            {"norm": "squared"},
            "norm' is 'squared'; did you mean squared-l2?",
        ),
        ("transe", 8, {"norm": "max"}, "is 'max'; allowed values: squared-l2, l1, l2"),
        ("nfe-k", 8, {"degree": 4}, "'model.degree' is 4: input should be less"),
        ("nfe-1", 8, {"x0": "cauchy"}, "unknown x0 'cauchy'; allowed values: normal, uniform, "),
        ("nfe-1", 8, {"x0": "norml"}, "unknown x0 'norml'; did you mean normal"),
        ("nfe-k", 8, {"pieces": 0}, "'model.pieces' is 0: input should be greater"),
        ("nfe-k", 8, {"pieces": "many"}, "is 'many': input should be a valid integer"),
        ("nfe-1", 8, {"uncertainty": -1}, "'model.uncertainty' is -1: input should be"),
        ("nfe-2", 8, {"uncertainty": float("nan")}, "is nan: input should be a finite number"),
        ("nfe-2", 8, {"uncertainty": float("inf")}, "is inf: input should be a finite number"),
        ("nfe-1", 8, {"uncertainty": "much"}, "is 'much': input should be a valid number"),
    ],
)
def test_bad_input_gets_one_sentence(name, dim, chosen, sentence):
    with pytest.raises(KgflowError) as raised:
        build(name, entities=5, relations=4, dim=dim, options=chosen)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_class_of_absolute_scales_refuses_softplus():
    with pytest.raises(KgflowError, match="use NFE3Softplus"):
        NFE3(5, 4, 8, scale="softplus")
