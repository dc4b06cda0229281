"""Entities that are added to a trained model with a few facts, against training again."""

import time
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from kgflow.config import Experiment, parse
from kgflow.data import SPLITS, Dataset, QueryIndex, Triples, extend, load, triples_frame
from kgflow.evaluation import rank
from kgflow.runs.run import Run
from kgflow.runs.store import write_metrics
from kgflow.runs.training import run_experiment
from kgflow.training import Callback
from kgflow.uncertainty import measure_coverage
from reproduce.experiments import Row
from reproduce.held_out import MAX_GIVEN, HeldOut, hold_out
from reproduce.results import Record
from reproduce.running import Plan, Result
from reproduce.study import Shown, Study, table

COUNTS = (1, 2, 5, 10)
"""Numbers of facts that entities are added with."""
COVERAGE = 0.9
OTHERS = "others"
"""Key of the measurements among the metrics of a run."""

QUALITY = (
    "graph", "model", "facts", "MRR", "retrained", "share", "chance",
    "as query", "retrained", "as answer", "retrained", "old facts", "before",
)  # fmt: skip
COST = ("graph", "model", "facts", "entities", "s", "s retrained", "share of time")
CERTAINTY = (
    "graph", "model", "facts", "certainty", "entropy change", "coverage", "as query",
    "as answer", "set size",
)  # fmt: skip


@cache
def held_out(data: str) -> HeldOut:
    """Return the graph without its held-out entities."""
    return hold_out(load(data))


def train_run(row: Row, seed: int, count: int, run: Path, _: Path) -> None:
    """Train on a graph without the held-out entities, or with some of their facts."""
    taken = held_out(row.data)
    data = extend(taken.base, triples_frame(taken.facts(count))).data if count else taken.base
    experiment = parse(Experiment, row.settings(seed), row.id)
    clock = _Clock()
    trained = run_experiment(experiment, data, run, True, callbacks=[clock])
    write_metrics(run, OTHERS, {"seconds": clock.seconds} | measure(trained, row.data))


def update_run(row: Row, seed: int, count: int, run: Path, directory: Path) -> None:
    """Add the held-out entities to a trained run with some of their facts."""
    base = Run.open(Plan("updates", f"{row.id}/base", seed).run(directory))
    updated = base.update(held_out(row.data).facts(count), run, force=True)
    seconds = updated.updates.updates[-1].seconds
    write_metrics(run, OTHERS, {"seconds": seconds} | measure(updated, row.data))


class _Clock(Callback):
    """Measures the processor time of a training, validations included."""

    def __init__(self) -> None:
        self.began, self.seconds = time.process_time(), 0.0

    def on_epoch(self, record: Mapping[str, float]) -> None:
        self.seconds = time.process_time() - self.began


def measure(run: Run, name: str) -> dict[str, Any]:
    """Rank the other facts of held-out entities, which the model of a run may know.

    All facts of the graph and of these entities are filtered out. Chance is the MRR of random
    scores.
    """
    taken, data = held_out(name), run.data
    if taken.entities[0] not in data.entities:
        return {}
    new = data.entities.ids(taken.entities)
    everything = extend(data, triples_frame(taken.facts(MAX_GIVEN) + taken.ranked)).data
    known = data.index(Triples.concatenate([everything.split(split) for split in SPLITS]))
    queries = data.index(_triples(data, taken))
    ranking = rank(run.model, queries, known)
    gain, asked = 1 / ranking.rank("realistic"), np.isin(ranking.h, new)
    harmonic = np.cumsum(1 / np.arange(1, int(ranking.candidates.max()) + 1))
    chance = harmonic[ranking.candidates - 1] / ranking.candidates
    found = {
        "answers": len(gain),
        "entities": len(new),
        "mrr": float(gain.mean()),
        "query": float(gain[asked].mean()),
        "answer": float(gain[~asked].mean()),
        "chance": float(chance.mean()),
    }
    return found | _uncertainty(run, queries, known, new)


def _triples(data: Dataset, taken: HeldOut) -> Triples:
    heads, relations, tails = zip(*taken.ranked, strict=True)
    ids = data.entities.ids(heads), data.relations.ids(relations), data.entities.ids(tails)
    return Triples(*ids)


def _uncertainty(run: Run, queries: QueryIndex, known: QueryIndex, new: Any) -> dict[str, Any]:  # noqa: ANN401
    """Measure coverage and size of prediction sets, and the certainty of new entities."""
    conformal = run.conformal(COVERAGE)
    sets = measure_coverage(run.model, conformal, queries, known, COVERAGE)
    asked, certainty = np.isin(sets.h, new), run.predictor.certainties["entity"]
    entropy = run.predictor.entropy["entity"]
    return {
        "coverage": float(sets.covered.mean()),
        "coverage_query": float(sets.covered[asked].mean()),
        "coverage_answer": float(sets.covered[~asked].mean()),
        "size": float(sets.size.mean()),
        "certainty": None if certainty is None else float(certainty[new].mean()),
        "entropy": None if entropy is None else float(entropy[new].mean()),
    }


