"""The presets on all graphs, beside targets and PyKEEN's pipeline with its defaults."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from kgflow.config import read_toml
from kgflow.errors import KgflowError
from reproduce.results import Record
from reproduce.running import Plan, Result
from reproduce.study import Shown, Study, table

CORES = 2
"""Cores of the machine that the times of the targets are meant for."""
HEAD = (
    "graph", "command", "recipe", "seeds", "MRR", "target", "H@1", "H@10", "valid MRR",
    "CPU min", "min on 2 cores", "target min",
)  # fmt: skip


@dataclass(frozen=True)
class PresetRow:
    """A command on a graph, and what is expected of it.

    Args:
        id: Unique name.
        data: Name of the graph.
        flags: Flags of ``kgflow train``.
        peer: Model of PyKEEN's pipeline, which is run in place of kgflow.
        mrr: Test MRR to reach, or None.
        minutes: Minutes that it may take on two cores, or None.
    """

    id: str
    data: str
    flags: str = ""
    peer: str = ""
    mrr: float | None = None
    minutes: float | None = None

    def plan(self, study: str, seed: int) -> Plan:
        """Return the run of a seed."""
        if self.peer:
            words = ["reproduce.pipeline", self.data, self.peer]
        else:
            words = ["kgflow", "train", self.data, *self.flags.split()]
        return Plan(study, self.id, seed, words=(*words, "--seed", str(seed)))

    @property
    def command(self) -> str:
        """The command as a user types it."""
        words = f"kgflow train {self.data} {self.flags}".strip()
        return f"PyKEEN, {self.peer}" if self.peer else f"`{words}`"


class PresetsStudy(Study):
    """Every row of presets.toml."""

    name, title, storable, varies = "presets", "Presets", True, ("seeds",)
    about = (
        "each row is a whole command, as a user would type it, from reading the data to the"
        " calibrated run. MRR and hits are of the test triples, filtered, both sides, ties"
        " realistic; with several seeds the median. Nothing is chosen by test triples. CPU minutes"
        " are those of all threads, and half of them is the time on two cores that are free, if"
        " all of the work is done by both. PyKEEN is its `pipeline` with a model and no other"
        " argument, which trains for 5 epochs."
    )

    def preset_rows(self) -> list[PresetRow]:
        """Return the chosen rows."""
        if self.options.models:
            raise KgflowError("presets choose their models: leave --model out")
        rows = [PresetRow(**values) for values in read_toml(self.file).get("rows", [])]
        chosen = self.options
        found = [
            row
            for row in rows
            if (not chosen.data or row.data in chosen.data)
            and (not chosen.rows or row.id in chosen.rows)
        ]
        if not found:
            raise KgflowError(f"{self.file} has no row of these graphs and ids")
        return found

    def plans(self) -> list[Plan]:
        """Return the runs of the chosen rows."""
        seeds = range(self.options.seeds)
        return [row.plan(self.name, seed) for row in self.preset_rows() for seed in seeds]

    def show(self, results: Sequence[Result]) -> Shown:
        """Return a table of the rows that were run, and the list of the others."""
        lines, missing, values = [], [], []
        for row in self.preset_rows():
            records = [r.record for r in results if r.plan.row == row.id and r.record is not None]
            if not records:
                reasons = [r.skipped for r in results if r.plan.row == row.id and r.skipped]
                missing.append(f"- {row.command} (`{row.id}`): {(reasons or ['–'])[0]}.")
                continue
            found = summary(row, records)
            values.append(found)
            lines.append(cells(row, found))
        text = table(HEAD, lines, words=3)
        if missing:
            text += "\n\nWithout a result:\n\n" + "\n".join(missing)
        return Shown(text, {"rows": values})


def summary(row: PresetRow, records: Sequence[Record]) -> dict[str, Any]:
    """Return the medians of the seeds of a row as values for JSON."""
    valid = [r.metric("mrr", "valid") for r in records if "valid" in r.metrics]
    cpu = [float(r.provenance["cpu"]) / 60 for r in records if "cpu" in r.provenance]
    model = records[0].config["model"]
    members = [member["model"]["name"] for member in model.get("members", [])]
    return {
        "id": row.id,
        "seeds": len(records),
        "model": " + ".join(members) or model["name"],
        "dim": model.get("dim"),
        "mrr": median(r.metric("mrr") for r in records),
        "hits1": median(r.metric("hits@1") for r in records),
        "hits10": median(r.metric("hits@10") for r in records),
        "valid": median(valid) if valid else None,
        "cpu": median(cpu) if cpu else None,
        "target": row.mrr,
        "target_minutes": row.minutes,
    }


def cells(row: PresetRow, found: dict[str, Any]) -> list[str]:
    """Return a row as text."""
    size = "" if found["dim"] is None else f", n = {found['dim']}"
    target = "–" if row.mrr is None else f"{row.mrr:g}"
    limit = "–" if row.minutes is None else f"{row.minutes:g}"
    cpu = found["cpu"]
    times = ["–", "–"] if cpu is None else [f"{cpu:.1f}", f"{cpu / CORES:.1f}"]
    valid = "–" if found["valid"] is None else f"{found['valid']:.3f}"
    scores = [f"{found[key]:.3f}" for key in ("mrr", "hits1", "hits10")]
    recipe = f"`{found['model']}`{size}"
    start = [row.data, row.command, recipe, str(found["seeds"])]
    return [*start, scores[0], target, *scores[1:], valid, *times, limit]
