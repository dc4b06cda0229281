"""Each command, from its arguments to what it prints."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

import kgflow as library

METRICS = {"mrr", "mr", "hits@1", "hits@3", "hits@10", "amr", "amri"}
POLICIES = {"optimistic", "realistic", "pessimistic"}


def test_train_reports_the_run_and_both_splits(answer, tmp_path):
    out = tmp_path / "run"
    found = answer("train", "world", "--dim", 8, "--epochs", 1, "--out", out)
    assert found["run"] == str(out)
    assert found["floats_per_entity"] == 16
    assert set(found["test"]["realistic"]) == METRICS
    assert found["test"] == answer("evaluate", out)
    files = {p.name for p in out.iterdir()}
    assert files == {
        "config.toml",
        "vocabulary.json",
        "splits.safetensors",
        "model.safetensors",
        "checkpoint",
        "history.jsonl",
        "metrics.json",
        "calibration.json",
    }


def test_train_for_people_names_the_run(kgflow, tmp_path):
    code, out, err = kgflow("train", "world", "--dim", 4, "--epochs", 1, "--out", tmp_path / "run")
    assert code == 0
    assert f"run saved in {tmp_path / 'run'}" in out
    assert "realistic" in out
    assert f"kgflow predict {tmp_path / 'run'} --head " in out
    assert "about 0:" in err
    assert "8 floats per entity" in err


def test_train_without_out_goes_under_runs(answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = answer("train", "world", "--dim", 2, "--epochs", 1)
    assert found["run"].startswith("runs/world-nfe-1-")
    assert (tmp_path / found["run"] / "model.safetensors").exists()


def test_config_file_with_flags_on_top(answer, tmp_path):
    config = tmp_path / "mine.toml"
    config.write_text(
        'data = "world"\n[model]\nname = "nfe-2"\ndim = 4\n[model.options]\nx0 = "uniform"\n'
        "[training]\nepochs = 2\n"
    )
    found = answer("train", "--config", config, "--epochs", 1, "--out", tmp_path / "run")
    assert found["epochs"] == 1
    assert found["model"] == {
        "name": "nfe-2",
        "dim": 4,
        "bias": False,
        "inverse_relations": True,
        "bidirectional": False,
        "x0": "uniform",
    }


def test_tensorboard_gets_every_epoch(answer, tmp_path):
    pytest.importorskip("tensorboard", reason="the extra `tensorboard` is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    flags = ("--dim", 2, "--epochs", 3, "--track", f"tensorboard={tmp_path / 'events'}")
    answer("train", "world", *flags, "--out", tmp_path / "run")
    found = EventAccumulator(str(tmp_path / "events")).Reload()
    history = library.open(tmp_path / "run").history
    for name in ("loss", "mrr", "lr"):
        points = {p.step: p.value for p in found.Scalars(name)}
        assert points == {r["epoch"]: pytest.approx(r[name], rel=1e-6) for r in history}


def test_options_are_added_to_those_of_the_file(answer, tmp_path):
    config = tmp_path / "mine.toml"
    config.write_text('data = "world"\n[model]\ndim = 2\nuncertainty = 0.25\n')
    flags = ("--set", "model.x0=uniform", "--epochs", 1, "--out", tmp_path / "run")
    found = answer("train", "--config", config, *flags)
    assert (found["model"]["uncertainty"], found["model"]["x0"]) == (0.25, "uniform")


def test_best_epoch_is_a_validated_one(answer, tmp_path):
    flags = ("--dim", 4, "--epochs", 6, "--set", "training.validate_every=4", "--lr", "0.05")
    found = answer("train", "world", *flags, "--out", tmp_path / "run")
    assert found["best_epoch"] in (4, 6)


def test_help_tells_the_defaults(kgflow):
    from kgflow.cli.train import FLAGS
    from kgflow.config import PRESETS, entries

    _, out, _ = kgflow("train", "--help")
    text = " ".join(out.replace("│", " ").split())
    found = {entry.key: entry for entry in reversed(list(entries()))}
    for flag, key in FLAGS.items():
        assert f"--{flag.replace('_', '-')}" in text
        description = found[key].description.replace("`", "")  # Markdown is rendered
        default = found[key].default if key == "seed" else "by the preset"
        assert f"{description} Default: {default}." in text
    for preset, meaning in PRESETS.items():
        assert f"{preset}: {meaning}" in text
    flags = {word for word in text.split() if word.startswith("--")}
    assert len(flags - {"--help"}) <= 20


def test_settings_lists_every_setting(answer, kgflow, refusal):
    found = answer("settings")["settings"]
    assert {"training.loss.margin", "model.dim", "seed"} <= {entry["key"] for entry in found}
    assert all(entry["description"][0].isupper() for entry in found)
    assert all(entry["description"].endswith(".") for entry in found)
    margin = answer("settings", "training.loss.margin")["settings"]
    assert [entry["default"] for entry in margin] == [3.0]
    assert "softmax" not in margin[0]["components"]
    assert "training.loss.gradient" in kgflow("settings", "training.loss")[1]
    assert "did you mean training.loss.margin" in refusal("settings", "training.loss.margn")


def test_options_reach_the_model(answer, tmp_path):
    out = tmp_path / "run"
    options = ("--set", "model.uncertainty=0.25", "--set", "model.x0=uniform")
    answer("train", "world", "--dim", 2, "--epochs", 1, *options, "--out", out)
    x0 = library.open(out).model.x0
    assert (x0.factor, type(x0.x0).__name__) == (0.5, "Uniform")


def test_force_replaces_and_resume_goes_on(answer, kgflow, tmp_path):
    out = tmp_path / "run"
    answer("train", "world", "--dim", 2, "--epochs", 1, "--out", out)
    assert kgflow("train", "world", "--dim", 2, "--epochs", 1, "--out", out)[0] == 2
    again = answer("train", "world", "--dim", 3, "--epochs", 1, "--out", out, "--force")
    assert again["floats_per_entity"] == 6
    assert answer("train", "--resume", out)["epochs"] == 1


def test_a_run_works_after_it_was_moved(answer, tmp_path):
    answer("train", "world", "--dim", 2, "--epochs", 1, "--out", tmp_path / "here")
    before = answer("evaluate", tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    assert answer("evaluate", tmp_path / "there") == before


@pytest.mark.parametrize("by", ["relation", "side", "category"])
def test_evaluate_by_group(answer, world_run, by):
    found = answer("evaluate", world_run, "--by", by)
    assert set(found) == {"split", "answers", "untrained", "by"} | POLICIES
    assert (found["answers"], found["untrained"]) == (744, 0)
    assert sum(group["count"] for group in found["by"].values()) == 744


def test_evaluate_writes_every_rank(answer, world_run, tmp_path):
    file = tmp_path / "ranks.tsv"
    found = answer("evaluate", world_run, "--ranks", file)
    ranks = pl.read_csv(file, separator="\t")
    assert len(ranks) == 744
    assert (1 / ranks["realistic"]).mean() == pytest.approx(found["realistic"]["mrr"])
    facts = {tuple(row) for row in ranks.select("head", "relation", "tail").iter_rows()}
    test = library.load("world")
    names = test.entities.names
    assert facts == {
        (names[h], test.relations[r], names[t]) for h, r, t in test.test.array().tolist()
    }


def test_further_known_facts_are_filtered(answer, world_run, tmp_path):
    run = library.open(world_run)
    wrong = run.predict(head="France", relation="has_currency", k=500, new=True)
    file = tmp_path / "known.tsv"
    rows = wrong.select("head", "relation", "tail").iter_rows()
    file.write_text("".join("\t".join(row) + "\n" for row in rows) + "Nowhere\tborders\tPeru\n")
    plain, filtered = answer("evaluate", world_run), answer("evaluate", world_run, "--filter", file)
    assert filtered["realistic"]["mr"] <= plain["realistic"]["mr"]


def test_predict_tails_heads_and_relations(answer, world_run):
    for question, asked in (
        (("--head", "France", "--relation", "borders"), "tail"),
        (("--relation", "borders", "--tail", "France"), "head"),
        (("--head", "France", "--tail", "Spain"), "relation"),
    ):
        answers = answer("predict", world_run, *question, "-k", 4)["answers"]
        assert [a["rank"] for a in answers] == [1, 2, 3, 4]
        scores = [a["score"] for a in answers]
        assert scores == sorted(scores, reverse=True)
        assert all(a[asked] == a["answer"] for a in answers)
        assert all(a["known"] or 0 < a["probability"] < 1 for a in answers)


def test_new_leaves_out_known_facts_and_types_restrict(answer, world_run):
    base = ("predict", world_run, "--head", "France", "--relation", "borders")
    everything = answer(*base, "-k", 5000)["answers"]
    assert len(everything) == 1281
    known = {a["tail"] for a in everything if a["known"]}
    new = {a["tail"] for a in answer(*base, "-k", 5000, "--new")["answers"]}
    assert len(known) == 8
    assert known | new == {a["tail"] for a in everything}
    assert not known & new
    currencies = answer(*base, "-k", 5000, "--type", "currency")["answers"]
    types = library.load("world").types
    assert {types[a["tail"]] for a in currencies} == {("currency",)}


def test_a_file_of_questions_answers_in_order(answer, kgflow, world_run, tmp_path):
    file, out = tmp_path / "q.tsv", tmp_path / "a.tsv"
    file.write_text("France\tborders\t?\n\n?\tcapital_of\tPeru\r\nFrance\t?\tSpain\n")
    answers = answer("predict", world_run, "--file", file, "-k", 2)["answers"]
    assert [a["query"] for a in answers] == [1, 1, 2, 2, 3, 3]
    single = answer("predict", world_run, "--relation", "capital_of", "--tail", "Peru", "-k", 2)
    assert [a["head"] for a in answers[2:4]] == [a["head"] for a in single["answers"]]
    scores = [a["score"] for a in single["answers"]]
    assert [a["score"] for a in answers[2:4]] == pytest.approx(scores, abs=1e-4)
    assert kgflow("predict", world_run, "--file", file, "--out", out, "-k", 2)[0] == 0
    assert pl.read_csv(out, separator="\t")["head"].to_list() == [a["head"] for a in answers]


def test_discover_equals_a_full_sort(answer, world_run):
    run = library.open(world_run)
    found = answer("discover", world_run, "-k", 7, "--relation", "borders")["facts"]
    r, every = run.data.relations.id("borders"), np.arange(len(run.data.entities))
    h, t = (x.ravel() for x in np.meshgrid(every, every, indexing="ij"))
    other = h != t  # no country borders itself
    triples = np.stack([h, np.full_like(h, r), t], axis=1)[other]
    probabilities = [p for p in run.predictor.probability(triples) if p is not None]
    best = sorted(probabilities, reverse=True)[:7]
    assert [f["probability"] for f in found] == pytest.approx(best, rel=1e-4)
    everywhere = [f["probability"] for f in answer("discover", world_run, "-k", 30)["facts"]]
    assert everywhere == sorted(everywhere, reverse=True)
    assert everywhere[0] >= found[0]["probability"]


def test_calibrate_evaluates_before_and_after(answer, kgflow, world_run, tmp_path):
    run = shutil.copytree(world_run, tmp_path / "run")
    written = (run / "calibration.json").read_bytes()
    (run / "calibration.json").unlink()
    found = answer("calibrate", run)
    assert (run / "calibration.json").read_bytes() == written
    assert (found["facts"], found["answers"]) == (261, 744)
    for name in ("brier", "log_loss", "ece"):
        difference, error = found["difference"][name]
        assert difference == pytest.approx(found["after"][name] - found["before"][name])
        assert error > 0
    code, out, _ = kgflow("calibrate", run)
    assert code == 0
    assert "Brier score" in out
    assert "261 validation facts" in out


def test_prediction_sets_are_printed_in_part_and_given_whole(answer, kgflow, world_run, tmp_path):
    ask = ("predict", world_run, "--head", "France", "--relation", "in_time_zone")
    for name, by in (("rank", ()), ("rank", ("--by-relation",)), ("logit", ())):
        flags = ("--nonconformity", name, *by)
        (found,) = answer(*ask, "--coverage", 0.9, *flags)["prediction_sets"]
        assert found["size"] == len(found["answers"]) > 1
        assert not any(a["known"] for a in found["answers"])
        assert (found["coverage"], found["held_out"]) == (0.9, 54 if by else 222)
        assert found["nonconformity"] == name
        code, out, _ = kgflow(*ask, "--coverage", 0.9, "-k", 1, *flags)
        assert code == 0
        assert f"and {found['size'] - 1:,} more" in out
        assert "in 0.9 of queries" in out
    file, whole = tmp_path / "q.tsv", tmp_path / "a.tsv"
    file.write_text("France\tin_time_zone\t?\n?\tborders\tPeru\n")
    assert kgflow("predict", world_run, "--file", file, "--coverage", 0.5, "--out", whole)[0] == 0
    rows = pl.read_csv(whole, separator="\t")
    sets = answer("predict", world_run, "--file", file, "--coverage", 0.5)["prediction_sets"]
    assert [(rows["query"] == i).sum() for i in (1, 2)] == [s["size"] for s in sets]


def test_coverage_is_measured(answer, kgflow, world_run):
    found = answer("evaluate", world_run, "--coverage", 0.8, "--by", "relation")["coverage"]
    assert found["low"] <= found["measured"] <= found["high"]
    assert sum(group["count"] for group in found["by"].values()) == found["answers"] == 744
    code, out, _ = kgflow("evaluate", world_run, "--coverage", 0.8, "--by-relation")
    assert code == 0
    assert "nominal coverage 0.8" in out


def test_data_list_and_describe(answer, kgflow):
    names = {row["name"] for row in answer("data", "list")["datasets"]}
    assert {"world", "wn18rr", "fb15k-237", "yago3-10", "umls", "cn15k"} <= names
    found = answer("data", "describe", "world")
    assert found["sizes"] == {"train": 2974, "valid": 372, "test": 372}
    assert found["unseen"]["test"]["entities"] == 0
    code, out, _ = kgflow("data", "describe", "world")
    assert code == 0
    assert "borders" in out


def test_import_and_split_make_data_sets(answer, tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"x{i}\tr\tx{i + 1}\n" for i in range(50)))
    (tmp_path / "b.csv").write_text("subject,predicate,object\nx0,s,x9\nx3,s,x7\nx1,s,x7\n")
    out = tmp_path / "graph"
    found = answer("data", "import", tmp_path / "a.tsv", tmp_path / "b.csv", "--out", out)
    assert found["train"] + found["valid"] + found["test"] == 53
    assert found["relations"] == 2
    again = answer("data", "split", out, "--test", "0.2", "--out", tmp_path / "other")
    assert again["entities"] == found["entities"]
    data = library.load(tmp_path / "other")
    assert (len(data.train), len(data.test)) == (again["train"], again["test"])


def test_models_are_listed(answer):
    assert sorted({m["name"] for m in answer("models")["models"]}) == sorted(library.MODELS)


def test_labels_are_shown(answer, tmp_path):
    facts = tmp_path / "facts.tsv"
    facts.write_text("".join(f"Q{i}\tP{i % 2}\tQ{(i * 7) % 12}\n" for i in range(60)))
    labels = tmp_path / "labels.tsv"
    labels.write_text("".join(f"Q{i}\tThing {i}\n" for i in range(60)))
    out = tmp_path / "run"
    answer("train", facts, "--labels", labels, "--dim", 2, "--epochs", 1, "--out", out)
    answers = answer("predict", out, "--head", "Q1", "--relation", "P1", "-k", 1)["answers"]
    assert answers[0]["answer"] == "Thing " + answers[0]["tail"][1:]


def test_version_and_help(kgflow):
    assert kgflow("--version")[:2] == (0, "0.2.0\n")
    for command in ("train", "evaluate", "calibrate", "predict", "discover", "models"):
        code, out, _ = kgflow(command, "--help")
        assert code == 0
        assert "Example: kgflow" in out
        assert "--json" in out


def test_json_is_strict(answer, world_run):
    text = json.dumps(answer("evaluate", world_run))
    assert "NaN" not in text