class UpdatesStudy(Study):
    """Rows of updates.toml, each trained without some entities, updated and trained again."""

    name, title, storable = "updates", "Entities that training did not have", True
    about = (
        "5 % of the entities of a graph, drawn among those with 12 facts or more, but at most 10 %"
        " of these, are taken out with all their facts before training. Then they are added with 1,"
        " 2, 5 and 10 of their facts by `kgflow update`, all at once, and up to 20 other facts of"
        " each are ranked in both directions, filtered, ties realistic. **retrained** is a training"
        " with the same settings on the graph with these facts. **as query**: MRR of (new entity,"
        " relation, ?); **as answer**: of queries whose answer is the new entity. **old facts**:"
        " test MRR of the facts of all other entities, and **before** the update. Times are seconds"
        " of processor time: of the fit, and of training with its validations, without the entities"
        " where no run was trained again. The settings of the"
        " fit were chosen on CoDEx-S, for other entities, as those with the highest MRR that cost"
        " the validation facts of the other entities at most 3 % of theirs."
    )

    def seeds(self, row: Row) -> list[Plan]:
        """Return the runs of a row: without the entities, trained again, and updated."""
        values, seed = row.settings(0), 0
        make = partial(train_run, row, seed)
        base = Plan(self.name, f"{row.id}/base", seed, values=values, make=partial(make, 0))
        plans = [base]
        for count in COUNTS:
            again, new = (f"{row.id}/{kind}-{count}" for kind in ("retrained", "updated"))
            plans.append(Plan(self.name, again, seed, values=values, make=partial(make, count)))
            update = partial(update_run, row, seed, count)
            plans.append(Plan(self.name, new, seed, values=values, needs=(base,), make=update))
        return plans

    def page(self, shown: Shown, results: Sequence[Result]) -> str:
        """Return the whole page, with the command of a row and not of one of its runs."""
        text = super().page(shown, results)
        for result in results:
            command = f"python -m reproduce {self.name} --row {result.plan.row.rpartition('/')[0]}"
            text = text.replace(f"`{result.plan.command}`", f"`{command}`")
        return text

    def show(self, results: Sequence[Result]) -> Shown:
        """Return tables of quality, of time, and of certainty and coverage."""
        finished = [r for r in results if r.record is not None and OTHERS in r.record.metrics]
        records = {r.plan.row: r.record for r in finished if r.record is not None}
        rows = [row for row in self.rows() if f"{row.id}/base" in records]
        pairs = [(row, count) for row in rows for count in COUNTS]
        cells = [_Cells(row, count, records) for row, count in pairs]
        cells = [found for found in cells if found.updated]
        parts = [
            table(QUALITY, [found.quality() for found in cells], 2),
            table(COST, [found.cost() for found in cells], 2),
            NOTE,
            table(CERTAINTY, [found.certainty() for found in cells], 2),
        ]
        values = {k: record.metrics.get(OTHERS) for k, record in records.items()}
        return Shown("\n\n".join(parts), {"updates": values})


NOTE = """\
**Certainty** is that of added entities: 100 n / (n + m) for n facts, where m is the median number
of facts of trained entities; it grows with n by definition. The mean entropy change of the fitted
distributions, in nats, is beside it (low means certain). **Coverage** is that of prediction sets
with a nominal coverage of 0.9, computed from validation facts of the other entities; it is not
guaranteed for new ones."""


class _Cells:
    """The rows of the tables for one graph, model and number of facts."""

    def __init__(self, row: Row, count: int, records: dict[str, Record]) -> None:
        self.head = [row.data, str(row.settings()["model"]["name"]), str(count)]
        found = [records.get(f"{row.id}/{kind}-{count}") for kind in ("updated", "retrained")]
        self.updated, self.retrained = ({} if r is None else r.metrics[OTHERS] for r in found)
        self.old = None if found[0] is None else found[0].metric("mrr")
        base = records[f"{row.id}/base"]
        self.before, self.seconds = base.metric("mrr"), base.metrics[OTHERS]["seconds"]

    def quality(self) -> list[str]:
        """Return the MRR of new and old facts."""
        new, again = self.updated, self.retrained
        share = f"{new['mrr'] / again['mrr']:.0%}" if again else "–"
        cells = [_number(new["mrr"]), _number(again.get("mrr")), share, f"{new['chance']:.4f}"]
        for side in ("query", "answer"):
            cells += [_number(new[side]), _number(again.get(side))]
        return [*self.head, *cells, _number(self.old), _number(self.before)]

    def cost(self) -> list[str]:
        """Return processor times."""
        again = self.retrained.get("seconds", self.seconds)
        share = f"{self.updated['seconds'] / again:.1%}"
        times = [f"{self.updated['seconds']:.2f}", f"{again:.0f}", share]
        return [*self.head, str(self.updated["entities"]), *times]

    def certainty(self) -> list[str]:
        """Return certainty, coverage and size of prediction sets."""
        new = self.updated
        entropy = "–" if new["entropy"] is None else f"{new['entropy']:.1f}"
        certainty = "–" if new["certainty"] is None else f"{new['certainty']:.0f}"
        names = ("coverage", "coverage_query", "coverage_answer")
        return [
            *self.head,
            certainty,
            entropy,
            *(_number(new[k]) for k in names),
            f"{new['size']:.0f}",
        ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
