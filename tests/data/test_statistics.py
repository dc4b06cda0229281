import json
from collections import Counter, defaultdict
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgflow.data import SPLITS, Dataset, Triples, Vocabulary, describe

few = settings(max_examples=50, deadline=None)
any_triples = st.from_type(Triples).map(lambda triples: triples.unique()[0])
any_dataset = st.builds(
    Dataset,
    st.just("any"),
    st.just(Vocabulary("abcdef")),
    st.just(Vocabulary("rst", "relation")),
    any_triples,
    any_triples,
    any_triples,
)


def facts(dataset, split):
    return {tuple(row) for row in dataset.split(split).array().tolist()}


@few
@given(any_dataset)
def test_counts_agree_with_a_plain_loop(dataset):
    found = describe(dataset)
    splits = {split: facts(dataset, split) for split in SPLITS}
    assert found.sizes == {split: len(splits[split]) for split in SPLITS}
    assert found.shared == {
        f"{a}+{b}": len(splits[a] & splits[b]) for a, b in combinations(SPLITS, 2)
    }
    degree = Counter(e for h, _, t in splits["train"] for e in (h, t))
    degrees = sorted(degree[i] for i in range(6))
    assert (found.degrees.min, found.degrees.max) == (degrees[0], degrees[-1])
    assert found.degrees.mean == pytest.approx(sum(degrees) / 6)
    assert found.degrees.median == (degrees[2] + degrees[3]) / 2


@few
@given(any_dataset)
def test_unseen_agrees_with_a_plain_loop(dataset):
    train = facts(dataset, "train")
    entities, relations = {e for h, _, t in train for e in (h, t)}, {r for _, r, _ in train}
    for split, found in describe(dataset).unseen.items():
        held = facts(dataset, split)
        assert found.entities == len({e for h, _, t in held for e in (h, t)} - entities)
        assert found.relations == len({r for _, r, _ in held} - relations)
        assert found.triples == sum(not ({h, t} <= entities and r in relations) for h, r, t in held)


@few
@given(any_dataset)
def test_relations_agree_with_a_plain_loop(dataset):
    tails, heads = defaultdict(set), defaultdict(set)
    for h, r, t in facts(dataset, "train"):
        tails[r, h].add(t)
        heads[r, t].add(h)
    for r, found in enumerate(describe(dataset).by_relation):
        each_tails = [len(v) for (s, _), v in tails.items() if s == r]
        each_heads = [len(v) for (s, _), v in heads.items() if s == r]
        assert found.count == sum(each_tails)
        if not each_tails:
            assert found.category == "unseen"
            continue
        tph, hpt = (sum(each) / len(each) for each in (each_tails, each_heads))
        assert (found.tails_per_head, found.heads_per_tail) == pytest.approx((tph, hpt))
        assert found.category == f"{'1' if hpt < 1.5 else 'N'}-{'1' if tph < 1.5 else 'N'}"


@few
@given(any_dataset)
def test_leakage_agrees_with_a_plain_loop(dataset):
    train = facts(dataset, "train")
    by_relation = {r: [(h, t) for h, s, t in train if s == r] for r in range(3)}

    def share(r, s):
        pairs = by_relation[r]
        return sum((t, s, h) in train for h, t in pairs) / len(pairs) if pairs else 0

    found = describe(dataset)
    for split, leakage in found.leakage.items():
        held = facts(dataset, split)
        leaked = [
            any((t, s, h) in train and share(r, s) >= 0.8 for s in range(3)) for h, r, t in held
        ]
        assert leakage == pytest.approx(sum(leaked) / len(held) if held else 0)
    for r, one in enumerate(found.by_relation):
        assert one.symmetry == pytest.approx(share(r, r))
        assert one.inverse_share == pytest.approx(max(share(r, s) for s in range(3) if s != r))
        assert (one.inverse is None) == (one.inverse_share == 0)


@few
@given(any_dataset)
def test_the_dictionary_is_json(dataset):
    found = json.loads(json.dumps(describe(dataset).to_dict()))
    assert found["degrees"].keys() == {"min", "median", "mean", "max"}
    assert [one["name"] for one in found["by_relation"]] == ["r", "s", "t"]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "unseen", "least", "most"),
    [("wn18", 0, 0.9, 1.0), ("wn18rr", 210, 0.0, 0.4), ("fb15k-237", 28, 0.0, 0.01)],
)
def test_known_leakage_of_benchmarks_is_found(name, unseen, least, most, shared):
    found = describe(shared(name))
    assert found.unseen["test"].triples == unseen
    assert least <= found.leakage["test"] <= most
