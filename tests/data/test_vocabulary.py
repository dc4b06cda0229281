import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgflow.data import Vocabulary
from kgflow.errors import KgflowError


@given(st.lists(st.text(), unique=True))
def test_ids_and_names_are_inverse(names):
    vocabulary = Vocabulary(names)
    assert list(vocabulary) == names
    assert len(vocabulary) == len(names)
    assert vocabulary.ids(names).tolist() == list(range(len(names)))
    assert vocabulary.ids(names).dtype == np.int64
    assert all(name in vocabulary for name in names)


def test_a_name_twice_is_refused():
    with pytest.raises(KgflowError, match="'b' occurs twice"):
        Vocabulary(["a", "b", "b"])


def test_an_unknown_name_gets_suggestions():
    with pytest.raises(KgflowError, match=r"unknown relation 'bordres'; did you mean borders\?"):
        Vocabulary(["borders", "capital_of"], kind="relation").id("bordres")


@pytest.mark.parametrize("typo", ["Timbuktoo", "Timbukt", "timbuktu", "Tmibuktu", "Timbuk2"])
def test_a_large_vocabulary_suggests_too(typo):
    vocabulary = Vocabulary([*(f"Q{i}" for i in range(30_000)), "Timbuktu"])
    with pytest.raises(KgflowError, match=r"did you mean Timbuktu"):
        vocabulary.id(typo)
