"""Presets: which recipe a graph gets, and what overrides it."""

import tomllib

import pytest

import kgflow
from graphs import random_graph
from kgflow.config import PRESETS, expand
from kgflow.errors import KgflowError
from kgflow.runs.build import complete
from kgflow.runs.presets import GraphStatistics, candidates, ranking
from kgflow.runs.recipes import RECIPES, SCALES

# name: entities, relations, facts, queries, and the recipe that was best on validation
GRAPHS = {
    "nations": (14, 55, 1_592, 909, "filled"),
    "umls": (135, 46, 5_216, 1_560, "small-dense"),
    "world": (1_281, 10, 2_974, 3_500, "small-sparse"),
    "countries-s2": (271, 2, 1_063, 620, "small-sparse"),
    "codex-s": (2_034, 42, 32_888, 11_873, "small-dense"),
    "packages": (2_933, 32, 18_951, 14_090, "small"),
    "half of packages": (2_933, 32, 9_475, 8_239, "small"),
    "wn18rr": (40_943, 11, 86_835, 103_509, "sparse"),
    "fb15k-237": (14_541, 237, 272_115, 149_513, "dense"),
    "humanbio": (349_709, 36, 1_204_965, 725_882, "dense"),
    "one fact": (2, 1, 1, 2, "filled"),
    "huge": (5_000_000, 800, 60_000_000, 30_000_000, "dense"),
}


@pytest.mark.parametrize(("name", "sizes"), GRAPHS.items(), ids=GRAPHS)
def test_a_graph_gets_its_recipe_in_every_size(name, sizes):
    *numbers, recipe = sizes
    graph = GraphStatistics(*numbers)
    assert ranking(graph)[0] == recipe
    dims = []
    for preset in PRESETS:
        for found in ranking(graph, preset):
            settings = RECIPES[found].at(graph.size, preset)
            experiment = complete(expand({"data": name, **settings}), name)
            assert experiment.training.epochs >= experiment.training.validate_every
        dims.append(RECIPES[recipe].at(graph.size, preset)["model.dim"])
    assert dims[1] < dims[0] < dims[2]


def test_statistics_count_facts_queries_and_categories():
    data = random_graph(entities=17, relations=3, facts=200)
    found = GraphStatistics.of(data)
    facts = data.train.array().tolist()
    queries = {(h, r) for h, r, _ in facts} | {(t, -1 - r) for _, r, t in facts}
    assert (found.facts, found.queries, found.valid) == (len(facts), len(queries), 8)
    assert found.many_to_many == 1  # every relation has many tails and heads
    assert not found.confidences
    assert GraphStatistics.of(random_graph(weighted=True)).confidences
    assert found.filled == pytest.approx(2 * len(facts) / len(queries) / 17)


def test_single_settings_override_a_preset_and_a_model_replaces_it():
    data, base = random_graph(facts=200), {"data": "random"}

    def chosen(values, preset=None):
        return candidates(expand(base | values), preset, data, "here")[0]

    auto = chosen({})
    assert auto.preset == "auto/filled"
    one = chosen({"training.epochs": 7, "training.optimizer.lr": 0.5})
    assert (one.experiment.training.epochs, one.experiment.training.optimizer.lr) == (7, 0.5)
    assert one.experiment.training.batch_size == auto.experiment.training.batch_size
    assert chosen({"model.dim": 4}).preset == ""
    other = chosen({"model.name": "distmult"}, "auto")
    assert (other.experiment.model.name, other.preset) == ("distmult", "auto/filled")
    with pytest.raises(KgflowError, match="unknown preset 'atuo'; did you mean auto"):
        chosen({}, "atuo")


def test_scales_are_those_of_the_presets():
    assert set(SCALES) == set(PRESETS)


def test_a_run_records_its_preset_and_all_settings(tmp_path):
    data = random_graph(facts=200)
    run = kgflow.train(data, epochs=2, settings={"seed": 3}, out=tmp_path / "run")
    found = tomllib.loads((tmp_path / "run" / "config.toml").read_text())
    assert found["run"]["preset"] == "auto/filled"
    assert found["training"]["epochs"] == 2
    assert found["model"]["name"] == run.config.model.name == "nfe-1"
    plain = kgflow.train(random_graph(), "distmult", 4, epochs=1, out=tmp_path / "plain")
    assert plain.config.run.preset == ""


def test_confidences_are_used():
    data = random_graph(weighted=True)
    ((_, experiment, _),) = candidates({"data": "random"}, None, data, "here")
    assert experiment.training.loss.confidence == "weight"
