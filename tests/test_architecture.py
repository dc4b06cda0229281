"""The dependency rule: modules import only what stands before them in the data flow."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kgflow

HOUSE = Path(kgflow.__file__).parent
# Each line may import the lines above it; parts of one line, only themselves.
LAYERS = """
errors
io
data flows config kernels
models
training evaluation
uncertainty
runs
analysis
search
serving
export tuning
"""
LEVEL = {part: n for n, line in enumerate(LAYERS.split("\n")) for part in line.split()}


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
    own = part(path)
    for other in set(imported(path)) - {own}:
        assert LEVEL[other] < LEVEL[own]


def test_the_library_does_not_import_the_studies():
    for path in HOUSE.rglob("*.py"):
        assert not re.search(r"^\s*(from|import) reproduce\b", path.read_text(), re.MULTILINE), path


def loaded_by(statement):
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


def test_help_loads_no_torch_and_data_loads_no_polars():
    assert not {"torch", "polars", "numpy"} & set(loaded_by("import kgflow.__main__"))
    assert not {"torch", "polars"} & set(loaded_by("import kgflow.data"))


def test_public_names_resolve():
    for name in kgflow.__all__:
        assert getattr(kgflow, name) is not None
    assert set(dir(kgflow)) == set(kgflow.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        kgflow.nonsense  # noqa: B018


def test_hooks_have_the_pinned_versions():
    root = Path(__file__).parents[1]
    pinned = set((root / "constraints.txt").read_text().splitlines())
    hooks = re.findall(r"[\w-]+==[\d.]+", (root / ".pre-commit-config.yaml").read_text())
    assert hooks
    assert set(hooks) <= pinned
