"""Measure the index, the batcher and the server.

    python -m reproduce.speed.serving [--quick] [--out docs/benchmarks]

The index: a million entities, n = 64. The server: 15,000 entities, n = 256, random weights, 64
connections on loopback for half a minute. Each part runs in a process of its own. Writes
serving.json and serving.md.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from reproduce.results import provenance, provenance_text
from reproduce.speed.report import table

MODULE = "reproduce.speed.serving"
CONNECTIONS = 64
K = 10


# --- the index ----------------------------------------------------------------------------------


def vectors(kind, entities, n):
    """Keys as a Wasserstein model has them, (μ, σ), and queries: clustered or without structure."""
    import torch

    torch.manual_seed(0)
    m, asked = 2 * n, 300
    if kind == "structureless":
        return torch.randn(entities, m), torch.randn(asked, m)
    # As training leaves them: entities of a kind lie together, and a query near its answers.
    centres = torch.randn(max(10, entities // 500), m)
    keys = torch.empty(entities, m)
    for low in range(0, entities, 2**16):
        rows = torch.randint(len(centres), (min(2**16, entities - low),))
        keys[low : low + len(rows)] = centres[rows] + 0.3 * torch.randn(len(rows), m)
    chosen = keys[torch.randint(entities, (asked,))]
    return keys, chosen + 0.1 * torch.randn(asked, m)


def index(kind, method, entities, n):
    """Build an index and ask it, one query at a time."""
    import torch

    from kgflow.kernels import EncodedEntities, ExactSearch
    from kgflow.search.index import INDEX_METHODS, Index
    from kgflow.search.saved_index import tune_recall

    keys, queries = vectors(kind, entities, n)
    Q, a = 2 * queries, -queries.square().sum(1)
    known = EncodedEntities(keys, lambda rows: (rows, -rows.square().sum(1)))
    base, began = peak(), time.perf_counter()
    found = {"kind": kind, "method": method, "entities": entities, "n": n, "recall": 1.0}
    if method == "exact":
        search = ExactSearch(known)
        search(Q[:1], a[:1], K)  # encodes the keys
        found["build"] = time.perf_counter() - began
    else:
        search = Index.build(known, INDEX_METHODS[method])
        found["build"] = time.perf_counter() - began
        found["built_peak"] = peak()
        found["effort"], found["recall"] = tune_recall(search, Q[:200], a[:200], 0.99)
    times = []
    with torch.no_grad():
        for q, b in zip(Q.split(1), a.split(1), strict=True):
            began = time.perf_counter()
            search(q, b, K)
            times.append(time.perf_counter() - began)
    return found | {"p50": statistics.median(times), "data": base, "peak": peak()}


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# --- the run that is served ---------------------------------------------------------------------


def make_run(folder, entities=15_000, n=256):
    """A run with random weights."""
    import torch

    from kgflow.config import Experiment, ModelSettings
    from kgflow.models import build
    from kgflow.runs.store import new_run, run_config
    from kgflow.training import save_model
    from reproduce.speed.peers import synthetic

    data = synthetic("synthetic", entities, 20, 60_000, 1_000)
    experiment = Experiment(data="synthetic", model=ModelSettings(name="nfe-1", dim=n))
    torch.manual_seed(0)
    model = build("nfe-1", entities, 2 * len(data.relations), n)
    with new_run(Path(folder), run_config(experiment, data), data, force=True) as draft:
        save_model(draft / "model.safetensors", model)
    return {"run": str(folder)}


# --- the batcher --------------------------------------------------------------------------------


def batcher(run, size, seconds):
    """Questions per second that the batcher answers to callers who each wait for theirs."""
    import kgflow
    from kgflow.runs.answers import TripleQuery
    from kgflow.serving.batching import Batcher, Job, compute_jobs
    from kgflow.serving.service import RunService

    opened, rng = kgflow.open(run), random.Random(0)
    names, service = opened.data.entities.names, RunService(opened)
    opened.predict(head=names[0], relation="r0")

    async def caller(queue, end):
        done = 0
        while time.perf_counter() < end:
            asked = TripleQuery(rng.choice(names), f"r{rng.randrange(20)}")
            await queue.submit([Job(service.answer, asked, (K, False, ()))])
            done += 1
        return done

    async def go():
        queue = Batcher(compute_jobs, max_batch=int(size))
        began = time.perf_counter()
        callers = (caller(queue, began + float(seconds)) for _ in range(CONNECTIONS))
        done = sum(await asyncio.gather(*callers))
        spent = time.perf_counter() - began
        await queue.close()
        return done / spent

    return {"size": int(size), "rate": asyncio.run(go())}


# --- the server ---------------------------------------------------------------------------------


def server(run, batch, queue):
    """Serve, and say where."""
    import kgflow
    from kgflow.serving.app import create_app
    from kgflow.serving.server import listen, serve, server_url

    listening = listen("127.0.0.1", 0)
    app = create_app(kgflow.open(run), max_batch=int(batch), max_queue=int(queue))
    print(json.dumps({"port": int(server_url(listening).rsplit(":", 1)[1])}), flush=True)
    serve(app, listening)


@contextmanager
def serving(run, batch=256, queue=2048):
    """A server in a process of its own: its port."""
    words = ["server", f"run={run}", f"batch={batch}", f"queue={queue}"]
    command = [sys.executable, "-m", MODULE, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield json.loads(process.stdout.readline())["port"]
        finally:
            process.terminate()


def request(rng, many):
    """The bytes of a POST that asks one question, or many."""
    asked = [
        {"head": f"e{rng.randrange(15_000)}", "relation": f"r{rng.randrange(20)}"}
        for _ in range(many)
    ]
    body = json.dumps({"queries": asked, "k": K} if many > 1 else asked[0] | {"k": K}).encode()
    head = f"POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def connection(port, end, requests, found):
    """Ask one after the other, on one connection, until the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    place = random.randrange(len(requests))
    try:
        while time.perf_counter() < end:
            began = time.perf_counter()
            writer.write(requests[place % len(requests)])
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            found.append((int(head[9:12]), time.perf_counter() - began))
            place += 1
    finally:
        writer.close()


