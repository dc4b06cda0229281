"""The paper's tables: what is printed is what is stored, and a row runs as its file says."""

import re
from pathlib import Path

import pytest

from graphs import random_graph
from kgflow.config import Experiment, read
from kgflow.data import load, save
from kgflow.errors import KgflowError
from kgflow.reproduction import Plan, Result, reproduce
from kgflow.runs.training import run_experiment, settle
from kgflow.studies import STUDIES, Options, PaperStudy, Table1Study, Table2Study, Table5Study
from kgflow.studies.comparison import Measured, Row, comparison

ROOT = Path(__file__).parent.parent
HERE = Path(), Path()
TABLES = [kind for kind in STUDIES.values() if issubclass(kind, PaperStudy)]
ROWS = [row for kind in TABLES for row in kind(*HERE).rows()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_every_row_has_its_file_with_its_numbers(row):
    """Each file's first line holds the printed numbers too."""
    said = (ROOT / "experiments" / row.file).read_text().splitlines()[0]
    found = re.findall(r"(?:MRR|H@1|H@10) ([0-9.]+[0-9])", said)
    assert [float(x) for x in found] == list(row.printed)


def test_every_row_is_planned_in_a_place_of_its_own(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert [Table1Study, Table2Study, Table5Study] == TABLES
    plans = [
        plan
        for kind in TABLES
        for scale in ("paper", "half")
        for plan in kind(*HERE, Options(scale, 2)).plans([], [])
    ]
    assert len(plans) == 2 * 2 * len(ROWS) == 2 * 2 * (18 + 10 + 3)
    assert len({plan.run(Path()) for plan in plans}) == len(plans)
    chosen = Table1Study(*HERE).plans(["nfe-1"], ["wn18rr"])
    assert [(plan.model, plan.data) for plan in chosen] == [("nfe-1", "wn18rr")]
    with pytest.raises(KgflowError, match="has no row"):
        Table2Study(*HERE).plans(["distmult"], [])


def test_scale_divides_the_dimension_and_seeds_are_told(monkeypatch):
    monkeypatch.chdir(ROOT)
    row = Table2Study(*HERE).rows()[0]
    assert [p.words[3:] for p in Table2Study(*HERE).seeds(row)] == [
        ("--dim", "1024", "--seed", "0")
    ]
    quarter = Table2Study(*HERE, Options("quarter", 3)).seeds(row)
    assert [p.words[3:] for p in quarter] == [("--dim", "256", "--seed", str(n)) for n in range(3)]


def test_a_row_is_run_for_every_seed_and_not_again(tmp_path, monkeypatch):
    graph = str(tmp_path / "graph")
    save(random_graph(), Path(graph))

    class Mine(PaperStudy):
        name, title, experiments = "mine", "Mine", tmp_path

        def rows(self):
            printed = (0.5, 0.4, 0.6)
            return [Row(x, graph, "nfe-1", f"{x}.toml", printed, f"{x}-") for x in "ab"]

    def call(words, _):
        flags = dict(zip(words[1::2], words[2::2], strict=True))
        values = read(Experiment, Path(flags["--config"])).model_dump(exclude_unset=True)
        values["model"]["dim"] = int(flags["--dim"])
        values["training"]["seed"] = int(flags["--seed"])
        run_experiment(settle(values, "test"), load(graph), flags["--out"])

    monkeypatch.setattr("kgflow.reproduction._call", call)  # a process each would take long
    for name in "ab":
        (tmp_path / f"{name}.toml").write_text(
            f'data = "{graph}"\n[model]\ndim = 8\n[training]\nepochs = 1\n'
        )
    study, told = Mine(tmp_path / "runs", tmp_path, Options("half", 2)), []
    plans = study.plans([], [])[:2]
    for _ in range(2):
        results = list(reproduce(plans, tmp_path / "runs", progress=told.append))
        assert [r.dim for r in results] == [4, 4]
    assert len(told) == 2
    shown = study.show(results)
    assert "± 0.0" in shown.text
    assert [row["row"]["title"] for row in shown.found["rows"]] == ["a"]
    page = study.page(shown, results)
    assert "kgflow reproduce mine --scale half --seeds 2" in page
    assert plans[1].command in page


def test_means_spreads_and_differences():
    row = Row("mine", "world", "nfe-1", "f", (0.5, 0.4, 0.6))
    train = Plan("world", "nfe-1", ("train", "world"))
    numbers = [(0.50, 0.41, 0.60), (0.54, 0.43, 0.64)]
    results = tuple(Result(train, 8, *n, epochs=3, seconds=10.0) for n in numbers)
    line = comparison([Measured(row, results)]).splitlines()[-1]
    assert "| 0.520 ± 0.028 | 0.500 | +0.020 |" in line
    assert "`kgflow train world`" in line
    skipped = Measured(row, (Result(train, skipped="no data"),))
    assert "| – | 0.500 | – |" in comparison([skipped])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("table3",), "did you mean table"),
        (("nonsense",), "confidence, table1, table2, table5"),
        (("small", "--seeds", "2"), "small has one scale and one seed: leave --scale"),
        (("figures", "--scale", "half"), "figures has one scale and one seed: leave --scale"),
        (("table1", "--scale", "eighth"), "unknown scale 'eighth': give paper, half, quarter"),
        (("table2", "--model", "distmult"), "has no row"),
        (("table5",), "in a checkout"),
    ],
)
def test_the_command_refuses(words, said, tmp_path, monkeypatch, capsys):
    from kgflow.cli import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["kgflow", "reproduce", *words])
    assert app._run() == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
