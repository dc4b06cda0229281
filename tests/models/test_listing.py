"""The models as a table: what a row says is what the model is."""

from functools import reduce
from pathlib import Path

import pytest

from graphs import ALL_MODELS, VARIANTS, build
from kgflow.config import entries
from kgflow.errors import KgflowError
from kgflow.models import MODELS, variant
from kgflow.models.listing import label, listing, markdown
from kgflow.runs.build import complete

every = pytest.mark.parametrize("name", ALL_MODELS)
PAGE = Path(__file__).parents[2] / "docs" / "models.md"


@every
def test_a_row_counts_the_numbers_that_there_are(name):
    row = variant(*VARIANTS[name]).card
    for n in (12, 24):
        model = build(name, 5, 4, n)
        for part, table in (("entity", model.entity), ("relation", model.relation)):
            assert eval(getattr(row, part), {"n": n}) == table.weight.shape[1]


@every
def test_settings_are_settings(name):
    model, options = VARIANTS[name]
    settings = dict(variant(model, options).settings)
    assert settings.keys() <= {entry.key for entry in entries()}
    dim = settings.get("model.dim", 12)
    assert build(name, 5, 4, int(dim)).dim == dim
    chosen = complete({"data": "umls", "model": {"name": model, **options}}, "here")
    assert {key: reduce(getattr, key.split("."), chosen) for key in settings} == settings
    assert complete({"data": "umls", "model": {"name": model, "dim": 24}}, "here").model.dim == 24


@every
def test_a_dimension_that_does_not_fit_gets_one_sentence(name):
    multiple = MODELS[VARIANTS[name][0]].dim_multiple
    if multiple == 1:
        return
    with pytest.raises(KgflowError) as raised:
        build(name, 5, 4, 10 * multiple + 1)
    sentence = (
        f"dimension {10 * multiple + 1} does not fit {VARIANTS[name][0]}, which needs a multiple of"
    )
    assert str(raised.value).startswith(sentence)
    assert str(raised.value).endswith(f"take {10 * multiple} or {11 * multiple}")


def test_the_listing_has_every_model():
    found = {label(m["name"], m["variant"]): m for m in listing()}
    assert found.keys() == VARIANTS.keys()
    assert found["nfe-1"]["form"] == "product"
    assert found["transe norm=l1"]["form"] == "pairwise"
    assert [option["name"] for option in found["nfe-k"]["options"]][-2:] == ["pieces", "degree"]
    assert found["conve"]["x0"] == "–"


def test_the_documentation_shows_this_table():
    """After a change: kgflow models --markdown."""
    assert markdown() in PAGE.read_text(encoding="utf-8")
