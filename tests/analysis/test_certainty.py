"""Tables of certainty, densities and profiles of a run."""

import math

import numpy as np
import polars as pl
import pytest
import torch
from scipy import stats

import kgflow
from graphs import random_graph
from kgflow.analysis import (
    associations,
    entity_uncertainty,
    marginal_density,
    mean_density,
    profile,
    relation_uncertainty,
    triple_uncertainty,
    type_uncertainty,
)
from kgflow.analysis.plots import (
    density_plot,
    entropy_against_degree,
    mean_density_plot,
    new_figure,
)
from kgflow.errors import KgflowError


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("certainty") / "run"
    return kgflow.train("world", "nfe-2", dim=6, epochs=1, lr=0.05, out=out)


def test_relations_with_their_inverses_and_counts(run):
    table = relation_uncertainty(run)
    _, sigma = run.model.relation.split(run.model.relation.weight.detach())
    by_hand = sigma.abs().log().sum(1).numpy()
    R = len(run.data.relations)
    assert len(table) == R
    assert table["entropy_change"].is_sorted()
    for row in table.to_dicts():
        r = run.data.relations.id(row["relation"])
        assert row["entropy_change"] == pytest.approx(by_hand[r], rel=1e-5)
        assert row["inverse"] == pytest.approx(by_hand[r + R], rel=1e-5)
        assert row["per_coordinate"] == pytest.approx(row["entropy_change"] / 6)
        assert row["facts"] == (run.data.train.r == r).sum()


def test_triples_add_up_and_agree_with_the_tables(run):
    triples = [("France", "has_capital", "Paris"), ("Peru", "borders", "Chile")]
    table = triple_uncertainty(run, triples)
    entity = dict(entity_uncertainty(run).select("name", "entropy_change").iter_rows())
    relation = dict(relation_uncertainty(run).select("relation", "entropy_change").iter_rows())
    for (h, r, t), row in zip(triples, table.to_dicts(), strict=True):
        assert row["head_change"] == pytest.approx(entity[h], rel=1e-5)
        assert row["relation_change"] == pytest.approx(relation[r], rel=1e-4)
        assert row["tail_change"] == pytest.approx(entity[t], rel=1e-5)
        total = row["head_change"] + row["relation_change"]
        assert row["composed_change"] == pytest.approx(total, rel=1e-6)
    assert triple_uncertainty(run, []).height == 0
    with pytest.raises(KgflowError, match="triples"):
        triple_uncertainty(run, [("France", "borders")])


def test_associations_are_scipys(run):
    table = {(r["kind"], r["variable"]): r for r in associations(run).to_dicts()}
    entities = entity_uncertainty(run)
    expected = stats.spearmanr(entities["entropy_change"], entities["degree"])
    assert table["entity", "degree"]["effect_size"] == pytest.approx(expected.statistic)
    assert table["entity", "degree"]["p_value"] == pytest.approx(expected.pvalue)
    groups = [g["entropy_change"].to_list() for g in entities.partition_by("type")]
    expected = stats.kruskal(*groups)
    assert table["entity", "type"]["p_value"] == pytest.approx(expected.pvalue)
    assert 0 <= table["entity", "type"]["effect_size"] <= 1
    assert {"facts", "tails_per_head", "heads_per_tail"} < {variable for _, variable in table}
    types = type_uncertainty(run)
    assert types["entities"].sum() == len(entities)
    cities = entities.filter(pl.col("type") == "city")["entropy_change"]
    assert types.filter(pl.col("type") == "city")["median"][0] == pytest.approx(cities.median())


def test_constant_entropies_have_no_associations(tmp_path):
    """Translations alone change no entropy; a graph without types has none to compare."""
    run = kgflow.train(random_graph(), "nfe-1-mu", dim=2, epochs=1, out=tmp_path / "run")
    assert entity_uncertainty(run)["entropy_change"].to_list() == [0.0] * 17
    assert associations(run)["effect_size"].to_list() == [None] * 5
    assert not len(type_uncertainty(run))
    assert profile(run, "e0").entities_of_type == profile(run, "e0").rank_in_type == 0


