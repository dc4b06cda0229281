"""Small random graphs for every law of this folder: `st.from_type(Triples)`."""

from pathlib import Path

import pytest
from hypothesis import strategies as st

from kgflow.data import Triples

ENTITIES, RELATIONS = 6, 3


@st.composite
def graphs(draw):
    row = st.tuples(
        st.integers(0, ENTITIES - 1), st.integers(0, RELATIONS - 1), st.integers(0, ENTITIES - 1)
    )
    rows = draw(st.lists(row, max_size=30))
    weight = st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=len(rows), max_size=len(rows))
    return Triples.of(rows, draw(st.none() | weight))


st.register_type_strategy(Triples, graphs())


@pytest.fixture
def write(tmp_path):
    """Write a file of the test's folder and give its path."""

    def _write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write
