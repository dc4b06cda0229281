"""One measurement in one process: `python -m reproduce.speed.tasks NAME name=… n=… batch=…`.

Prints one JSON object: seconds per epoch (the median of a batch times the number of batches) or of
an evaluation, and the peak memory of the process.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from reproduce.speed import peers
from reproduce.speed.peers import graph, missing

BUDGET = 12.0
"""Seconds of repeated batches after the warm-up."""


def median_seconds(steps, warm=3, least=5, budget=BUDGET):
    """Return the median time of the steps, after a warm-up, within the budget."""
    spent = []
    for number, step in enumerate(steps):
        began = time.perf_counter()
        step()
        if number >= warm:
            spent.append(time.perf_counter() - began)
        if len(spent) >= least and sum(spent) > budget:
            break
    return statistics.median(spent)


def peak():
    """Return the peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def plain_train(name, n, batch, budget=BUDGET):
    data = graph(name)
    model = peers.NFE1(len(data.entities), 2 * len(data.relations), n)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    order = peers.batches(data.train.array(), len(data.relations), batch, 0)
    steps = (lambda b=b: peers.step(model, optimizer, b, 2.0) for b in order)
    return {"seconds": median_seconds(steps, warm=2, budget=budget) * len(order)}


class Training:
    """Training steps of kgflow on a graph."""

    def __init__(self, data, n, batch, model="nfe-1", gradient="exact", batches="queries"):
        from kgflow.models import build
        from kgflow.training import Batch, OneVsAll, epoch_batches
        from kgflow.training.losses.one_vs_all import GRADIENTS
        from kgflow.training.optimizers import AdamSettings

        torch.manual_seed(0)
        self.net = build(model, len(data.entities), 2 * len(data.relations), n)
        self.index = data.queries("train")
        adam = AdamSettings(lr=0.003 if n < 1000 else 0.001)
        self.optimizer = adam.build(self.net.parameters())
        self.update = adam.row_update(self.optimizer, self.net.entity.weight)
        self.loss = OneVsAll(self.net, self.index, 2.0, score_gradient=GRADIENTS[gradient]())
        self.epoch = lambda number: [
            Batch.of_facts(self.index, facts)
            for facts in epoch_batches(batches, self.index, batch, 0, number)
        ]

    def step(self, number, batch):
        self.optimizer.zero_grad()
        self.loss.backward(batch, number % 8 == 0, self.update)
        self.optimizer.step()


def kgflow_train(name, n, batch, model="nfe-1", gradient="exact", warm=3, budget=BUDGET):
    data = graph(name)
    data.queries("train")
    # Memory that the libraries themselves take at the first step is not counted.
    tiny = Training(graph("random-500-2000"), 64, 500)
    tiny.step(0, tiny.epoch(0)[0])
    before = peak()
    run = Training(data, n, batch, model, gradient)
    order = [rows for epoch in range(4) for rows in run.epoch(epoch)]
    steps = (lambda i=i, rows=rows: run.step(i, rows) for i, rows in enumerate(order))
    width, count = run.net.entity.weight.shape[1], len(run.epoch(0))
    state = 4 * 4 * sum(p.numel() for p in run.net.parameters())
    seconds = median_seconds(steps, warm=warm, least=16, budget=budget) * count
    return {
        "seconds": seconds,
        "work": 6 * len(run.index) * len(data.entities) * width,
        "queries": len(run.index),
        "state": state,
        "block": 4 * run.loss.block * (width + 2),
        "beyond": peak() - before - state,
    }


def whole_epoch(name, n, batch):
    """Measure a whole epoch with the exact gradient, without extrapolation."""
    run = Training(graph(name), n, batch)
    began = time.perf_counter()
    for number, facts in enumerate(run.epoch(0)):
        run.step(number, facts)
    return {"seconds": time.perf_counter() - began}


def learning(name, n, batch, gradient, epochs=2):
    """Return validation MRR after each of the first epochs."""
    from kgflow.evaluation import rank

    data = graph(name)
    run = Training(data, n, batch, gradient=gradient)
    found, questions, known = [], data.queries("valid"), data.queries()
    for epoch in range(epochs):
        for rows in run.epoch(epoch):
            run.step(1, rows)
        found.append(rank(run.net, questions, known).metrics()["realistic"].mrr)
    return {"mrr": found}


