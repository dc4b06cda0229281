"""The public names are typed: an editor and mypy see them as a user does."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAM = """\
import kgflow

run = kgflow.open("runs/mine")
reveal_type(run)
trained = kgflow.train("world", model="nfe-1", dim=64, epochs=3, settings={"seed": 1})
reveal_type(trained.predict(head="France", relation="borders", k=5))
reveal_type(kgflow.load("world"))
kgflow.train("world", dmi=3)
"""


def test_mypy_infers_the_types_of_a_program_and_finds_misuse(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(PROGRAM)
    # With the settings and the cache of the repository, checked modules are not checked again.
    command = [sys.executable, "-m", "mypy", "--cache-dir", ".mypy_cache", str(file)]
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    found = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    lines = found.stdout.splitlines()
    kinds = [line.split('"')[1] for line in lines if "Revealed" in line]
    assert kinds[0] == "kgflow.runs.run.Run"
    assert kinds[1].startswith("polars.")
    assert kinds[2] == "kgflow.data.dataset.Dataset"
    (error,) = [line for line in lines if "error:" in line]
    assert "user.py:8:" in error
    assert 'Unexpected keyword argument "dmi"' in error
