"""Measure kgflow against the plain program, PyKEEN and the bare matrix product.

    python benchmarks/bench.py [--quick] [--out docs/benchmarks]

Every number comes from a process of its own, one after the other, so that its peak memory is its
own and nothing contends for the cores. Writes results.json, a page and a picture.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import report

from kgflow.provenance import machine as name

HERE = Path(__file__).parent


def measure(task, **arguments):
    """Run one task in a child process; an error is a result, not an end."""
    words = [f"{k}={v}" for k, v in arguments.items()]
    print(f"… {task} {' '.join(words)}", file=sys.stderr, flush=True)
    command = [sys.executable, str(HERE / "tasks.py"), task, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def training(name, n, batch, warm, budget=12):
    """One graph and size: the plain program, dense, sparse, and the bare product."""
    shape = {"name": name, "n": n, "batch": batch}
    return {
        **shape,
        "plain": measure("plain_train", **shape, budget=budget),
        "dense": measure("kgflow_train", **shape, budget=budget),
        "sparse": measure("kgflow_train", **shape, backward="sparse", warm=warm, budget=budget),
        "bare": measure("matrix_product", **shape, budget=budget),
    }


def distmult(name, dim, peers):
    """DistMult, for PyKEEN has no NFE."""
    # The bare product's m is 2n, as in NFE-1; DistMult's is its dimension.
    shape = {"name": name, "n": dim, "batch": 1024}
    found = {
        **shape,
        "dense": measure("kgflow_train", **shape, model="distmult"),
        "bare": measure("matrix_product", name=name, n=dim // 2, batch=1024),
        "evaluation": measure("kgflow_evaluate", name=name, n=dim, model="distmult"),
        "plain_evaluation": measure("plain_evaluate", name=name, n=dim // 2),
    }
    if peers:
        found["pykeen"] = measure("pykeen_train", name=name, n=dim, batch=32)
        found["pykeen_evaluation"] = measure("pykeen_evaluate", name=name, n=dim)
    return found


def growth():
    """Seconds of an epoch against entities, and against queries, on random graphs."""
    entities = [10_000, 30_000, 100_000, 300_000, 1_000_000]
    facts = [10_000, 30_000, 100_000, 300_000]
    by_entities = [
        (e, measure("kgflow_train", name=f"random-{e}-20000", n=32, batch=1024)) for e in entities
    ]
    by_facts = [measure("kgflow_train", name=f"random-20000-{f}", n=32, batch=1024) for f in facts]
    by_queries = [(found.get("queries", 0), found) for found in by_facts]
    return {"entities": by_entities, "queries": by_queries}


def machine():
    """What the numbers were measured on."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE
    ).stdout.strip()
    return {"date": datetime.now(UTC).date().isoformat(), "commit": commit, "machine": name()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="FB15k-237 at n=256 only, in a minute")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    chosen = parser.parse_args()
    peers = importlib.util.find_spec("pykeen") is not None
    results = {**machine(), "quick": chosen.quick}
    if chosen.quick:
        results["training"] = [training("fb15k-237", 256, 1024, warm=120, budget=4)]
    else:
        results["training"] = [
            training("fb15k-237", 256, 1024, warm=540),
            training("fb15k-237", 1024, 1024, warm=540),
            training("wn18rr", 256, 128, warm=400),
            training("wn18rr", 1024, 128, warm=400),
        ]
        results["distmult"] = distmult("fb15k-237", 512, peers)
        results["growth"] = growth()
        results["whole"] = measure("whole_epoch", name="fb15k-237", n=1024, batch=1024)
        results["learning"] = {
            kind: measure("learning", name="fb15k-237", n=256, batch=1024, backward=kind)
            for kind in ("dense", "sparse")
        }
        results["profiles"] = [
            measure("profile", name="fb15k-237", n=256, batch=1024),
            measure("profile", name="fb15k-237", n=256, batch=1024, backward="sparse", warm=540),
            measure("profile", name="wn18rr", n=1024, batch=128),
        ]
        results["loading"] = measure("loading")
        results["start"] = measure("start")
    if chosen.json:
        print(json.dumps(results, indent=2))
    else:
        print(report.text(results))
    if not chosen.quick:
        report.write(results, chosen.out)


if __name__ == "__main__":
    main()
