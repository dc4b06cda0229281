"""What every folder of tests may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from browser import browser
from kgflow.data import Dataset, load

# Laws say nothing of time: on a busy machine any example may be slow.
settings.register_profile("laws", deadline=None)
settings.load_profile("laws")


@pytest.fixture
def shared():
    """Load a benchmark data set, or skip the test."""

    def _load(name: str) -> Dataset:
        if not (Path(os.environ.get("KGFLOW_DATA", "")) / name).is_dir():
            pytest.skip(f"{name} is missing: set KGFLOW_DATA to the folder of the benchmarks")
        return load(name)

    return _load


@pytest.fixture(scope="module")
def chromium():
    """A headless browser, or skip the test.

    Not for longer than a module: while it runs, so does an event loop, and no other can.
    """
    with browser() as running:
        yield running
