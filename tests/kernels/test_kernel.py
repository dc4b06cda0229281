"""The 1-vs-all kernel: grouped = ungrouped, any block size, any model, value and gradient."""

import numpy as np
import pytest
import torch
from torch.nn.functional import softplus

from graphs import ALL_MODELS, batch_of, random_graph, random_model
from kgflow.kernels import AutogradKeys, LogisticKernel, Targets, WholeGradient
from kgflow.training import Batch, OneVsAll

MARGIN = 1.5


def ungrouped(model, data):
    """The paper's loss, triple by triple and entity by entity, both directions."""
    R, E = len(data.relations), len(data.entities)
    weight = data.train.weights()
    total, count = torch.zeros((), dtype=torch.float64), 0
    everyone = torch.arange(E)
    for (h, r, t), w in zip(data.train.array().tolist(), weight.tolist(), strict=True):
        for head, relation, tail in ((h, r, t), (t, r + R, h)):
            ids = torch.full((E,), head), torch.full((E,), relation)
            logit = MARGIN + model.score(*ids, everyone)
            sign = torch.full((E,), -1.0)
            sign[tail] = 1.0
            total = total + w * softplus(-sign * logit).sum()
            count += 1
    return total / count


def one_vs_all(Q, a, table, encode, targets, block=2048):
    """The kernel's loss, and its gradients by Q, a and the table."""
    kernel, out = LogisticKernel(AutogradKeys(encode), block=block), torch.empty_like(table)
    return (*kernel(Q, a, table, targets, WholeGradient(out)), out)


def by_step(loss, batch):
    loss.model.zero_grad()
    return loss.backward(batch), [p.grad.clone() for p in loss.model.parameters()]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [1, 5, 100])
@pytest.mark.parametrize("name", ALL_MODELS)
def test_grouped_equals_ungrouped(name, block, weighted):
    data = random_graph(entities=7, facts=25, held_out=1, weighted=weighted)
    model = random_model(name, data)
    loss = OneVsAll(model, data.queries("train"), MARGIN, block=block)
    value, found = by_step(loss, batch_of(loss))
    expected = ungrouped(model, data)
    assert value == pytest.approx(expected.item(), rel=1e-9)
    wanted = torch.autograd.grad(expected, list(model.parameters()))
    for got, want in zip(found, wanted, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-7, atol=1e-10)


def soft_targets(entities, queries):
    row = torch.arange(queries).repeat_interleave(2)
    column = torch.stack([torch.arange(queries) % entities, (torch.arange(queries) + 3) % entities])
    y = torch.linspace(0.1, 0.9, 2 * queries, dtype=torch.float64)
    return Targets(torch.linspace(0.5, 2, queries, dtype=torch.float64), row, column.T.flatten(), y)


def test_any_c_and_y_against_autograd_through_the_whole_matrix():
    data = random_graph()
    model = random_model("nfe-2", data)
    targets = soft_targets(len(data.entities), 6)
    query = model.query(torch.arange(6), torch.arange(6) % 3)
    leaves = [x.detach().requires_grad_() for x in (*query, model.entity.weight)]
    Q, a, table = leaves
    got = one_vs_all(*leaves, model.encode_keys, targets, block=4)
    keys = model.encode_keys(table)
    S = Q @ keys.K.T + a[:, None] + keys.b
    want = (targets.c[:, None] * softplus(S)).sum() - (
        targets.y * S[targets.row, targets.column]
    ).sum()
    for x, y in zip(got, [want, *torch.autograd.grad(want, leaves)], strict=True):
        torch.testing.assert_close(x, y)


def test_single_precision_stays_near_double():
    data = random_graph(entities=300, facts=2000)
    double = random_model("nfe-1", data, dim=64, spread=0.3)
    single = random_model("nfe-1", data, dim=64, spread=0.3, dtype=torch.float32)
    single.load_state_dict({k: v.float() for k, v in double.state_dict().items()})
    queries = data.queries("train")
    batch = Batch.of_queries(queries, np.arange(len(queries)))
    (a, exact), (b, near) = (
        by_step(OneVsAll(m, queries, 2.0, block=128), batch) for m in (double, single)
    )
    assert b == pytest.approx(a, rel=1e-5)
    for x, y in zip(exact, near, strict=True):
        assert (x - y.double()).norm() <= 1e-4 * x.norm()


def test_extreme_scores_give_finite_loss_and_gradient():
    K, Q = torch.tensor([[1e4], [-1e4], [0.0]]), torch.tensor([[1e3]])
    true = Targets(torch.ones(1), torch.tensor([0]), torch.tensor([1]), torch.ones(1))
    found = one_vs_all(Q, torch.zeros(1), K, lambda rows: (rows, rows[:, 0] * 0), true)
    assert found[0].item() == pytest.approx(2e7, rel=1e-6)
    assert all(torch.isfinite(x).all() for x in found)