def test_densities_are_densities(run):
    for found in (marginal_density(run, ["France", "Peru"], 3), mean_density(run, ["France"])):
        for _, curve in found.group_by("entity"):
            area = np.trapezoid(curve["density"], curve["x"])
            assert area == pytest.approx(1, abs=0.03)
    assert marginal_density(run, ["France"], 3)["coordinate"].unique().to_list() == [3]
    flow = run.model.flow(run.model.entity.weight.detach()[[run.data.entity_id("France")]])
    curve = marginal_density(run, ["France"], 3)
    x = torch.tensor(curve["x"].to_list())
    expected = flow.marginals.log_prob(x[:, None, None])[:, 0, 2].exp().numpy()
    inside = np.abs(curve["x"].to_numpy() - float(flow.quantile(torch.tensor(0.5))[0, 2])) > 1e-6
    assert curve["density"].to_numpy()[inside] == pytest.approx(expected[inside], rel=1e-3)
    for coordinate in (0, 7):
        with pytest.raises(KgflowError, match="give 1 to 6"):
            marginal_density(run, ["France"], coordinate)


def test_a_profile(run):
    found = profile(run, "France", k=4)
    table = entity_uncertainty(run)
    place = table["name"].to_list().index("France")
    assert found.rank == place + 1
    assert found.certainty == table["certainty"][place]
    countries = table.filter(pl.col("type") == "country")["name"].to_list()
    assert found.rank_in_type == countries.index("France") + 1
    assert found.entities_of_type == len(countries)
    assert len(found.nearest) == len(found.quantiles) == len(found.relations) == 4
    assert "France" not in found.nearest
    assert all(low <= middle <= high for low, middle, high in found.quantiles.values())
    assert found.relations["borders"] == sum(
        run.data.train.r[run.data.train.h == run.data.entity_id("France")]
        == run.data.relations.id("borders")
    )


def test_points_are_most_certain_and_have_no_density(tmp_path):
    run = kgflow.train(random_graph(), "nfe-k", dim=3, epochs=1, out=tmp_path / "run")
    _, sigma = run.model.entity.split(run.model.entity.weight.data)
    sigma[5, 1::3] = 0
    table = entity_uncertainty(run)
    assert table["name"][0] == "e5"
    assert table["certainty"].is_sorted(descending=True)
    assert table["certainty"].mean() == pytest.approx(50)
    assert table["entropy_change"][0] == -math.inf
    assert associations(run)["effect_size"][0] is not None
    with pytest.raises(KgflowError, match="point in coordinate 2"):
        marginal_density(run, ["e5", "e1"], 2)
    assert marginal_density(run, ["e5", "e1"])["coordinate"][0] != 2
    with pytest.raises(KgflowError, match="point in some coordinate"):
        mean_density(run, ["e5"])
    with new_figure() as figure:
        entropy_against_degree(figure.subplots(), run)


def test_gaussians_have_uncertain_entities_and_no_relations(tmp_path):
    run = kgflow.train(random_graph(), "kg2e", dim=3, epochs=1, out=tmp_path / "run")
    assert entity_uncertainty(run)["entropy_change"].is_finite().all()
    with pytest.raises(KgflowError, match="no entropies of relations"):
        relation_uncertainty(run)
    (row,) = triple_uncertainty(run, [("e0", "r0", "e1")]).to_dicts()
    assert row["relation_change"] is row["composed_change"] is None
    assert set(associations(run)["kind"]) == {"entity"}
    assert profile(run, "e0").nearest == []


def test_plots_have_labels(run):
    with new_figure() as figure:
        left, middle, right = figure.subplots(1, 3)
        density_plot(left, run, ["France", "Peru"], 2)
        mean_density_plot(middle, run, ["France", "Peru"])
        entropy_against_degree(right, run)
        assert left.get_xlabel() == "coordinate 2 of 6"
        for axes in (left, middle):
            assert [t.get_text() for t in axes.get_legend().get_texts()] == ["France", "Peru"]
        assert right.get_xscale() == "log"
        assert "nats" in right.get_ylabel()
