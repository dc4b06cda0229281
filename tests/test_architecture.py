"""The dependency rule of the house: data flows from left to right, and nobody walks back."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kgflow

HOUSE = Path(kgflow.__file__).parent
LEAVES = {"errors"}
MAY_IMPORT = {
    "errors": set(),
    "data": LEAVES,
    "algebra": LEAVES,
    "engine": set(),
    "models": {"algebra"} | LEAVES,
    "training": {"algebra", "data", "models", "engine"} | LEAVES,
    "evaluation": {"data", "models", "engine"} | LEAVES,
    "config": LEAVES,
    "store": {"config", "data", "training"} | LEAVES,
    "prediction": {"data", "evaluation", "models", "engine"} | LEAVES,
    "discovery": {"engine", "evaluation", "prediction"} | LEAVES,
    "calibrated": {"data", "evaluation", "models", "training"} | LEAVES,
    "answer_set": {"evaluation", "prediction"} | LEAVES,
    "recipe": {"config", "data", "engine", "models", "training"} | LEAVES,
    "run": {
        "answer_set",
        "calibrated",
        "recipe",
        "config",
        "data",
        "discovery",
        "evaluation",
        "prediction",
        "store",
        "training",
    }
    | LEAVES,
    "experiment": {
        "config",
        "data",
        "evaluation",
        "models",
        "recipe",
        "run",
        "store",
        "training",
    }
    | LEAVES,
    "combination": {"config", "experiment", "models", "run", "store", "training"} | LEAVES,
    "kept": {"provenance", "store", "training"},
    "reproduction": {"config", "data", "kept", "store", "training"} | LEAVES,
    "studies": {
        "config",
        "data",
        "experiment",
        "insight",
        "kept",
        "models",
        "provenance",
        "recipe",
        "reproduction",
        "run",
        "store",
        "training",
    }
    | LEAVES,
    "tuning": {"config", "data", "experiment", "models", "training"} | LEAVES,
    "provenance": set(),
    "client": LEAVES,
    "exporting": {"data", "run", "serving"} | LEAVES,
    "serving": {"calibrated", "data", "engine", "insight", "prediction", "run", "training"}
    | LEAVES,
    "insight": {
        "algebra",
        "data",
        "evaluation",
        "models",
        "prediction",
        "provenance",
        "run",
        "training",
    }
    | LEAVES,
}


def imported(path):
    """The parts of kgflow that a module imports, whole or inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            if name.startswith("kgflow."):
                yield name.split(".")[1]


def part(path):
    return path.relative_to(HOUSE).with_suffix("").parts[0]


MODULES = sorted(p for p in HOUSE.rglob("*.py") if part(p) not in ("cli", "__init__", "__main__"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(HOUSE)))
def test_modules_import_only_what_stands_before_them(path):
    allowed = MAY_IMPORT[part(path)] | {part(path)}
    assert set(imported(path)) <= allowed


def loaded_by(statement):
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


def test_help_loads_no_torch_and_data_loads_no_polars():
    assert not {"torch", "polars", "numpy"} & set(loaded_by("import kgflow.cli"))
    assert not {"torch", "polars"} & set(loaded_by("import kgflow.data"))


def test_public_names_resolve():
    for name in kgflow.__all__:
        assert getattr(kgflow, name) is not None
    assert set(dir(kgflow)) == set(kgflow.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        kgflow.nonsense  # noqa: B018
