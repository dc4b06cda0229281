"""The tables of the paper hold the published numbers and settings, and a row runs as it says."""

from pathlib import Path

import pytest

from graphs import random_graph
from kgflow.config import ModelSettings
from kgflow.data import save
from kgflow.errors import KgflowError
from kgflow.models import build
from pretended import pretend, row
from reproduce.__main__ import STUDIES
from reproduce.experiments import Row
from reproduce.paper import PaperStudy, Table1Study, Table2Study, Table5Study, comparison
from reproduce.results import Results
from reproduce.running import Plan, Result, run_plans
from reproduce.study import Options

HERE = Path(), Path()
TABLES = [kind for kind in STUDIES.values() if issubclass(kind, PaperStudy)]
GRAPHS = ("wn18rr", "fb15k-237", "yago3-10")

# MRR, Hits@1 and Hits@10 by model, on GRAPHS.
TABLE_1 = {
    "nfe-1": ((0.483, 0.438, 0.576), (0.355, 0.261, 0.543), (0.570, 0.498, 0.697)),
    "nfe-2-paper": ((0.476, 0.431, 0.569), (0.352, 0.256, 0.542), (0.563, 0.489, 0.699)),
    "nfe-point": ((0.475, 0.430, 0.568), (0.352, 0.257, 0.542), (0.563, 0.490, 0.693)),
    "nfe-1-mu": ((0.218, 0.036, 0.506), (0.335, 0.240, 0.526), (0.539, 0.455, 0.691)),
    "nfe-1-sigma": ((0.286, 0.126, 0.522), (0.342, 0.247, 0.531), (0.519, 0.429, 0.676)),
    "distmult": ((0.396, 0.379, 0.427), (0.289, 0.206, 0.452), (0.536, 0.471, 0.652)),
}
TABLE_5 = ((0.440, 0.400, 0.521), (0.340, 0.246, 0.530), (0.550, 0.470, 0.695))
# By 1/k².
TABLE_2 = {
    0: (0.475, 0.430, 0.568),
    1 / 16: (0.478, 0.433, 0.572),
    1 / 8: (0.478, 0.433, 0.573),
    1 / 4: (0.478, 0.433, 0.571),
    1 / 2: (0.479, 0.434, 0.573),
    1: (0.483, 0.438, 0.576),
    2: (0.483, 0.438, 0.575),
    4: (0.483, 0.436, 0.575),
    8: (0.482, 0.436, 0.572),
    16: (0.482, 0.436, 0.572),
}
# n, margin, batch size, learning rate, decay: Tables 6 to 8 and the released ablations.
PUBLISHED = {
    "wn18rr/nfe-1": (1024, 1, 128, 0.005, 0.9),
    "wn18rr/nfe-2-paper": (1024, 0, 128, 0.003, 0.93),
    "wn18rr/nfe-3-softplus": (1024, 14, 512, 0.01, 0.93),
    "wn18rr/nfe-point": (1024, 0, 128, 0.005, 0.93),
    "wn18rr/nfe-1-mu": (512, 2, 256, 0.01, 0.9),
    "wn18rr/nfe-1-sigma": (1024, 4, 128, 0.01, 0.93),
    "wn18rr/distmult": (512, 0, 128, 0.003, 1),
    "fb15k-237/nfe-1": (1024, 2, 1024, 0.001, 0.93),
    "fb15k-237/nfe-2-paper": (1024, 1, 256, 0.001, 0.9),
    "fb15k-237/nfe-3-softplus": (1024, 2, 256, 0.001, 0.9),
    "fb15k-237/nfe-point": (1024, 0, 128, 0.0005, 0.95),
    "fb15k-237/nfe-1-mu": (512, 3, 1024, 0.003, 0.9),
    "fb15k-237/nfe-1-sigma": (1024, 0, 128, 0.001, 0.93),
    "fb15k-237/distmult": (512, 0, 128, 0.01, 0.9),
    "yago3-10/nfe-1": (1024, 8, 1024, 0.001, 0.95),
    "yago3-10/nfe-2-paper": (1024, 7, 1024, 0.001, 0.95),
    "yago3-10/nfe-3-softplus": (1024, 11, 1024, 0.001, 0.93),
    "yago3-10/nfe-point": (1024, 8, 1024, 0.003, 0.9),
    "yago3-10/nfe-1-mu": (512, 9, 1024, 0.005, 0.9),
    "yago3-10/nfe-1-sigma": (1024, 19, 1024, 0.001, 0.95),
    "yago3-10/distmult": (512, 0, 1024, 0.001, 0.95),
}
ROWS = {x.id: x for kind in (Table1Study, Table5Study) for x in kind(*HERE).rows()}


def options(model):
    """The settings that only this model has."""
    return {k: v for k, v in model.items() if k not in ModelSettings.common_keys()}


