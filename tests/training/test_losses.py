"""Every loss is its definition, in value and gradient, and its quick step is its slow one."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import softplus

from graphs import batch_of, build, by_autograd, random_graph, random_model
from kgflow.data import QueryIndex, Triples
from kgflow.errors import KgflowError
from kgflow.kernels import AutogradKeys, SoftmaxKernel, WholeGradient
from kgflow.training import (
    Batch,
    KvsAll,
    MarginRanking,
    OneVsAll,
    RelationPrediction,
    SampledSoftmax,
    SelfAdversarial,
    Softmax,
    Sum,
)
from kgflow.training.losses.negative_sampling import bernoulli, corrupt_both, corrupt_tails
from kgflow.training.optimizers import AdamSettings, RowAdam
from kgflow.training.regularizers import N3, Dura, Ivr

# A matrix product with a quick map of keys, one with none, an inner product, a pairwise one.
MODELS = ["nfe-1", "nfe-3", "distmult", "transe norm=l1"]
ROWS = np.array([3, 0, 11, 5])


def everyone(model, h, r):
    E = len(model.entity)
    return model.score(torch.full((E,), h), torch.full((E,), r), torch.arange(E))


def queries(index, rows):
    """Query by query: head, relation, tails, their weights."""
    for row in rows:
        _, tails, weights = index.gather([row])
        weights = [1.0] * len(tails) if weights is None else weights.tolist()
        yield int(index.h[row]), int(index.r[row]), tails.tolist(), weights


def triples(index, rows):
    """Triple by triple, each with its share of the batch."""
    found = [
        (h, r, t, w) for h, r, ts, ws in queries(index, rows) for t, w in zip(ts, ws, strict=True)
    ]
    return [(h, r, t, w / len(found)) for h, r, t, w in found]


def softmax(model, index, rows):
    total = 0.0
    for h, r, t, share in triples(index, rows):
        s = everyone(model, h, r)
        total = total + share * (torch.log(sum(torch.exp(x) for x in s)) - s[t])
    return total


def kvsall(model, index, rows, margin=1.5, smoothing=0.2):
    total = 0.0
    for h, r, tails, weights in queries(index, rows):
        s = everyone(model, h, r) + margin
        y = torch.zeros(len(s), dtype=s.dtype)
        for t, w in zip(tails, weights, strict=True):
            y[t] = w
        z = (1 - smoothing) * y + smoothing / len(s)
        total = total + (z * softplus(-s) + (1 - z) * softplus(s)).sum()
    return total / len(rows)


FULL = {
    "softmax": (lambda m, i, **k: Softmax(m, i, **k), softmax),
    "kvsall": (lambda m, i, **k: KvsAll(m, i, 1.5, label_smoothing=0.2, **k), kvsall),
}


def gradients(model, value):
    model.zero_grad()
    value.backward()
    return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()]


def by_step(loss, rows, seed=0):
    torch.manual_seed(seed)
    loss.model.zero_grad()
    loss.model.entity.weight.grad = torch.full_like(loss.model.entity.weight, torch.nan)
    value = loss.backward(batch_of(loss, rows))
    return value, [
        torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in loss.model.parameters()
    ]


def same(model, loss, expected, rows=ROWS, seed=0):
    """The loss, called or stepped, is what is expected, in value and gradient."""
    torch.manual_seed(seed)
    called = by_autograd(loss, batch_of(loss, rows))
    want = gradients(model, expected)
    for value, found in ((called.item(), gradients(model, called)), by_step(loss, rows, seed)):
        assert value == pytest.approx(expected.item(), rel=1e-9)
        for got, w in zip(found, want, strict=True):
            torch.testing.assert_close(got, w, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [3, 100])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", FULL)
def test_against_all_entities(name, model, block, weighted):
    data = random_graph(weighted=weighted)
    model, index = random_model(model, data, dim=4, spread=0.7), data.queries("train")
    make, naive = FULL[name]
    same(model, make(model, index, block=block), naive(model, index, ROWS))


def test_softmax_that_keeps_no_scores_is_the_same():
    data = random_graph()
    model = random_model("nfe-2", data)
    loss = Softmax(model, data.queries("train"), block=5)
    query, targets = (
        model.query(torch.arange(4), torch.arange(4) % 3),
        loss.targets(batch_of(loss, ROWS)),
    )
    found = []
    for keep in (0, 10**9):
        out = torch.empty_like(model.entity.weight)
        kernel = SoftmaxKernel(AutogradKeys(model.encode_keys), block=5, stored=keep)
        found.append((*kernel(*query, model.entity.weight, targets, WholeGradient(out)), out))
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


def test_softmax_of_extreme_scores_is_finite():
    data = random_graph()
    model = random_model("distmult", data, spread=100.0, dtype=torch.float32)
    value, found = by_step(Softmax(model, data.queries("train"), block=4), ROWS)
    assert math.isfinite(value)
    assert all(torch.isfinite(g).all() for g in found)
    model.entity.weight.data[2] = torch.nan
    loss = Softmax(model, data.queries("train"))
    assert math.isnan(loss.backward(batch_of(loss, ROWS)))


# --- samples ------------------------------------------------------------------------------------

SIDES = {"tails": corrupt_tails, "both": corrupt_both, "bernoulli": bernoulli}


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("alpha", [None, 1.0, 0.0, 2.5])
def test_negative_sampling(alpha, model, sides):
    """Margin ranking, or with an α the self-adversarial loss."""
    data = random_graph(weighted=True)
    model, index = random_model(model, data, dim=4, spread=0.5), data.queries("train")
    given = (model, index, 1.5, 0.0, 0.0, 3, SIDES[sides])
    loss = MarginRanking(*given) if alpha is None else SelfAdversarial(*given, alpha=alpha)
    torch.manual_seed(7)
    drawn = loss.draw(batch_of(loss, ROWS))
    assert drawn.head.any() == (sides != "tails")
    total = 0.0
    for (h, r, t, share), others, heads in zip(
        triples(index, ROWS), drawn.entity.tolist(), drawn.head.tolist(), strict=True
    ):
        wrong = [(e, r, t) if head else (h, r, e) for e, head in zip(others, heads, strict=True)]
        s, *f = (model.score(*(torch.tensor([x]) for x in one))[0] for one in [(h, r, t), *wrong])
        if alpha is None:
            one = sum(torch.clamp(1.5 - s + x, min=0) for x in f) / 3
        else:
            p = [math.exp(alpha * x.item()) for x in f]
            one = softplus(-s - 1.5) + sum(
                a * softplus(x + 1.5) for a, x in zip(p, f, strict=True)
            ) / sum(p)
        total = total + share * one
    same(model, loss, total, seed=7)


@pytest.mark.parametrize("sides", SIDES)
def test_corrupted_triples_are_no_facts_and_equally_likely(sides):
    data = random_graph(relations=2)
    model, index = random_model("nfe-1", data, dim=2), data.queries("train")
    loss = MarginRanking(model, index, 1.0, num_negatives=4000, corruption=SIDES[sides])
    torch.manual_seed(1)
    facts, entity, head = loss.draw(batch_of(loss, ROWS[:1]))
    (h, r, t), ids = (int(x[0]) for x in facts[:3]), np.arange(17)
    for known, chosen in (
        (index.contains(h, r, ids), entity[0][~head[0]]),
        (index.contains(ids, r, t), entity[0][head[0]]),
    ):
        counts, mean = np.bincount(chosen, minlength=17), len(chosen) / (~known).sum()
        assert known.any()
        assert not counts[known].any()
        assert (abs(counts[~known] - mean) <= 5 * mean**0.5).all()


def test_where_all_triples_are_facts_some_stay():
    index = QueryIndex.build(Triples.of([(h, 0, t) for h in range(3) for t in range(3)]), 3, 1)
    loss = MarginRanking(
        build("nfe-1", 3, 2, 2), index, 1.0, num_negatives=4, corruption=corrupt_both
    )
    assert math.isfinite(loss.backward(batch_of(loss)))


@pytest.mark.parametrize("model", MODELS)
def test_a_sample_of_all_entities_is_the_whole_loss(model):
    data = random_graph(weighted=True)
    model, index = random_model(model, data, dim=4), data.queries("train")
    same(
        model,
        SampledSoftmax(model, index, num_negatives=10**6),
        by_autograd(Softmax(model, index), Batch.of_queries(index, ROWS)),
    )


def test_a_sample_of_some_entities_is_the_cross_entropy_among_them():
    """By hand: what is true, and what was drawn, as many times as there are entities for one."""
    data = random_graph()
    model, index = random_model("nfe-1", data, dim=3), data.queries("train")
    loss, total = SampledSoftmax(model, index, num_negatives=7), 0.0
    torch.manual_seed(0)
    drawn = loss.draw(batch_of(loss, ROWS)).entities.tolist()
    for h, r, t, share in triples(index, ROWS):
        tails = {k for a, b, k, _ in triples(index, ROWS) if (a, b) == (h, r)}
        others = [k for k in drawn if k not in tails]
        weight = [1.0] * len(tails) + [index.entities / 7] * len(others)
        ids = torch.tensor([*tails, *others])
        s = model.score(torch.full_like(ids, h), torch.full_like(ids, r), ids)
        at = (ids == t).nonzero().item()
        total = total + share * ((s.exp() * s.new_tensor(weight)).sum().log() - s[at])
    torch.manual_seed(0)
    assert loss.backward(batch_of(loss, ROWS)) == pytest.approx(total.item())


def test_bernoulli_is_by_hand():
    data = random_graph()
    index, R = data.queries("train"), len(data.relations)
    facts = data.train.array()
    for r, share in enumerate(bernoulli(index).tolist()):
        h, t = (0, 2) if r < R else (2, 0)
        mine = facts[facts[:, 1] == r % R]
        tph, hpt = (len(mine) / len(np.unique(mine[:, side])) for side in (h, t))
        assert share == pytest.approx(tph / (tph + hpt))


# --- terms --------------------------------------------------------------------------------------


def n3(model, h, r, t):
    def cubes(table, row):
        parts = [p.tolist() for p in table.split(row.detach())]
        return sum(math.hypot(*coordinate) ** 3 for coordinate in zip(*parts, strict=True))

    return cubes(model.entity, h) + cubes(model.relation, r) + cubes(model.entity, t)


def dura(model, h, r, t):
    if model.name == "distmult":
        return ((h * r) ** 2).sum() + (t**2).sum()
    if model.name == "rescal":
        return ((h @ r.view(len(h), len(h))) ** 2).sum() + (t**2).sum()
    (h_mu, h_sigma), (r_mu, r_sigma) = model.entity.split(h), model.relation.split(r)
    q = (r_sigma * h_mu + r_mu) ** 2 + (r_sigma * h_sigma) ** 2
    return q.sum() + (t**2).sum()


@pytest.mark.parametrize(
    ("kind", "naive", "names"),
    [
        (N3, n3, ["nfe-1", "complex", "distmult"]),
        (Dura, dura, ["nfe-1", "distmult", "rescal"]),
    ],
)
def test_regularizers(kind, naive, names):
    data = random_graph(weighted=True)
    index = data.queries("train")
    for name in names:
        model = random_model(name, data, dim=8)
        base = OneVsAll(model, index, 1.5)
        total = by_autograd(base, batch_of(base, ROWS))
        for h, r, t, share in triples(index, ROWS):
            ids = (torch.tensor(x) for x in (h, r, t))
            tables = (model.entity, model.relation, model.entity)
            rows = [table(i) for table, i in zip(tables, ids, strict=True)]
            total = total + 0.3 * share * naive(model, *rows)
        loss = Sum(base, [kind(model, 0.3)])
        if kind is N3:
            called = by_autograd(loss, batch_of(loss, ROWS))
            assert called.item() == pytest.approx(total.item())
            value, found = by_step(loss, ROWS)
            assert value == pytest.approx(called.item())
            for got, want in zip(found, gradients(model, called), strict=True):
                torch.testing.assert_close(got, want)
        else:
            same(model, loss, total)


def test_n3_has_the_slope_of_a_cube():
    data = random_graph()
    model = random_model("distmult", data, dim=4)
    value = Sum(OneVsAll(model, data.queries("train"), 0.0), [N3(model, 1.0)])
    plain = by_step(value.loss, ROWS)[1]
    found = by_step(value, ROWS)[1]
    facts = triples(value.index, ROWS)
    want = torch.zeros_like(model.relation.weight)
    for _, r, _, share in facts:
        x = model.relation.weight.detach()[r]
        want[r] += share * 3 * x * x.abs()
    torch.testing.assert_close(found[1] - plain[1], want)


@pytest.mark.parametrize("name", ["complex", "distmult", "nfe-1"])
def test_ivr(name):
    """Moduli of products, taken of the products of complex numbers themselves."""
    data = random_graph(weighted=True)
    index, model = data.queries("train"), random_model(name, data, dim=8)
    base = OneVsAll(model, index, 1.5)
    total = by_autograd(base, batch_of(base, ROWS))
    for h, r, t, share in triples(index, ROWS):
        tables = (model.entity, model.relation, model.entity)
        parts = (x.split(x(torch.tensor(i))) for x, i in zip(tables, (h, r, t), strict=True))
        h, r, t = (torch.complex(*p) if len(p) == 2 else p[0] for p in parts)
        alone, pairs = (h, r, t), (h * r, r * t, t * h)
        total = total + share * 0.3 * sum(x.abs().pow(2.25).sum() for x in alone)
        total = total + share * 0.7 * sum(x.abs().pow(2.25).sum() for x in pairs)
    same(model, Sum(base, [Ivr(model, 0.3, 0.7, 2.25)]), total)


def test_ivr_without_products_is_n3_and_needs_one_size_for_them():
    data = random_graph()
    index, model = data.queries("train"), random_model("complex", data, dim=8)
    values = [
        by_step(Sum(Softmax(model, index), [term]), ROWS)[0]
        for term in (N3(model, 0.2), Ivr(model, 0.2, 0.0, 3.0))
    ]
    assert values[0] == pytest.approx(values[1])
    with pytest.raises(KgflowError, match="rescal differ in size: regularize by n3"):
        Ivr(random_model("rescal", data), 0.1, 0.1, 3.0)


def test_dura_needs_a_matrix_product():
    with pytest.raises(KgflowError, match="regularize by n3"):
        Dura(random_model("transe norm=l1", random_graph()), 0.1)


AT_ONCE = ["nfe-1-mu", "nfe-1-sigma", "nfe-1-complex", "nfe-point", "transe", "complex"]


@pytest.mark.parametrize("model", [*MODELS, *AT_ONCE])
def test_relation_prediction(model):
    data = random_graph(weighted=True)
    model, index = random_model(model, data, dim=4, spread=0.7), data.queries("train")
    base = Softmax(model, index)
    total, R = by_autograd(base, batch_of(base, ROWS)), torch.arange(len(model.relation))
    for h, r, t, share in triples(index, ROWS):
        s = model.score(torch.full_like(R, h), R, torch.full_like(R, t))
        total = total + 0.3 * share * (torch.log(sum(torch.exp(x) for x in s)) - s[r])
    same(model, Sum(base, [RelationPrediction(model, 0.3)]), total)


LOSSES = {
    "softmax": lambda m, i: Softmax(m, i),
    "kvsall": lambda m, i: KvsAll(m, i, 1.0, label_smoothing=0.1),
    "sampled-softmax": lambda m, i: SampledSoftmax(m, i, num_negatives=6),
    "negatives": lambda m, i: SelfAdversarial(m, i, 1.0, num_negatives=2, corruption=corrupt_both),
    "terms": lambda m, i: Sum(Softmax(m, i), [Dura(m, 0.1), RelationPrediction(m, 0.2)]),
    "terms of a sample": lambda m, i: Sum(SampledSoftmax(m, i, num_negatives=6), [N3(m, 0.1)]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_updating_rows_at_once_is_a_step_of_adam(name):
    data = random_graph()
    models = [random_model("nfe-1", data, dim=4, spread=0.5) for _ in range(2)]
    optimizers = [torch.optim.Adam(m.parameters(), lr=0.01, fused=True) for m in models]
    losses = [LOSSES[name](m, data.queries("train")) for m in models]
    rows = RowAdam(optimizers[0], models[0].entity.weight, AdamSettings().initial_state)
    for number in range(4):
        batch = batch_of(losses[0], np.arange(number, len(losses[0].index), 2))
        for optimizer, loss, update in zip(optimizers, losses, (rows, None), strict=True):
            optimizer.zero_grad()
            torch.manual_seed(number)
            loss.backward(batch, update=update)
            optimizer.step()
    for one, other in zip(*(m.parameters() for m in models), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_what_is_reported_is_the_whole_sum_or_nothing():
    """A softmax knows its value even where nobody asked: then the terms' belong to it, too."""
    data = random_graph()
    model, index = random_model("nfe-1", data, dim=4), data.queries("train")
    for base in (Softmax(model, index), OneVsAll(model, index, 1.0)):
        loss = Sum(base, [N3(model, 0.5)])
        whole, told = (
            by_autograd(loss, batch_of(loss, ROWS)).item(),
            loss.backward(batch_of(loss, ROWS), value=False),
        )
        assert told is None or told == pytest.approx(whole)
        assert loss.backward(batch_of(loss, ROWS)) == pytest.approx(whole)


