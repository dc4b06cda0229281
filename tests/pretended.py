"""Rows of study files and pretended runs, for tests of `reproduce`."""

import json
from pathlib import Path

from reproduce.results import Record, Results

BENCHMARKS = "[defaults]\nmodel.dim = 4\ntraining.epochs = 2\ntraining.optimizer.lr = 0.1\n"


def row(name, data, model="nfe-1", **settings):
    """The text of a row."""
    keys = "".join(f"{k.replace('__', '.')} = {json.dumps(v)}\n" for k, v in settings.items())
    return f'\n[[rows]]\nid = "{name}"\ndata = "{data}"\nmodel.name = "{model}"\n{keys}'


def pretend(plan, mrr, seconds=(60.0, 30.0), provenance=None):
    """A record as a run would leave it, with numbers of our own."""
    history = [
        {"epoch": i + 1, "seconds": s, "loss": 1.0, "mrr": mrr - 0.01 * i}
        for i, s in enumerate(seconds)
    ]
    found = {"mrr": mrr, "hits@1": mrr / 2, "hits@10": mrr * 1.5}
    metrics = {"test": {"realistic": found}, "valid": {"realistic": found | {"mrr": mrr + 0.01}}}
    known = provenance or {"date": "2026-01-01", "commit": "1", "machine": "2 x Slide Rule"}
    return Record(plan.study, plan.id, plan.seed, plan.values, metrics, history, known)


def stored(plans, mrrs, directory="results"):
    """Store pretended runs."""
    results = Results(Path(directory))
    for plan, mrr in zip(plans, mrrs, strict=True):
        results.add(pretend(plan, mrr))
    return Results(Path(directory))
