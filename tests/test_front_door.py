"""The public names are typed: an editor and mypy see them as a user does."""

import subprocess
import sys

PROGRAM = """\
import kgflow

run = kgflow.open("runs/mine")
reveal_type(run)
trained = kgflow.train("world", model="nfe-1", dim=64, epochs=3, settings={"seed": 1})
reveal_type(trained.predict(head="France", relation="borders", k=5))
reveal_type(kgflow.load("world"))
"""


def test_a_five_line_program_passes_mypy_strict(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", file]
    found = subprocess.run(map(str, command), capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
    kinds = [line.split('"')[1] for line in found.stdout.splitlines() if "Revealed" in line]
    assert kinds[0] == "kgflow.runs.run.Run"
    assert kinds[1].startswith("polars.")
    assert kinds[2] == "kgflow.data.dataset.Dataset"


def test_misuse_is_found_by_mypy(tmp_path):
    file = tmp_path / "user.py"
    file.write_text('import kgflow\nkgflow.train("world", dmi=3)\n')
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", file]
    found = subprocess.run(map(str, command), capture_output=True, text=True, check=False)
    assert 'Unexpected keyword argument "dmi"' in found.stdout
