"""Compare the speed of kgflow with a plain program, PyKEEN and the bare matrix product.

    python -m reproduce.speed [--quick] [--out docs/benchmarks]

Every number comes from a process of its own, one after the other, so that peak memory is measured
per task and no other task uses the cores. A graph that is not on this machine is named and skipped.
Writes results.json, a page and a picture.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from reproduce.results import provenance
from reproduce.speed import report
from reproduce.speed.peers import missing


def measure(task, **arguments):
    """Run one task in a child process; an error becomes a result."""
    words = [f"{k}={v}" for k, v in arguments.items()]
    print(f"… {task} {' '.join(words)}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "reproduce.speed.tasks", task, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def training(name, n, batch, warm, budget=12):
    """Measure one graph and size: plain program, exact and sampled gradient, bare product."""
    shape = {"name": name, "n": n, "batch": batch}
    return {
        **shape,
        "plain": measure("plain_train", **shape, budget=budget),
        "exact": measure("kgflow_train", **shape, budget=budget),
        "sampled": measure("kgflow_train", **shape, gradient="sampled", warm=warm, budget=budget),
        "bare": measure("matrix_product", **shape, budget=budget),
    }


def distmult(name, dim, peers):
    """Measure DistMult, since PyKEEN has no NFE."""
    # The bare product's m is 2n, as in NFE-1; DistMult's is its dimension.
    shape = {"name": name, "n": dim, "batch": 1024}
    found = {
        **shape,
        "exact": measure("kgflow_train", **shape, model="distmult"),
        "bare": measure("matrix_product", name=name, n=dim // 2, batch=1024),
        "evaluation": measure("kgflow_evaluate", name=name, n=dim, model="distmult"),
        "plain_evaluation": measure("plain_evaluate", name=name, n=dim // 2),
    }
    if peers:
        found["pykeen"] = measure("pykeen_train", name=name, n=dim, batch=32)
        found["pykeen_evaluation"] = measure("pykeen_evaluate", name=name, n=dim)
    return found


def growth():
    """Measure seconds of an epoch against entities and against queries, on random graphs."""
    entities = [10_000, 30_000, 100_000, 300_000, 1_000_000]
    facts = [10_000, 30_000, 100_000, 300_000]
    by_entities = [
        (e, measure("kgflow_train", name=f"random-{e}-20000", n=32, batch=1024)) for e in entities
    ]
    by_facts = [measure("kgflow_train", name=f"random-20000-{f}", n=32, batch=1024) for f in facts]
    by_queries = [(found.get("queries", 0), found) for found in by_facts]
    return {"entities": by_entities, "queries": by_queries}


TRAINING = (
    ("fb15k-237", 256, 1024, 540),
    ("fb15k-237", 1024, 1024, 540),
    ("wn18rr", 256, 128, 400),
    ("wn18rr", 1024, 128, 400),
)
"""Graph, n, batch size and batches of warm-up."""


def quick():
    """Measure FB15k-237 at n = 256 only."""
    return {"training": [] if missing("fb15k-237") else [training("fb15k-237", 256, 1024, 120, 4)]}


def everything():
    """Measure all that is possible with the graphs on this machine."""
    results = {"training": [training(*row) for row in TRAINING if not missing(row[0])]}
    if not missing("fb15k-237"):
        peers = importlib.util.find_spec("pykeen") is not None
        results["distmult"] = distmult("fb15k-237", 512, peers)
        results["whole"] = measure("whole_epoch", name="fb15k-237", n=1024, batch=1024)
        results["learning"] = {
            kind: measure("learning", name="fb15k-237", n=256, batch=1024, gradient=kind)
            for kind in ("exact", "sampled")
        }
    profiles = (
        {"name": "fb15k-237", "n": 256, "batch": 1024},
        {"name": "fb15k-237", "n": 256, "batch": 1024, "gradient": "sampled", "warm": 540},
        {"name": "wn18rr", "n": 1024, "batch": 128},
    )
    results["profiles"] = [measure("profile", **x) for x in profiles if not missing(x["name"])]
    results["growth"] = growth()
    results["loading"], results["start"] = measure("loading"), measure("start")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="FB15k-237 at n=256 only, in a minute")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    chosen = parser.parse_args()
    graphs = ("fb15k-237",) if chosen.quick else ("fb15k-237", "wn18rr")
    skipped = [missing(name) for name in graphs if missing(name)]
    for sentence in skipped:
        print(sentence, file=sys.stderr)
    found = quick() if chosen.quick else everything()
    results = {**provenance(), "quick": chosen.quick, "skipped": skipped, **found}
    print(json.dumps(results, indent=2) if chosen.json else report.text(results))
    if not chosen.quick:
        report.write(results, chosen.out)


if __name__ == "__main__":
    main()