DROPPED = [
    lambda m, i, **k: OneVsAll(m, i, 1.0, **k),
    lambda m, i, **k: Softmax(m, i, **k),
    lambda m, i, **k: KvsAll(m, i, 1.0, **k),
    lambda m, i, **k: SampledSoftmax(m, i, num_negatives=10**6, **k),
    lambda m, i, **k: MarginRanking(m, i, 1.0, num_negatives=4, corruption=corrupt_tails, **k),
]


@pytest.mark.parametrize("make", DROPPED)
@pytest.mark.parametrize("knob", ["dropout", "query_dropout"])
def test_dropout_changes_training_only(make, knob):
    data = random_graph()
    model, index = random_model("nfe-1", data), data.queries("train")

    def values(**knobs):
        found = []
        for training in (False, True):
            model.train(training)
            torch.manual_seed(0)
            found.append(make(model, index, **knobs).backward(Batch.of_queries(index, ROWS)))
        return found

    plain, dropped = values(), values(**{knob: 0.5})
    assert plain[0] == plain[1] == dropped[0]
    assert dropped[1] != plain[1]


def test_query_dropout_keeps_the_mean_of_the_scores():
    data = random_graph()
    model = random_model("nfe-1", data, dim=4)
    loss = OneVsAll(model, data.queries("train"), 0.0, query_dropout=0.25)
    model.train()
    heads = model.entity(loss.tensor(loss.index.h[ROWS]))
    relations = loss.tensor(loss.index.r[ROWS])
    torch.manual_seed(0)
    mean = torch.stack([loss.query(heads, relations)[0] for _ in range(800)]).mean(0)
    model.eval()
    torch.testing.assert_close(mean, loss.query(heads, relations)[0], atol=0.1, rtol=0.1)
