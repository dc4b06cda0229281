"""The dependency rule: packages import only packages before them in the data flow."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kgflow

SOURCE = Path(kgflow.__file__).parent
ROOT = SOURCE.parents[1]
# Packages of one line do not import each other.
LEVELS = """errors
io config
data flows
models kernels
training evaluation
uncertainty
queries
runs
analysis search
serving export tuning interop
cli
__main__ __init__"""
LEVEL = {name: n for n, line in enumerate(LEVELS.splitlines()) for name in line.split()}


def packages(path):
    """Packages that a module imports from kgflow, also inside functions."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)]
    names += [a.name for n in nodes if isinstance(n, ast.Import) for a in n.names]
    assert not [name for name in names if name.split(".")[0] == "reproduce"]
    return {name.split(".")[1] for name in names if name.startswith("kgflow.")}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p)[-40:])
def test_modules_import_earlier_packages_only(path):
    own = path.relative_to(SOURCE).with_suffix("").parts[0]
    assert not [other for other in packages(path) - {own} if LEVEL[other] >= LEVEL[own]]


def test_help_loads_no_torch_and_data_loads_no_polars():
    for module, unwanted in (
        ("__main__", {"torch", "polars", "numpy"}),
        ("data", {"torch", "polars"}),
    ):
        code = f"import kgflow.{module}, sys; print(*sys.modules)"
        command = [sys.executable, "-c", code]
        loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert not unwanted & set(loaded.split())


def test_public_names_resolve():
    assert all(getattr(kgflow, name) is not None for name in kgflow.__all__)
    assert set(dir(kgflow)) == set(kgflow.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        kgflow.nonsense  # noqa: B018


def test_hooks_have_the_pinned_versions():
    pinned = set((ROOT / "constraints.txt").read_text().splitlines())
    hooks = re.findall(r"[\w-]+==[\d.]+", (ROOT / ".pre-commit-config.yaml").read_text())
    assert hooks
    assert set(hooks) <= pinned
