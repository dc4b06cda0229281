"""Other studies, the command line, and the page that is written."""

import json
from pathlib import Path

import pytest

import kgflow
from graphs import random_graph
from kgflow.config import Experiment, parse
from kgflow.data import save
from kgflow.models.listing import label, listing
from kgflow.runs.build import complete
from pretended import BENCHMARKS, row
from reproduce.__main__ import main
from reproduce.benchmarks import BenchmarksStudy
from reproduce.confidence import ConfidenceStudy
from reproduce.ensembles import EnsemblesStudy
from reproduce.prediction_sets import PredictionSetsStudy
from reproduce.results import Record, Results, read_record
from reproduce.running import Plan, Result, collect, run_plans
from reproduce.signals import compare_signals
from reproduce.small import SmallStudy, markdown
from reproduce.speed import peers
from reproduce.study import Options
from reproduce.uncertainty import study_page

ROOT = Path(__file__).parents[2]
HERE = Path(), Path()


def test_small_is_every_variant_of_every_model_on_every_small_graph():
    variants = {label(model["name"], model["variant"]) for model in listing()}
    rows = SmallStudy(*HERE).rows()
    assert len(rows) == 3 * len(variants)
    assert {row.model_label for row in rows} == variants
    (codex,) = SmallStudy(*HERE, Options(("nfe-1",), ("codex-s",))).plans()
    assert codex.values["training"]["loss"]["name"] == "sampled-softmax"


def test_what_is_missing_is_run_in_a_process_and_what_cannot_run_says_why(tmp_path):
    save(random_graph(), tmp_path / "graph")
    values = {"data": str(tmp_path / "graph"), "model": {"name": "distmult", "dim": 4}}
    full = complete(values | {"training": {"epochs": 1}}, "test").model_dump()
    plans = [
        Plan("small", "graph/a", values=full),
        Plan("small", "none/a", values=full | {"data": "no-such-graph"}),
        Plan("small", "odd/a", values=full | {"training": {"optimizer": {"lr": -1}}}),
    ]
    started, results = [], Results(tmp_path / "results")
    first = run_plans(plans, tmp_path, results, jobs=2, progress=started.append)
    assert "no-such-graph" in first[1].skipped
    assert "lr" in first[2].skipped
    assert run_plans(plans[:1], tmp_path, results, 1, started.append) == first[:1]
    assert started == ["small graph/a:0"], "nothing is run twice"
    record = first[0].record
    assert 0 < record.metric("mrr") < 1
    assert len(record.history) == 1
    assert record.provenance["date"]
    lines = markdown(first).splitlines()
    assert f"{record.metric('mrr'):.3f}" in lines[2]
    assert "| – | – | – |" in lines[2]


def test_a_row_of_confidences_shows_what_the_run_evaluates_to(tmp_path):
    study = ConfidenceStudy(tmp_path, tmp_path)
    plan, other = study.plans()[:2]
    data = random_graph(facts=200, weighted=True, held_out=80)
    run = kgflow.train(data, dim=2, epochs=1, out=plan.run(tmp_path))
    done = study.complete(Result(plan, read_record(run.directory, plan.study, plan.row, 0)))
    found = done.record.metrics["confidence"]
    intervals = run.interval_coverage(0.9).to_dict()
    assert 0 < found.pop("reversed") < 1
    assert found == run.evaluate_confidence().to_dict() | {"intervals": intervals}
    found["reversed"] = 0.5
    assert study.complete(done) is done, "nothing is measured twice"
    skipped = Result(other, skipped="no time")
    shown = study.show([done, skipped])
    rows = [line for line in shown.text.splitlines() if line.startswith("| nl27k")]
    assert f"{found['direct']['mse']:.4f}" in rows[0]
    assert "| – |" in rows[1]
    assert f"{found['tails']['mrr']:.4f}" in rows[2]
    page = study.page(shown, [done, skipped])
    assert plan.command in page
    assert other.command not in page


def test_a_row_of_prediction_sets_is_measured_once_and_shown_beside_published_ones(tmp_path):
    study = PredictionSetsStudy(tmp_path, tmp_path)
    (plan,) = [plan for plan in study.plans() if plan.row == "wn18rr/nfe-1"]
    data = random_graph(entities=30, relations=2, facts=400, held_out=90)
    run = kgflow.train(data, dim=2, epochs=1, out=plan.run(tmp_path))
    done = study.complete(Result(plan, read_record(run.directory, plan.study, plan.row, 0)))
    sets = done.record.metrics["prediction_sets"]
    assert sets["chosen"] == min(sets["validation_sizes"], key=sets["validation_sizes"].get)
    assert sets["scores"][sets["chosen"]] == run.coverage(coverage=0.9).to_dict()
    assert sets["by_relation"] == run.coverage(coverage=0.9, by_relation=True).to_dict()
    assert Record.from_line(done.record.to_line(), "here").metrics == done.record.metrics
    assert study.complete(done) is done, "nothing is measured twice"
    lines = study.show([done]).text.splitlines()
    chosen = sets["scores"][sets["chosen"]]
    assert any("(chosen)" in line and f"{chosen['measured']:.4f}" in line for line in lines)
    assert any("published" in line and "3,572" in line for line in lines)


