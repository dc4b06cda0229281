"""One measurement in one process: `python benchmarks/tasks.py NAME graph=… n=… batch=…`.

Prints one JSON object: seconds per epoch (the median batch, times the number of batches), or of an
evaluation, and the peak memory of the process.
"""

import json
import resource
import statistics
import sys
import time

import torch

from graphs import graph

BUDGET = 12.0
"""Seconds of repeated batches that a measurement takes, after its warm-up."""


def median_seconds(steps, warm=3, least=5):
    """The median time of calling each of `steps`, after a warm-up, within the budget."""
    spent = []
    for number, step in enumerate(steps):
        began = time.perf_counter()
        step()
        if number >= warm:
            spent.append(time.perf_counter() - began)
        if len(spent) >= least and sum(spent) > BUDGET:
            break
    return statistics.median(spent)


def plain_train(name, n, batch):
    import plain

    data = graph(name)
    model = plain.NFE1(len(data.entities), 2 * len(data.relations), n)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    order = plain.batches(data.train.array(), len(data.relations), batch, 0)
    steps = (lambda b=b: plain.step(model, optimizer, b, 2.0) for b in order)
    return {"seconds": median_seconds(steps, warm=2) * len(order)}


def kgflow_train(name, n, batch, model="nfe-1", backward="dense", warm=3):
    from kgflow.engine import Dense, Sparse
    from kgflow.models import build
    from kgflow.training import OneVsAll, batches
    from kgflow.training.row_adam import RowAdam

    data = graph(name)
    torch.manual_seed(0)
    net = build(model, len(data.entities), 2 * len(data.relations), n)
    index = data.queries("train")
    optimizer = torch.optim.Adam(net.parameters(), lr=0.003 if n < 1000 else 0.001, fused=True)
    pullback = {"dense": Dense, "sparse": Sparse}[backward]()
    loss = OneVsAll(net, index, 2.0, pullback=pullback)
    update = RowAdam(optimizer, net.entity.weight)
    order = batches(index, batch, 0, 0)
    again = [rows for epoch in range(1, 4) for rows in batches(index, batch, 0, epoch)]

    def step(number, rows):
        optimizer.zero_grad()
        loss.backward(rows, number % 8 == 0, update)
        optimizer.step()

    steps = (lambda i=i, rows=rows: step(i, rows) for i, rows in enumerate([*order, *again]))
    width = net.entity.weight.shape[1]
    state = 4 * sum(p.numel() for p in net.parameters()) * 4
    return {
        "seconds": median_seconds(steps, warm=warm, least=16) * len(order),
        "work": 6 * len(index) * len(data.entities) * width,
        "state": state,
    }


def matrix_product(name, n, batch):
    """The three products of a dense step at the same shapes; operations per second."""
    data = graph(name)
    index = data.queries("train")
    B = round(batch * len(index) / len(index.tails))
    E, m = len(data.entities), 2 * n
    Q, K, S = torch.randn(B, m), torch.randn(E, m), torch.empty(B, E)
    grad_Q, grad_K = torch.empty_like(Q), torch.empty_like(K)

    def step():
        torch.mm(Q, K.T, out=S)
        torch.mm(S, K, out=grad_Q)
        torch.mm(S.T, Q, out=grad_K)

    seconds = median_seconds([step] * 400, least=10)
    rate = 6 * B * E * m / seconds
    return {"rate": rate, "seconds": 6 * len(index) * E * m / rate}


def plain_evaluate(name, n, share=0.02):
    import plain

    data = graph(name)
    model = plain.NFE1(len(data.entities), 2 * len(data.relations), n)
    known = data.queries()
    pairs = zip(
        known.h.tolist(), known.r.tolist(), known.offsets[:-1], known.offsets[1:], strict=True
    )
    tails = {(h, r): set(known.tails[a:b].tolist()) for h, r, a, b in pairs}
    test = data.test.array()
    sample = test[: max(20, int(share * len(test)))]
    plain.ranks(model, sample[:20], len(data.relations), tails, 128)
    began = time.perf_counter()
    plain.ranks(model, sample, len(data.relations), tails, 128)
    return {"seconds": (time.perf_counter() - began) * len(test) / len(sample)}


def kgflow_evaluate(name, n, model="nfe-1"):
    from kgflow.evaluation import rank
    from kgflow.models import build

    data = graph(name)
    net = build(model, len(data.entities), 2 * len(data.relations), n)
    questions, known = data.queries("test"), data.queries()
    seconds = median_seconds([lambda: rank(net, questions, known)] * 5, warm=1, least=3)
    return {"seconds": seconds, "work": 2 * len(questions) * len(data.entities) * 2 * n}


def pykeen_train(name, n, batch, batches=6):
    import pykeen_peer

    return {"seconds": pykeen_peer.train(graph(name), n, batch, batches)}


def pykeen_evaluate(name, n, share=0.02):
    import pykeen_peer

    return {"seconds": pykeen_peer.evaluate(graph(name), n, share)}


TASKS = {f.__name__: f for f in (
    plain_train, kgflow_train, matrix_product, plain_evaluate, kgflow_evaluate,
    pykeen_train, pykeen_evaluate,
)}  # fmt: skip


def value(text):
    return (
        int(text)
        if text.isdecimal()
        else float(text)
        if text.replace(".", "").isdecimal()
        else text
    )


if __name__ == "__main__":
    arguments = dict(part.split("=", 1) for part in sys.argv[2:])
    result = TASKS[sys.argv[1]](**{k: value(v) for k, v in arguments.items()})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(result | {"peak": peak}))
