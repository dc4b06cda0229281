"""Every experiment file loads, builds its model, and holds the published setting."""

from pathlib import Path

import pytest

from kgflow.config import Experiment, read
from kgflow.models import build

ROOT = Path(__file__).parents[2] / "experiments"
OURS = sorted((ROOT / "benchmarks").rglob("*.toml"))
LISTS = sorted((ROOT / "combinations").rglob("*.toml"))
FILES = sorted(path for path in ROOT.rglob("*.toml") if path not in OURS + LISTS)

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
TABLE_2 = [0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16]


def name(path):
    return str(path.relative_to(ROOT).with_suffix(""))


@pytest.mark.parametrize("path", FILES, ids=name)
def test_loads_and_builds(path):
    found = read(Experiment, path)
    assert found.data == path.relative_to(ROOT).parts[0]
    assert found.training.held_out == 0  # the published protocol validates on all
    build(found.model.name, 3, 2, 4, found.model.options)


@pytest.mark.parametrize("path", OURS, ids=name)
def test_ours_load_build_and_say_what_they_are(path):
    found = read(Experiment, path)
    assert found.data == path.parent.name
    build(found.model.name, 3, 2, 4, found.model.options)
    assert path.read_text().startswith("# ")


@pytest.mark.parametrize("key", PUBLISHED)
def test_holds_the_published_setting(key):
    found = read(Experiment, ROOT / f"{key}.toml")
    assert found.model.name == Path(key).name
    training = found.training
    got = (found.model.dim, training.margin, training.batch_size, training.lr, training.decay)
    assert got == PUBLISHED[key]
    assert (training.dropout, training.average) == (0, 0)
    long = {"nfe-1": 150, "nfe-2-paper": 100, "nfe-3-softplus": 100}
    expected = long.get(found.model.name, 50) if found.data == "yago3-10" else 50
    assert training.epochs == expected


def test_table_2_has_every_column():
    files = (ROOT / "wn18rr" / "table-2").glob("*.toml")
    found = [read(Experiment, path) for path in files]
    assert sorted(x.model.options["uncertainty"] for x in found) == TABLE_2
    assert len({x.training for x in found}) == 1


def test_no_file_escapes():
    assert {name(p) for p in FILES if p.parent.name != "table-2"} == set(PUBLISHED)
