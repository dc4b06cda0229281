"""The Python API: what the README's five lines do."""

import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

import kgflow
from graphs import random_graph
from kgflow.analysis import entity_uncertainty, overview
from kgflow.data import Triples
from kgflow.errors import KgflowError
from kgflow.uncertainty import NONCONFORMITY


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return kgflow.train("world", dim=16, epochs=2, out=tmp_path_factory.mktemp("runs") / "world")


def test_opened_equals_trained(run):
    again = kgflow.open(run.directory)
    for a, b in zip(run.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(a, b)
    assert again.data.digest() == run.data.digest()
    assert again.data.types == run.data.types


def test_score_is_the_models_and_predictions(run):
    answers = run.predict(head="France", relation="borders", k=3)
    triples = list(answers.select("head", "relation", "tail").iter_rows())
    scored = run.score(triples)
    assert scored["score"].to_list() == pytest.approx(answers["score"].to_list(), abs=1e-4)
    ids = [torch.from_numpy(run.data.entities.ids([t[i] for t in triples])) for i in (0, 2)]
    r = torch.full((3,), run.data.relations.id("borders"))
    torch.testing.assert_close(
        run.model.score(ids[0], r, ids[1]).double(),
        torch.tensor(scored["score"].to_list(), dtype=torch.float64),
    )
    for name in ("probability", "conditional_probability"):
        assert scored[name].to_list() == pytest.approx(answers[name].to_list(), rel=1e-4)


def test_a_triple_has_one_probability_wherever_it_is_shown(run):
    found = run.discover(k=20)
    triples = list(found.select("head", "relation", "tail").iter_rows())
    assert run.score(triples)["probability"].to_list() == pytest.approx(
        found["probability"].to_list(), rel=1e-4
    )
    for p, (head, relation, tail) in zip(found["probability"], triples, strict=True):
        for asked in ((head, relation, None), (None, relation, tail), (head, None, tail)):
            rows = run.predict(*asked, k=2000).rows(named=True)
            (row,) = [
                r for r in rows if (r["head"], r["relation"], r["tail"]) == (head, relation, tail)
            ]
            assert (row["known"], row["probability"]) == (False, pytest.approx(p, rel=1e-4))


def test_known_facts_have_no_probability_and_doubtful_ones_a_note(run):
    answers = run.predict(head="France", relation="in_subregion", k=2000)
    known = answers.filter("known")
    assert known["tail"].to_list() == ["Western Europe"]
    assert known["probability"].to_list() == known["note"].to_list() == [None]
    assert answers.filter(~answers["known"])["probability"].max() < 0.05  # one is enough


def test_without_a_calibration_probabilities_are_the_losss(run, tmp_path):
    copy = shutil.copytree(run.directory, tmp_path / "run")
    (copy / "calibration.json").unlink()
    scored = kgflow.open(copy).score([("France", "borders", "Spain"), ("Peru", "borders", "Chile")])
    assert scored["probability"].to_list() == [None, None]
    logit = np.log(scored["conditional_probability"] / (1 - scored["conditional_probability"]))
    margin = run.logit_offset
    assert logit.to_list() == pytest.approx((scored["score"] + margin).to_list(), abs=1e-6)


def test_calibration_keeps_the_order_and_is_the_same_when_learned_again(run, tmp_path):
    for question in ({"head": "France", "relation": "borders"}, {"relation": "borders"}):
        tail = {} if "head" in question else {"tail": "Peru"}
        answers = run.predict(**question, **tail, k=2000)
        distinct = np.unique(answers["score"].to_numpy())
        p = run.predictor.conditional_probability(distinct, np.zeros(len(distinct), dtype=int))
        assert (np.diff(p) > 0).all()
    copy = shutil.copytree(run.directory, tmp_path / "run")
    kgflow.open(copy).calibrate()
    text = (run.directory / "calibration.json").read_text()
    assert (copy / "calibration.json").read_text() == text


def test_held_out_facts_choose_nothing(run):
    """Facts are held out of choices: other ones in their place change no epoch and no map."""
    selection, kept = run.validation
    assert (len(selection), len(kept)) == (261, 111)
    world = run.data
    swapped = kept.take(np.arange(len(kept))[::-1])
    facts = world.valid.array()
    place = {tuple(x): i for i, x in enumerate(facts.tolist())}
    facts[[place[tuple(x)] for x in kept.array().tolist()]] = swapped.array()
    other = replace(world, valid=Triples.of(facts))
    again = kgflow.train(other, dim=16, epochs=2, out=run.directory.parent / "swapped")
    assert [r["mrr"] for r in again.history] == [r["mrr"] for r in run.history]
    one, two = (r.predictor.calibration for r in (run, again))
    assert one == two


def test_reliability_and_coverage_of_a_run(run):
    found = run.reliability("test")
    for name, (difference, error) in found["difference"].items():
        assert difference <= 2 * error, name
    for name in NONCONFORMITY:
        covered = run.coverage(coverage=0.8, nonconformity=name).to_dict()
        assert covered["nonconformity"] == name
        assert covered["low"] <= covered["measured"] <= covered["high"]
        found = run.prediction_set("France", "borders", coverage=0.8, nonconformity=name)
        assert len(found) == len(found.answers) <= covered["size"]["largest"]


def test_without_validation_there_is_no_calibration_and_no_promise(tmp_path):
    data = random_graph(held_out=0)
    run = kgflow.train(data, dim=2, epochs=1, out=tmp_path / "run")
    assert not (tmp_path / "run" / "calibration.json").exists()
    with pytest.raises(KgflowError, match="no valid facts"):
        run.calibrate()
    with pytest.raises(KgflowError, match="conformal_fraction"):
        run.prediction_set("e0", "r0")


def test_frames_are_polars_and_uncertainty_is_the_entropy(run):
    answers = run.predict(relation="capital_of", tail="Peru", k=2, entropy=True)
    assert isinstance(answers, pl.DataFrame)
    table = entity_uncertainty(run)
    assert table["entropy_change"].is_sorted()
    _, sigma = run.model.entity.split(run.model.entity.weight.detach())
    by_hand = sigma.abs().log().sum(1).numpy()
    lookup = dict(zip(run.data.entities, by_hand, strict=True))
    for row in answers.to_dicts():
        assert row["entropy_change"] == pytest.approx(lookup[row["head"]], rel=1e-5)
    degrees = np.bincount(np.concatenate([run.data.train.h, run.data.train.t]))
    assert table["degree"].sum() == degrees.sum()


@pytest.mark.parametrize(("model", "options"), [("distmult", {}), ("nfe-k", {"x0": "discrete"})])
def test_models_without_a_notion_of_uncertainty_say_so(model, options, tmp_path):
    run = kgflow.train(
        "world",
        model,
        dim=2,
        epochs=1,
        settings={f"model.{k}": v for k, v in options.items()},
        out=tmp_path / "run",
    )
    assert run.predict(head="France", relation="borders", k=1)["certainty"].to_list() == [None]
    with pytest.raises(KgflowError, match="no entropies"):
        entity_uncertainty(run)
    with pytest.raises(KgflowError, match="no densities"):
        overview(run, ["France"], tmp_path / "x.png")


def test_entities_unseen_in_training_are_flagged(tmp_path):
    data = random_graph(entities=12, facts=70)
    lonely = data.train.take((data.train.h != 3) & (data.train.t != 3))
    run = kgflow.train(replace(data, train=lonely), dim=2, epochs=1, out=tmp_path / "run")
    answers = run.predict(head="e0", relation="r0", k=12)
    assert set(answers.filter(~pl.col("trained"))["tail"]) == {"e3"}


def test_picture_is_written(run, tmp_path):
    splines = kgflow.train(
        "world", "nfe-k", settings={"model.degree": 3}, dim=2, epochs=1, out=tmp_path / "run"
    )
    for found in (run, splines):
        file = overview(found, ["France", "Peru"], tmp_path / "deep" / "overview.png")
        assert file.read_bytes().startswith(b"\x89PNG")


@pytest.mark.shared
def test_umls_with_default_settings(shared, tmp_path):
    run = kgflow.train(shared("umls"), dim=64, epochs=8, out=tmp_path / "run")
    assert run.metrics["test"]["realistic"]["mrr"] >= 0.8
