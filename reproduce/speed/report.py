"""The results as a table for the terminal, a page and a picture."""

import json
import math

from reproduce.results import provenance_text

SYSTEMS = {
    "plain": "plain per-triple program",
    "exact": "kgflow, exact gradient",
    "sampled": "kgflow, sampled gradient",
}


def seconds(result):
    return result.get("seconds", math.nan)


def mebibytes(result):
    return result.get("peak", math.nan) / 2**20


def training_rows(results):
    """graph, n, batch, system, seconds per epoch, times faster than plain, share of the product."""
    for run in results["training"]:
        base, bare = seconds(run["plain"]), seconds(run["bare"])
        for key, title in SYSTEMS.items():
            spent = seconds(run[key])
            yield (run["name"], run["n"], run["batch"], title, spent, base / spent, bare / spent,
                   mebibytes(run[key]))  # fmt: skip
        yield (run["name"], run["n"], run["batch"], "bare matrix product", bare, base / bare, 1.0,
               mebibytes(run["bare"]))  # fmt: skip


READING = """## How to read this

- *Plain* is NFE-1 written straightforwardly (`reproduce/speed/peers.py`): a row of
  scores for every triple, autograd, torch's Adam, a Python loop for filtered ranks. *Bare* is the arithmetic
  alone: the three float32 matrix products of the grouped loss, at the same shapes, in the same run.
- A step with the exact gradient is these products plus passes over (entities x width) memory that no matrix product
  can do: keys from rows, the gradient back from keys to rows, and Adam. The table of milliseconds
  says what they cost. Batches of few queries (WN18RR, 128 triples) have as many such passes as
  large ones and less to multiply. To come nearer to the bare product these passes would have to be
  one compiled loop (gradient, Adam and next keys of a row while it is in registers); torch has no
  such operation, and kgflow ships no compiled code.
- A step with the sampled gradient multiplies once instead of three times, and samples. It cannot be
  faster than a third of the bare product plus the same passes.
- An evaluation cannot be faster than the bare product of its distinct queries, which is itself
  less than ten times faster than the plain loop on this machine.
- The sampled gradient is measured after a warm-up of one epoch (WN18RR: 400 batches, when more
  entries are kept than later).
"""

HEAD = ("graph", "n", "batch", "system", "s / epoch", "x faster", "of product", "peak MiB")


def table(head, rows):
    """A Markdown table, which is readable as it is."""
    lines = [list(map(cell, row)) for row in rows]
    widths = [max(len(x) for x in column) for column in zip(head, *lines, strict=True)]

    def draw(row):
        return "| " + " | ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)) + " |"

    return "\n".join([draw(head), draw(["-" * w for w in widths]), *map(draw, lines)])


def cell(value):
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.3g}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def other_rows(results):
    """DistMult and evaluation, where they were measured."""
    run = results.get("distmult")
    if not run:
        return
    bare = seconds(run["bare"])
    yield "epoch, DistMult d=512", "kgflow", seconds(run["exact"]), seconds(run["exact"]) / bare
    yield "epoch, DistMult d=512", "bare matrix product", bare, 1.0
    if "pykeen" in run:
        yield (
            "epoch, DistMult d=512",
            "PyKEEN, LCWA",
            seconds(run["pykeen"]),
            seconds(run["pykeen"]) / bare,
        )
    found = run["evaluation"]
    product = found.get("work", math.nan) / 2 / run["bare"].get("rate", math.nan)
    yield "filtered evaluation of test", "kgflow", seconds(found), seconds(found) / product
    yield "filtered evaluation of test", "bare matrix product", product, 1.0
    plain = seconds(run["plain_evaluation"])
    yield "filtered evaluation of test", "plain loop", plain, plain / product
    if "pykeen_evaluation" in run:
        spent = seconds(run["pykeen_evaluation"])
        yield "filtered evaluation of test", "PyKEEN", spent, spent / product


def profile_table(profiles):
    """A row for each kind of operation, a column for each profile."""
    good = [p for p in profiles if "milliseconds" in p]
    head = ("operation", *(f"{p['name']} n={p['n']} {p['gradient']}" for p in good))
    kinds = list(good[0]["milliseconds"]) if good else []
    return head, [(kind, *(p["milliseconds"][kind] for p in good)) for kind in kinds]


