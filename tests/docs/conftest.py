"""The documentation site, built once."""

import fcntl
import subprocess
import sys

import pytest

from prepare import BUILD, ROOT, everything


@pytest.fixture(scope="session")
def site():
    """Directory of the built site; a build of the same sources is used again."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other processes of the tests wait
        stamp = BUILD / "built"
        if not stamp.exists() or stamp.read_text() != everything():
            command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs"]
            done = subprocess.run(
                [*command, BUILD / "html"], cwd=ROOT, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
    return BUILD / "html"
