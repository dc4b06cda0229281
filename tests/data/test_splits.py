import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgflow.data import SPLITS, Dataset, Triples, Vocabulary, resplit
from kgflow.errors import KgflowError


def dataset(triples):
    """A data set of these triples, named after their ids, all in train."""
    kept, _ = triples.unique()
    return Dataset("any", Vocabulary("abcdef"), Vocabulary("rst", "relation"), train=kept)


def facts(data, *splits):
    """The triples of some splits by name, with their weights."""
    return {
        (data.entities[h], data.relations[r], data.entities[t]): weight
        for s in splits
        for (h, r, t), weight in zip(data.split(s).array(), data.split(s).weights(), strict=True)
    }


shares = st.sampled_from([0, 0.05, 0.2, 0.4])
given_graph = given(st.from_type(Triples), shares, shares, st.integers(0, 9))


@given_graph
def test_splits_are_disjoint_and_together_everything(triples, valid, test, seed):
    before = dataset(triples)
    after = resplit(before, valid, test, seed)
    assert facts(after, *SPLITS) == facts(before, "train")
    assert sum(len(after.split(s)) for s in SPLITS) == len(before.train)


@given_graph
def test_nothing_in_valid_or_test_is_unseen(triples, valid, test, seed):
    after = resplit(dataset(triples), valid, test, seed)
    entities, relations = after.train.entity_mask(6), after.train.relation_mask(3)
    for held in (after.valid, after.test):
        assert entities[held.h].all()
        assert entities[held.t].all()
        assert relations[held.r].all()


@given_graph
def test_sizes_are_as_requested_or_there_is_a_notice(triples, valid, test, seed):
    before = dataset(triples)
    after = resplit(before, valid, test, seed)
    wanted = [int(np.ceil(len(before.train) * share)) for share in (valid, test)]
    reached = [len(after.valid), len(after.test)] == wanted
    assert reached == (after.notices == ())


@given_graph
def test_ids_follow_first_appearance(triples, valid, test, seed):
    after = resplit(dataset(triples), valid, test, seed)
    cells = np.concatenate([after.split(s).array() for s in SPLITS])
    for column in (cells[:, [0, 2]].ravel(), cells[:, 1]):
        seen = list(dict.fromkeys(column.tolist()))
        assert seen == list(range(len(seen)))


def test_a_tree_cannot_be_split():
    tree = dataset(Triples.of([(0, 0, 1), (0, 0, 2), (0, 0, 3)]))
    after = resplit(tree)
    assert (len(after.train), len(after.valid), len(after.test)) == (3, 0, 0)
    assert "could be held out" in after.notices[0]


@pytest.mark.parametrize("shares", [(0.5, 0.5), (-0.1, 0.1), (0, 1)])
def test_shares_must_leave_training_triples(shares):
    with pytest.raises(KgflowError, match="leave nothing to train on"):
        resplit(dataset(Triples.of([(0, 0, 1)])), *shares)