KINDS = {
    "products": {"mm", "addmm_", "addmm"},
    "Adam": {"_fused_adam_"},
    "keys, and back to rows": {"addcmul", "copy_", "abs", "sign", "mul_", "linalg_vector_norm"},
    "sigmoid": {"sigmoid_"},
    "sampling": {"ge", "nonzero", "sort", "_embedding_bag_forward_only", "index", "searchsorted"},
}


def profile(name, n, batch, gradient="exact", warm=10, steps=10):
    """Return milliseconds of a step by kind of operation."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as record

    run = Training(graph(name), n, batch, gradient=gradient)
    order = [rows for epoch in range(4) for rows in run.epoch(epoch)][: warm + steps]
    for number, rows in enumerate(order[:warm]):
        run.step(number + 1, rows)
    with record(activities=[ProfilerActivity.CPU]) as found:
        for rows in order[warm:]:
            run.step(1, rows)
    spent = dict.fromkeys([*KINDS, "the rest"], 0.0)
    for event in found.key_averages():
        kind = [k for k, names in KINDS.items() if event.key.removeprefix("aten::") in names]
        spent[kind[0] if kind else "the rest"] += event.self_cpu_time_total / 1000 / steps
    return {"milliseconds": spent, "name": name, "n": n, "gradient": gradient}


def loading(millions=10):
    """Measure seconds from text to QueryIndex: FB15k-237, and a random graph of many triples."""
    import numpy as np

    from kgflow.data import load

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts.tsv"
        with path.open("w") as file:
            for _ in range(millions):
                h, r, t = (rng.integers(0, k, 10**6).tolist() for k in (10**6, 100, 10**6))
                file.writelines(f"e{a}\tr{b}\te{c}\n" for a, b, c in zip(h, r, t, strict=True))
        before, began = peak(), time.perf_counter()
        data = load(path)
        index = data.queries("train")
        many = time.perf_counter() - began
    arrays = sum(x.nbytes for x in (index.h, index.r, index.tails, index.offsets))
    arrays += sum(x.nbytes for x in (data.train.h, data.train.r, data.train.t))
    found = {"many": many, "millions": millions, "memory": (peak() - before) / arrays}
    if not missing("fb15k-237"):
        began = time.perf_counter()
        graph("fb15k-237").queries("train")
        found["fb15k-237"] = time.perf_counter() - began
    return found


def start():
    """Return seconds to start a process, the best of five."""

    def best(*command):
        def once():
            began = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            return time.perf_counter() - began

        return min(once() for _ in range(5))

    return {
        "kgflow --help": best("-m", "kgflow", "--help"),
        "import torch": best("-c", "import torch"),
        "import kgflow": best("-c", "import kgflow"),
        "import kgflow; kgflow.train": best("-c", "import kgflow; kgflow.train"),
    }


def matrix_product(name, n, batch, budget=BUDGET):
    """Measure the three matrix products of a step with the exact gradient, at the same shapes."""
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

    seconds = median_seconds([step] * 400, least=10, budget=budget)
    rate = 6 * B * E * m / seconds
    return {"rate": rate, "seconds": 6 * len(index) * E * m / rate}


def plain_evaluate(name, n, share=0.02):
    data = graph(name)
    model = peers.NFE1(len(data.entities), 2 * len(data.relations), n)
    known = data.queries()
    pairs = zip(
        known.h.tolist(), known.r.tolist(), known.offsets[:-1], known.offsets[1:], strict=True
    )
    tails = {(h, r): set(known.tails[a:b].tolist()) for h, r, a, b in pairs}
    test = data.test.array()
    sample = test[: max(20, int(share * len(test)))]
    peers.ranks(model, sample[:20], len(data.relations), tails, 128)
    began = time.perf_counter()
    peers.ranks(model, sample, len(data.relations), tails, 128)
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
    return {"seconds": peers.pykeen_train(graph(name), n, batch, batches)}


def pykeen_evaluate(name, n, share=0.02):
    return {"seconds": peers.pykeen_evaluate(graph(name), n, share)}


TASKS = {f.__name__: f for f in (
    plain_train, kgflow_train, matrix_product, plain_evaluate, kgflow_evaluate,
    pykeen_train, pykeen_evaluate, whole_epoch, learning, profile, loading, start,
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
    print(json.dumps(result | {"peak": peak()}))