def test_uncertainty_and_figures_make_pages_of_what_is_there(place, capsys, monkeypatch):
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    monkeypatch.delenv("KGFLOW_DATA", raising=False)
    text = "[defaults]\nmodel.dim = 4\ntraining.epochs = 1\n"
    world = row("world", "world")
    (place / "studies" / "figures.toml").write_text(text + world + row("wn18rr", "wn18rr"))
    kgflow.train("world", dim=4, epochs=1, out=place / "runs" / "figures" / "world-0")
    (place / "studies" / "uncertainty.toml").write_text(text + row("random/nfe-1", "random"))
    out = place / "runs" / "uncertainty" / "random-nfe-1-0"
    kgflow.train(random_graph(facts=160), dim=4, epochs=1, out=out)
    words = ("--out", "runs", "--model", "nfe-1", "--data", "random", "--page", "uncertainty.md")
    assert main(["uncertainty", *words]) == 0
    page = (place / "uncertainty.md").read_text()
    assert "`python -m reproduce uncertainty --model nfe-1 --data random`" in page
    assert "`python -m reproduce uncertainty --row random/nfe-1`" in page
    assert "(uncertainty/rejection.png)" in page
    assert (place / "uncertainty" / "rejection.png").exists()
    assert main(["figures", "--out", "runs", "--page", "figures.md"]) == 0
    out, err = capsys.readouterr()
    assert "wn18rr:0 skipped" in err
    assert "| world | borders is symmetric |" in out
    pictures = list((place / "figures").iterdir())
    assert len(pictures) == 4
    page = (place / "figures.md").read_text()
    assert all(f"(figures/{picture.name})" in page for picture in pictures)


def test_the_page_of_uncertainty_has_a_sentence_per_run(tmp_path):
    data = random_graph(entities=20, relations=3, facts=160, held_out=25)
    run = kgflow.train(data, dim=4, epochs=1, out=tmp_path / "nfe-1")
    found = compare_signals(run)
    page = study_page([found, found])
    assert page.count("**nfe-1 on random**") == 2
    assert f"{found.added.difference:+.3f}" in page
    widths = {line.count("|") for line in page.splitlines() if line.startswith("|")}
    assert widths == {8, 6}
    other = kgflow.train(data, "distmult", dim=4, epochs=1, out=tmp_path / "distmult")
    assert "the model has no entropies" in study_page([compare_signals(other)])


@pytest.mark.usefixtures("no_pictures")
def test_the_command_shows_stored_results_and_stores_finished_runs(place, capsys):
    rows = [row(f"graph/{name}", "random", title=f"Tiny {name}") for name in "ab"]
    (place / "studies" / "benchmarks.toml").write_text(BENCHMARKS + "".join(rows))
    kgflow.train(random_graph(), dim=4, epochs=2, lr=0.1, out="runs/benchmarks/graph-a-0")
    words = ["benchmarks", "--no-train", "--store"]
    assert main([*words, "--out", "runs", "--page", "page.md"]) == 0
    out, err = capsys.readouterr()
    assert "graph/b:0 skipped: it was not run" in err
    page = (place / "page.md").read_text()
    assert out.strip() in page
    assert "(benchmarks/random.png)" in page
    assert not (place / "runs" / "benchmarks" / "graph-b-0").exists()
    assert main([*words, "--out", "nowhere", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["rows"]
    assert [found["seeds"] for found in values] == [1, 0]
    assert f"| {values[0]['mrr'][0]:.3f} |" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("table3",), "did you mean table"),
        (("nonsense",), "known are small, figures, uncertainty, probabilities"),
        (("small", "--seeds", "2"), "small has no choice of --seeds: leave it out"),
        (("figures", "--scale", "half"), "figures has no choice of --scale: leave it out"),
        (("benchmarks", "--scale", "half"), "benchmarks has no choice of --scale"),
        (("table1", "--scale", "eighth"), "unknown scale 'eighth': give paper, half, quarter"),
        (("table1", "--seeds", "0"), "--seeds is 0: give 1 or more"),
        (("table2", "--model", "distmult"), "no row of these models"),
        (("figures", "--model", "transe"), "leave --model out"),
        (("figures", "--data", "umls"), "no row of these models"),
        (("uncertainty", "--store"), "uncertainty needs the trained models: leave --store out"),
        (("table1", "--page", "none/a.md"), "none/a.md cannot be written"),
    ],
)
def test_the_command_refuses(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (BenchmarksStudy, Options(seeds=3)),
        (SmallStudy, Options(data=("codex-s",))),
        (EnsemblesStudy, Options()),
    ],
)
def test_stored_results_have_exactly_the_settings_of_their_rows(kind, options):
    """Whoever changes a row or a setting's name must change the stored results too."""
    plans = {plan.name: plan for plan in kind(*HERE, options).plans() if plan.study == kind.name}
    lines = (ROOT / "results" / f"{kind.name}.jsonl").read_text().splitlines()
    records = [Record.from_line(line, kind.name) for line in lines]
    assert records
    for record in records:
        plan = plans[f"{record.row}:{record.seed}"]
        assert parse(Experiment, record.config, record.row).model_dump() == record.config
        if plan.needs:
            members = record.config["model"]["members"]
            assert [m | {"data": record.config["data"]} for m in members] == [
                need.values | {"run": member["run"]}
                for need, member in zip(plan.needs, members, strict=True)
            ]
        else:
            assert record.config == plan.values
    found = collect(list(plans.values()), Path("none"), Results(ROOT / "results"))
    assert sum(result.record is not None for result in found) == len(records)


def test_a_graph_that_is_not_there_is_never_replaced_by_a_random_one(monkeypatch):
    monkeypatch.setenv("KGFLOW_DATA", "/none")
    assert peers.missing("wn18rr") == (
        "wn18rr is not on this machine: set KGFLOW_DATA to the directory that holds it"
    )
    with pytest.raises(kgflow.errors.KgflowError, match="wn18rr is not on this machine"):
        peers.graph("wn18rr")
    assert peers.graph("random-50-200").name == "random-50-200"