def notes(results):
    """What needs a sentence, not a table."""
    found = []
    if "seconds" in results.get("whole", {}):
        run = next(r for r in results["training"] if (r["name"], r["n"]) == ("fb15k-237", 1024))
        spent = results["whole"]["seconds"]
        found.append(
            f"A whole epoch with the exact gradient, FB15k-237 n=1024, first batch to last: {spent:.0f} s,"
            f" {seconds(run['bare']) / spent:.0%} of the bare product's rate"
        )
    for run in results["training"]:
        exact = run["exact"]
        if "beyond" in exact:
            found.append(
                f"Memory of training beyond parameters, gradients and Adam's state,"
                f" {run['name']} n={run['n']}: {exact['beyond'] / 2**20:.0f} MiB, where 15 % of"
                f" that state and two blocks of keys are"
                f" {(0.15 * exact['state'] + 2 * exact['block']) / 2**20:.0f} MiB"
            )
    for kind, run in results.get("learning", {}).items():
        if "mrr" in run:
            curve = ", ".join(f"{x:.4f}" for x in run["mrr"])
            found.append(f"Validation MRR by epoch, FB15k-237 n=256, {kind} gradient: {curve}")
    load = results.get("loading", {})
    if "many" in load:
        known = f" FB15k-237 {load['fb15k-237']:.2f} s;" if "fb15k-237" in load else ""
        found.append(
            f"Loading to a query index:{known} a text of {load['millions']} million triples {load['many']:.1f} s,"
            f" {load['memory']:.1f} times the arrays' memory at its peak"
        )
    if "import torch" in results.get("start", {}):
        times = {k: v for k, v in results["start"].items() if k != "peak"}
        found.append("Start: " + ", ".join(f"`{k}` {v:.2f} s" for k, v in times.items()))
    return found


def slopes(results):
    """The exponents of growth: time per epoch against entities and against queries, log-log."""
    found = {}
    for what, points in results.get("growth", {}).items():
        good = [(math.log(x), math.log(seconds(r))) for x, r in points if "seconds" in r]
        mean_x, mean_y = (sum(c) / len(good) for c in zip(*good, strict=True))
        top = sum((x - mean_x) * (y - mean_y) for x, y in good)
        found[what] = top / sum((x - mean_x) ** 2 for x, _ in good)
    return found


def text(results):
    """Everything, for the terminal and the page."""
    parts = [table(HEAD, training_rows(results))] if results["training"] else []
    others = list(other_rows(results))
    if others:
        parts.append(table(("FB15k-237", "system", "seconds", "x product"), others))
    if results.get("profiles"):
        parts.append("Milliseconds of a training step, by kind of operation:")
        parts.append(table(*profile_table(results["profiles"])))
    parts += notes(results)
    for what, slope in slopes(results).items():
        parts.append(f"time per epoch grows with {what} to the power {slope:.2f}")
    errors = [f"{k}: {v['error']}" for run in (*results["training"], results.get("distmult", {}))
              for k, v in run.items() if isinstance(v, dict) and "error" in v]  # fmt: skip
    parts += [f"not measured: {error}" for error in (*errors, *results.get("skipped", []))]
    parts.append(provenance_text(results))
    return "\n\n".join(parts)


def write(results, directory):
    """results.json, a page and a picture."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    picture_line = "![Seconds per epoch, and growth](bench.png)"
    page = f"# Benchmarks\n\nPrinted by `make bench`.\n\n{text(results)}\n\n{picture_line}\n\n{READING}"
    (directory / "README.md").write_text(page)
    picture(results, directory / "bench.png")


def picture(results, path):
    """Seconds per epoch by system, and growth on log-log axes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from kgflow.analysis.plots import COLOURS, STYLE

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 4))
        bars, lines = figure.subplots(1, 2)
        shown = {**SYSTEMS, "bare": "bare matrix product"}
        for place, (key, title) in enumerate(shown.items()):
            at = [i + (place - 1.5) * 0.2 for i in range(len(results["training"]))]
            values = [seconds(run[key]) for run in results["training"]]
            bars.bar(
                at,
                values,
                0.18,
                label=title,
                color=COLOURS[place],
                hatch=("", "//", "..", "x")[place],
                edgecolor="white",
            )
        names = [f"{run['name']}\nn={run['n']}" for run in results["training"]]
        bars.set_xticks(range(len(names)), names)
        bars.set(ylabel="seconds per epoch (log)", yscale="log", title="Time of one epoch")
        bars.set_ylim(top=12 * bars.get_ylim()[1])
        bars.legend(fontsize=8, loc="upper left", ncols=2)
        found = slopes(results)
        for place, (what, points) in enumerate(results.get("growth", {}).items()):
            good = [(x, seconds(r)) for x, r in points if "seconds" in r]
            label = f"against {what}: slope {found[what]:.2f}"
            lines.plot(
                *zip(*good, strict=True), "os"[place] + "-", color=COLOURS[place], label=label
            )
        lines.set(
            xscale="log", yscale="log", xlabel="entities, or queries", ylabel="seconds per epoch"
        )
        lines.set_title("Growth, random graphs, n = 32")
        lines.legend(fontsize=8)
        for axis in (bars.yaxis, lines.xaxis, lines.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        figure.savefig(path)
