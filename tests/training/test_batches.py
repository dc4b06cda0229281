"""Batches: every fact once, an order of their own each epoch, and the same loss in sum."""

import numpy as np
import pytest
import torch

from graphs import batch_of, by_autograd, random_graph, random_model
from kgflow.training import Batch, KvsAll, OneVsAll, Softmax, epoch_batches
from kgflow.training.batches import BATCHES
from kgflow.training.losses.confidence import CONFIDENCES


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("size", [1, 7, 50, 10_000])
def test_every_fact_once_and_about_size_of_them(kind, size):
    index = random_graph(entities=40, facts=400).queries("train")
    order = epoch_batches(kind, index, size, seed=3, epoch=0)
    assert sorted(np.concatenate(order).tolist()) == list(range(len(index.tails)))
    assert max(map(len, order)) < size + int(index.counts.max())
    steps = -(-len(index.tails) // size)
    assert len(order) <= steps
    if size >= index.counts.max():
        assert len(order) >= steps - 1


@pytest.mark.parametrize("kind", BATCHES)
def test_order_depends_on_seed_and_epoch_only(kind):
    index = random_graph().queries("train")

    def order(seed, epoch):
        return np.concatenate(epoch_batches(kind, index, 9, seed, epoch)).tolist()

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) not in (order(1, 3), order(2, 2))


@pytest.mark.parametrize("kind", BATCHES)
def test_facts_of_a_batch_that_share_a_query_share_a_row(kind):
    data = random_graph(entities=9, facts=200, weighted=True)
    index = data.queries("train")
    query = np.repeat(np.arange(len(index)), index.counts)
    for facts in epoch_batches(kind, index, 40, seed=0, epoch=0):
        batch = Batch.of_facts(index, facts)
        assert len(np.unique(batch.query)) == len(batch.query)
        assert (batch.query[batch.row] == query[facts]).all()
        assert (batch.h == index.h[batch.query]).all()
        assert (batch.r == index.r[batch.query]).all()
        assert (batch.tail == index.tails[facts]).all()
        assert (batch.weight == index.weights[facts]).all()


def test_whole_queries_are_whole():
    index = random_graph(entities=9, facts=200).queries("train")
    for facts in epoch_batches("queries", index, 40, seed=0, epoch=0):
        batch = Batch.of_facts(index, facts)
        assert (np.bincount(batch.row) == index.counts[batch.query]).all()


def test_pieces_give_a_large_query_a_gradient_in_many_batches():
    """One relation has a single query with half of all facts; the other has only small ones."""
    from kgflow.data import QueryIndex, Triples

    facts = [(0, 0, t) for t in range(100)] + [(h, 1, h) for h in range(100)]
    index = QueryIndex.build(Triples.of(facts), 100, 2, inverse_relations=False)

    def batches_with_the_hub(kind):
        order = epoch_batches(kind, index, 20, seed=0, epoch=0)
        return sum(0 in Batch.of_facts(index, facts).r for facts in order), len(order)

    assert batches_with_the_hub("queries") == (1, 6)
    assert batches_with_the_hub("facts") == (10, 10)
    with_hub, number = batches_with_the_hub("pieces")
    assert with_hub >= 6
    assert number == 10


LOSSES = {
    "softmax": Softmax,
    "kvsall": lambda m, i: KvsAll(m, i, 1.5, label_smoothing=0.2),
    **{
        name: lambda m, i, kind=kind: OneVsAll(m, i, 1.5, confidence=kind)
        for name, kind in CONFIDENCES.items()
    },
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("name", LOSSES)
def test_batches_of_an_epoch_add_up_to_the_loss_of_all_facts(name, kind, weighted):
    data = random_graph(entities=9, facts=90, weighted=weighted)
    model, index = random_model("nfe-1", data, dim=4), data.queries("train")
    loss = LOSSES[name](model, index)

    def share(batch):
        """How much of the whole loss, a mean, a batch is."""
        if name != "kvsall":
            return len(batch) / len(index.tails)
        return float((np.bincount(batch.row) / index.counts[batch.query]).sum()) / len(index)

    def gradients(value):
        return torch.autograd.grad(value, list(model.parameters()), allow_unused=True)

    parts = [
        Batch.of_facts(index, facts) for facts in epoch_batches(kind, index, 13, seed=0, epoch=0)
    ]
    assert len(parts) > 1
    whole = by_autograd(loss, batch_of(loss))
    total = sum(by_autograd(loss, part) * share(part) for part in parts)
    assert total.item() == pytest.approx(whole.item(), rel=1e-12)
    for a, b in zip(gradients(total), gradients(whole), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)
