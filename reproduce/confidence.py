"""Confidences of triples: errors, intervals and ranking on whole graphs, beside published ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kgflow.runs.run import Run
from reproduce.running import Result
from reproduce.small import to_dict
from reproduce.study import Shown, Study, table

COVERAGE = 0.9
"""Nominal coverage of intervals."""
KEY = "confidence"
"""Key of the measures in stored results."""
ERRORS = ("direct", "mapped", "fitted", "constant")
"""Predictions whose errors are shown."""
HEAD = (
    "graph", "model", "confidence", *(f"MSE {name}" for name in ERRORS),
    *(f"MAE {name}" for name in ERRORS), "coverage", "mean width",
    "reversed", "epochs", "s",
)  # fmt: skip
RANKING_HEAD = (
    "graph", "model", "confidence", "MRR", "MRR ≥ .7", "Hits@1 ≥ .7", "Hits@10 ≥ .7", "nDCG linear",
    "nDCG exp.",
)  # fmt: skip
PUBLISHED = (
    ("nl27k", "PASSLEAF RotatE", ".0195", ".0625", ".656", ".762"),
    ("nl27k", "PASSLEAF DistMult", ".0231", ".0511", ".633", ".707"),
    ("nl27k", "PASSLEAF ComplEx", ".0243", ".0518", ".662", ".741"),
    ("nl27k", "FocusE", "–", "–", ".829", ".870"),
    ("cn15k", "PASSLEAF RotatE", ".0938", ".2480", ".125", ".127"),
    ("cn15k", "PASSLEAF ComplEx", ".2310", ".3997", ".175", ".196"),
    ("cn15k", "FocusE", "–", "–", ".228", ".242"),
)
"""Results that unKR prints: MSE, MAE, MRR of all, MRR of high confidence."""
PROTOCOL = """\
unKR (Wang et al., a library for uncertain knowledge graphs) prints these: the best of each measure
among its models that are not few-shot. Its code evaluates like the tables above: the same splits;
errors over the test triples as (h, r, t), without corrupted ones; MRR of tails only, filtered by
the triples of all splits, of all test triples and of those with a confidence of 0.7 or more.
Differences: here repeated triples of CN15k are merged, each with its largest confidence, ties are
counted realistically instead of by the order of sorting, and *mapped* and *fitted* use the
validation triples to fit a regression, where unKR uses them to choose the epoch only."""


class ConfidenceStudy(Study):
    """Rows of confidence.toml."""

    name, title, storable = "confidence", "Confidences of triples", True
    about = (
        "whole graphs. A model is trained to predict confidences (regression) or to rank, with"
        " confidences as weights (weight). Errors are of the test triples: direct, of σ(margin +"
        " score); mapped, of the monotone map of scores fitted to the validation triples; fitted,"
        " of the regression on the score and on the confidences of training triples that share"
        " parts with a triple; constant, of the mean confidence of validation. Coverage and mean"
        f" width are of intervals of nominal coverage {COVERAGE}, whose thresholds come from"
        " validation triples that fit nothing else. Reversed is the share of test triples with a"
        " training triple between the same entities in the other direction: its confidence tells"
        " much of theirs, which the regression uses, and an embedding can."
    )

    def complete(self, result: Result) -> Result:
        """Measure the confidences of a run, unless they are stored."""
        record = result.record
        if record is None or KEY in record.metrics:
            return result
        measured = self.measure(Run.open(result.plan.run(self.directory)))
        return replace(result, record=replace(record, metrics={**record.metrics, KEY: measured}))

    def measure(self, run: Run) -> dict[str, Any]:
        """Return errors, intervals and ranking metrics of a run on test."""
        intervals = run.interval_coverage(COVERAGE).to_dict()
        train, test = run.data.train, run.data.test
        E = len(run.data.entities)
        pair = np.isin(test.t * E + test.h, train.h * E + train.t)
        more = {"intervals": intervals, "reversed": float(pair.mean())}
        return run.evaluate_confidence().to_dict() | more

    def show(self, results: Sequence[Result]) -> Shown:
        """Return a table of errors, one of rankings, and the published results."""
        errors, rankings, values = [], [], []
        for result in results:
            record = result.record
            found = record.metrics[KEY] if record is not None else {}
            errors.append([*_names(result), *_error_cells(result, found)])
            rankings.append([*_names(result), *_ranking_cells(found)])
            values.append(to_dict(result) | found)
        graphs = {result.plan.values["data"] for result in results if result.plan.values}
        published = [list(row) for row in PUBLISHED if row[0] in graphs]
        head = ("graph", "model", "MSE", "MAE", "MRR", "MRR ≥ .7")
        parts = [
            table(HEAD, errors, words=3),
            "## Ranking of tails",
            table(RANKING_HEAD, rankings, words=3),
            "## Published",
            table(head, published, words=2),
            PROTOCOL,
        ]
        return Shown("\n\n".join(parts), {"results": values})


def _names(result: Result) -> list[str]:
    values = result.plan.values or {}
    kind = values["training"]["loss"]["confidence"]
    return [values["data"], f"`{values['model']['name']}`", kind]


def _error_cells(result: Result, found: Mapping[str, Any]) -> list[str]:
    if not found or result.record is None:
        return ["–"] * (len(HEAD) - 3)
    rows = [found[name] or {} for name in ERRORS]
    numbers = [row.get(error) for error in ("mse", "mae") for row in rows]
    numbers += [found["intervals"][name] for name in ("measured", "mean_width")]
    numbers.append(found["reversed"])
    cells = ["–" if x is None else f"{x:.4f}" for x in numbers]
    return [*cells, str(len(result.record.history)), f"{result.record.seconds:.0f}"]


def _ranking_cells(found: Mapping[str, Any]) -> list[str]:
    if not found:
        return ["–"] * (len(RANKING_HEAD) - 3)
    high = found["high"] or {}
    numbers = [found["tails"]["mrr"], *(high.get(name) for name in ("mrr", "hits@1", "hits@10"))]
    numbers += [found["ndcg"][kind] for kind in ("linear", "exponential")]
    return ["–" if x is None else f"{x:.4f}" for x in numbers]