async def load(port, connections, seconds, many=1):
    """Statuses and seconds of requests, over some connections at once."""
    rng, found = random.Random(0), []
    requests = [request(rng, many) for _ in range(500)]
    began = time.perf_counter()
    callers = (connection(port, began + seconds, requests, found) for _ in range(connections))
    broken = await asyncio.gather(*callers, return_exceptions=True)
    spent = time.perf_counter() - began
    statuses = [status for status, _ in found]
    times = sorted(t for status, t in found if status == 200) or [float("nan")]
    return {
        "requests": len(found),
        "rate": len(found) / spent,
        "errors": sum(s not in (200, 503) for s in statuses)
        + sum(isinstance(x, Exception) for x in broken),
        "busy": statuses.count(503),
        "p50": times[len(times) // 2],
        "p99": times[int(0.99 * len(times))],
    }


def end_to_end(run, batch, seconds):
    """64 connections that each ask one question after the other."""
    with serving(run, batch) as port:
        asyncio.run(load(port, 4, 1))  # warm
        return asyncio.run(load(port, CONNECTIONS, float(seconds))) | {"batch": int(batch)}


def flood(run, seconds):
    """More than the queue holds, and what comes after it."""
    with serving(run, queue=64) as port:
        during = asyncio.run(load(port, 64, float(seconds), many=20))
        after = asyncio.run(load(port, 4, 2))
    return {"during": during, "after": after}


# --- all of it ----------------------------------------------------------------------------------

TASKS = {t.__name__: t for t in (index, make_run, batcher, server, end_to_end, flood)}


def measure(task, **arguments):
    """Run one part in a child process; an error is a result, not an end."""
    words = [f"{k}={v}" for k, v in arguments.items()]
    print(f"… {task} {' '.join(words)}", file=sys.stderr, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", MODULE, task, *words], capture_output=True, text=True
    )
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_task(task, words):
    arguments = dict(word.split("=", 1) for word in words)
    arguments = {k: int(v) if v.isdigit() else v for k, v in arguments.items()}
    print(json.dumps(TASKS[task](**arguments)))


def everything(quick):
    size, seconds = (30_000, 4) if quick else (1_000_000, 30)
    results = {"provenance": provenance_text(provenance()), "quick": quick, "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as folder:
        run = measure("make_run", folder=f"{folder}/run")["run"]
        results["batcher"] = [
            measure("batcher", run=run, size=s, seconds=max(3, seconds // 3)) for s in (1, 256)
        ]
        results["server"] = [
            measure("end_to_end", run=run, batch=b, seconds=seconds) for b in (1, 256)
        ]
        results["flood"] = measure("flood", run=run, seconds=max(3, seconds // 3))
    results["index"] = [
        measure("index", kind=kind, method=method, entities=size, n=64)
        for kind in ("clustered", "structureless")
        for method in ("exact", "flat", "ivf", "hnsw")
    ]
    return results


def index_rows(results):
    for r in results["index"]:
        if "error" in r:
            continue
        used = "exact" if r["recall"] < 0.99 else r["method"]
        yield (r["kind"], r["method"], r["build"], 1e3 * r["p50"], r["recall"],
               str(r.get("effort", "–")), used, (r["peak"] - r["data"]) / 2**20, r["peak"] / 2**20)  # fmt: skip


def server_rows(results):
    for r in results["server"]:
        if "error" not in r:
            name = "one at a time" if r["batch"] == 1 else "micro-batched"
            yield name, r["requests"], r["errors"], r["rate"], 1e3 * r["p50"], 1e3 * r["p99"]


def times_faster(rows):
    rates = [row.get("rate", float("nan")) for row in rows]
    return rates[1] / rates[0]


def text(results):
    size = f"{results['index'][0].get('entities', 0):,} entities, n = 64"
    parts = [
        f"## The server\n\n15,000 entities, n = 256, random weights, the best {K} of one question a"
        f" request, {CONNECTIONS} connections on loopback, client and server on the same cores:",
        table(("server", "requests", "errors", "requests / s", "p50 ms", "p99 ms"),
              server_rows(results)),
        f"Micro-batching answers {times_faster(results['server']):.1f} times as many requests end to"
        f" end, and {times_faster(results['batcher']):.1f} times as many questions at the batcher"
        " alone"
        f" ({' and '.join(format(b.get('rate', float('nan')), ',.0f') for b in results['batcher'])}"
        " a second).",
    ]  # fmt: skip
    if "during" in results["flood"]:
        during, after = results["flood"]["during"], results["flood"]["after"]
        parts.append(
            f"Flooded, with a queue of 64 and 64 connections that send 20 questions each:"
            f" {during['requests']:,} requests, {during['busy']:,} of them refused with 503,"
            f" {during['errors']} errors; right after it {after['requests']:,} requests,"
            f" {after['busy']} refused, {after['errors']} errors, p50 {1e3 * after['p50']:.1f} ms."
        )
    parts += [
        f"## The index\n\n{size}: seconds to build, time of one query for the best {K}, share of the"
        " exact answers found with the least effort that finds 0.99 of them (or the most that is"
        " tried), what `kgflow serve` would answer from, and memory beyond the entities' own and in"
        " all:",
        table(("keys", "index", "build s", "p50 ms", f"recall@{K}", "effort", "answers from",
               "MiB more", "peak MiB"), index_rows(results)),
    ]  # fmt: skip
    errors = [r for part in ("batcher", "server", "index") for r in results[part] if "error" in r]
    parts += [f"not measured: {r['error']}" for r in (*errors, results["flood"]) if "error" in r]
    return "\n\n".join([*parts, results["provenance"]])


READING = """## How to read this

- *Clustered* keys lie in groups of about 500 with queries near an entity, as training leaves them;
  *structureless* ones are drawn from a normal distribution, the worst case for any index.
- An index that finds less than 0.99 of the exact answers on the run's own queries is not used.
- One question at a time reads all keys for each question; a batch reads them once.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="30,000 entities, seconds not minutes")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    chosen = parser.parse_args()
    results = everything(chosen.quick)
    print(text(results))
    if not chosen.quick:
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / "serving.json").write_text(json.dumps(results, indent=2) + "\n")
        page = f"# Serving\n\nPrinted by `make bench-serve`.\n\n{text(results)}\n\n{READING}"
        (chosen.out / "serving.md").write_text(page)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in TASKS:
        run_task(sys.argv[1], sys.argv[2:])
    else:
        main()
