"""What can be reproduced, and the page it makes."""

import pytest

import kgflow
from graphs import random_graph
from kgflow.errors import KgflowError
from kgflow.models import MODELS
from kgflow.reproduction import Result
from kgflow.runs.build import CONFIDENCES
from kgflow.studies import ConfidenceStudy, SmallStudy


def test_confidences_are_used_in_every_way_on_every_graph(tmp_path):
    study = ConfidenceStudy(tmp_path, tmp_path)
    plans = study.plans([], ["nl27k", "cn15k"])
    assert len(plans) == 2 * len(CONFIDENCES)
    assert len({plan.run(tmp_path) for plan in plans}) == len(plans)
    assert "kgflow train nl27k --model nfe-1 --confidence soft" in plans[2].command
    with pytest.raises(KgflowError, match="unknown model"):
        study.plans(["nfe1"], ["nl27k"])


def test_a_row_shows_what_the_run_evaluates_to(tmp_path):
    study = ConfidenceStudy(tmp_path, tmp_path)
    plan, other = study.plans([], ["random"])[:2]
    data = random_graph(facts=90, weighted=True)
    run = kgflow.train(data, dim=2, epochs=1, out=plan.run(tmp_path))
    done, skipped = Result(plan, 2, 0.5, 0.4, 0.6, 1, 2.0), Result(other, skipped="no time")
    found = study.measure(done)
    assert found == run.evaluate_confidence().to_dict()
    shown = study.show([done, skipped])
    lines = shown.text.splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert f"{found['direct']['mse']:.4f}" in lines[2]
    assert "| – |" in lines[3]
    page = study.page(shown, [done, skipped])
    assert plan.command in page
    assert other.command not in page


def test_small_is_every_model_on_every_small_graph(tmp_path):
    study = SmallStudy(tmp_path, tmp_path)
    assert len(study.plans([], [])) == 3 * len(MODELS)
    assert study.plans(["nfe-1"], ["umls"])[0].words == ("train", "umls", "--model", "nfe-1")
    assert "sampled-softmax" in study.plans(["nfe-1"], ["codex-s"])[0].words
    with pytest.raises(KgflowError, match="unknown model 'nfe1'"):
        study.plans(["nfe1"], [])