@pytest.mark.parametrize("key", PUBLISHED)
def test_rows_have_the_published_settings(key):
    found = ROWS[key].settings()
    model, training, loss = found["model"], found["training"], found["training"]["loss"]
    assert key == f"{found['data']}/{'-'.join([model['name'], *options(model).values()])}"
    steps = training["optimizer"]["lr"], training["lr_schedule"]["decay"]
    assert (model["dim"], loss["margin"], training["batch_size"], *steps) == PUBLISHED[key]
    # The paper's loss, neither dropout nor an average, and validation by all triples of valid.
    assert (loss["name"], loss["dropout"], loss["query_dropout"]) == ("one-vs-all", 0, 0)
    assert (training["ema_decay"], training["conformal_fraction"]) == (0, 0)
    long = {"nfe-1": 150, "nfe-2": 100, "nfe-3": 100}
    expected = long.get(model["name"], 50) if found["data"] == "yago3-10" else 50
    assert training["epochs"] == expected


def test_rows_have_the_published_numbers():
    numbers = {f"{graph}/{model}": found for model, row in TABLE_1.items()
               for graph, found in zip(GRAPHS, row, strict=True)}  # fmt: skip
    numbers |= {f"{g}/nfe-3-softplus": x for g, x in zip(GRAPHS, TABLE_5, strict=True)}
    assert {key: row.published for key, row in ROWS.items()} == numbers
    assert set(numbers) == set(PUBLISHED)
    rows = Table2Study(*HERE).rows()
    found = {x.settings()["model"]["uncertainty"]: x.published for x in rows}
    assert found == TABLE_2
    assert len({str(x.settings()["training"]) for x in rows}) == 1


def test_every_row_of_every_study_builds_its_model():
    for kind in STUDIES.values():
        for found in kind(*HERE).rows() if kind.name not in ("ensembles", "presets") else []:
            model = found.settings()["model"]
            build(model["name"], 3, 2, 12, options(model))
            assert found.title


def test_every_row_is_planned_in_a_place_of_its_own():
    assert [Table1Study, Table2Study, Table5Study] == TABLES
    chosen = [Options(scale=scale, seeds=2) for scale in ("paper", "half")]
    plans = [plan for kind in TABLES for options in chosen for plan in kind(*HERE, options).plans()]
    assert len(plans) == 2 * 2 * (18 + 10 + 3)
    assert len({plan.run(Path()) for plan in plans}) == len(plans)
    found = Table1Study(*HERE, Options(("nfe-1",), ("wn18rr",))).plans()
    assert [plan.id for plan in found] == ["wn18rr/nfe-1"]


def test_scale_divides_the_dimension():
    study = Table2Study(*HERE, Options(scale="quarter", seeds=3))
    plans = study.seeds(study.rows()[0])
    assert [plan.values["model"]["dim"] for plan in plans] == [256] * 3
    assert [plan.values["seed"] for plan in plans] == [0, 1, 2]
    assert plans[0].command.endswith("table2 --row wn18rr/0 --scale quarter")


@pytest.mark.usefixtures("in_process")
def test_a_row_is_run_for_every_seed_and_not_again(place):
    save(random_graph(), place / "graph")
    rows = "".join(row(x, "graph") + "published = [0.5, 0.4, 0.6]\n" for x in "ab")
    text = "[defaults]\nmodel.dim = 8\ntraining.epochs = 1\n" + rows
    (place / "studies" / "table1.toml").write_text(text)
    study = Table1Study(Path("runs"), place, Options(rows=("a",), scale="half", seeds=2))
    started, results = [], Results(Path("results"))
    for _ in range(2):
        found = run_plans(study.plans(), Path("runs"), results, progress=started.append)
        assert [result.record.dim for result in found] == [4, 4]
    assert len(started) == 2
    shown = study.show(found)
    assert "± 0.0" in shown.text
    assert [values["row"] for values in shown.values["rows"]] == ["a"]
    assert "python -m reproduce table1 --row a --scale half --seeds 2" in study.page(shown, found)


def test_means_standard_deviations_and_differences():
    mine = Row("mine", "mine", {"data": "world", "model": {}}, (0.5, 0.4, 0.6))
    plan = Plan("table1", "mine", values={"model": {"dim": 8}})
    found = [Result(plan, pretend(plan, mrr)) for mrr in (0.50, 0.54)]
    line = comparison(mine, found)
    assert line[2:7] == ["8", "2", "0.520 ± 0.028", "0.500", "+0.020"]
    assert comparison(mine, [Result(plan, skipped="no data")])[4:7] == ["–", "0.500", "–"]


def test_a_table_without_rows_of_a_model():
    with pytest.raises(KgflowError, match="no row of these models"):
        Table2Study(*HERE, Options(("distmult",))).plans()
