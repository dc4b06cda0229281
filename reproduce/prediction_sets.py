"""Sizes and coverage of prediction sets, beside published ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgflow.runs.run import Run
from kgflow.uncertainty import measure_coverages
from reproduce.running import Result
from reproduce.small import to_dict
from reproduce.study import Shown, Study, table

COVERAGE = 0.9
"""Nominal coverage."""
KEY = "prediction_sets"
"""Key of the measures in stored results."""
PUBLISHED = {
    "fb15k-237": (("conformal, smallest", 243), ("conformal, largest", 341)),
    "wn18rr": (("smallest (TransE, fixed k)", 3572), ("largest", 18262)),
}
"""Mean sizes of Zhu et al., NAACL 2025, Table 8: coverage .90, filtered."""
FIXED_K = {"fb15k-237": (752, 876)}
"""Smallest and largest size of the sets of fixed k there."""
PUBLISHED_SCORES = ("softmax", "minmax")
"""Nonconformity scores of the published results that are measured on test, too."""
SCORES = ("rank", "score", "minmax", "softmax", "aps", "raps", "logit")
"""Nonconformity scores in the order of the columns."""
HEAD = (
    "graph", "model", "score", "test MRR", "coverage", "99 % interval", "mean size", "median",
    "gap of relations", "coverage by relation", "mean size by relation", "gap by relation",
)  # fmt: skip


class PredictionSetsStudy(Study):
    """Rows of prediction_sets.toml.

    Example:
        >>> from pathlib import Path
        >>> from reproduce.study import Options
        >>> PredictionSetsStudy(Path(), Path(), Options(data=("wn18rr",))).plans()[0].command
        'python -m reproduce prediction_sets --row wn18rr/nfe-1'
    """

    name, title, storable = "prediction_sets", "Prediction sets", True
    about = (
        f"prediction sets of nominal coverage {COVERAGE} for all test queries, both sides, known"
        " answers excluded. Thresholds come from 30 % of the validation triples, which decide"
        " nothing else; the nonconformity score is the one with the smallest mean set on a third"
        " (at most 500) of the other validation triples, and `logit` is fitted to the remaining"
        " ones (at most 1,500). The interval is where measured coverage lies in 99 % of cases if"
        " the promise holds. The gap of relations is the mean distance of a relation's and side's"
        " coverage from the nominal one, weighted by its answers; by relation, each relation and"
        " side has its own threshold, or that of a cluster. Published sizes are those of Zhu et"
        " al., Conformalized answer set prediction for knowledge graph embedding, NAACL 2025, Table"
        " 8: there the thresholds come from all validation triples, and the models are others. The"
        " rows of our models with the published scores tell what is due to the models."
    )

    def complete(self, result: Result) -> Result:
        """Measure the prediction sets of a run, unless they are stored."""
        record = result.record
        if record is None or KEY in record.metrics:
            return result
        measured = measure(Run.open(result.plan.run(self.directory)))
        return replace(result, record=replace(record, metrics={**record.metrics, KEY: measured}))

    def show(self, results: Sequence[Result]) -> Shown:
        """Return the table of the chosen scores, and that of all scores."""
        done = [(result, result.record) for result in results if result.record is not None]
        found = [(result, record, record.metrics[KEY]) for result, record in done]
        lines = [
            _line(result, record.metric("mrr"), name, sets)
            for result, record, sets in found
            for name in sets["scores"]
        ]
        graphs = dict.fromkeys(_names(result)[0] for result, _, _ in found)
        lines += [_published(graph, *pair) for graph in graphs for pair in PUBLISHED.get(graph, ())]
        lines += [
            _published(graph, f"fixed k, {word}", size)
            for graph in graphs
            for word, size in zip(("smallest", "largest"), FIXED_K.get(graph, ()), strict=False)
        ]
        every = [_sizes(result, sets) for result, _, sets in found]
        text = "\n\n".join(
            [
                table(HEAD, sorted(lines, key=lambda line: line[0]), words=3),
                "## Mean sizes on validation, by which the score is chosen",
                table(("graph", "model", *(f"`{name}`" for name in SCORES)), every, words=2),
            ]
        )
        values = [to_dict(result) | sets for result, _, sets in found]
        return Shown(text, {"results": values})


def measure(run: Run) -> dict[str, Any]:
    """Measure the sets of the chosen score, also by relation, and of published scores on test."""
    compared = run.compare_nonconformity(COVERAGE)
    names = dict.fromkeys((compared.smallest, *PUBLISHED_SCORES))
    conformals = [run.conformal(COVERAGE, nonconformity=name) for name in names]
    conformals.append(run.conformal(COVERAGE, by_relation=True))
    queries, known = run.data.queries("test"), run.data.known
    found = [
        coverage.to_dict()
        for coverage in measure_coverages(run.model, conformals, queries, known, COVERAGE)
    ]
    return {
        "chosen": compared.smallest,
        "validation_sizes": compared.sizes,
        "scores": dict(zip(names, found, strict=False)),
        "by_relation": found[-1],
    }


def _names(result: Result) -> tuple[str, str]:
    values = result.plan.values or {}
    return values["data"], f"`{values['model']['name']}`"


def _line(result: Result, mrr: float, name: str, sets: Mapping[str, Any]) -> list[str]:
    one, own, chosen = sets["scores"][name], sets["by_relation"], name == sets["chosen"]
    own_cells = (
        f"{own['measured']:.4f}",
        f"{own['size']['mean']:,.0f}",
        f"{own['relation_gap']:.4f}",
    )
    return [
        *_names(result),
        f"`{name}`{' (chosen)' * chosen}",
        f"{mrr:.3f}",
        f"{one['measured']:.4f}",
        f"{one['low']:.3f}–{one['high']:.3f}",
        f"{one['size']['mean']:,.0f}",
        f"{one['size']['median']:,.0f}",
        f"{one['relation_gap']:.4f}",
        *(own_cells if chosen else ["–"] * len(own_cells)),
    ]


def _published(graph: str, name: str, size: float) -> list[str]:
    cells = [graph, "published", name, "–", ".90", "–", f"{size:,}"]
    return [*cells, *["–"] * (len(HEAD) - len(cells))]


def _sizes(result: Result, sets: Mapping[str, Any]) -> list[str]:
    return [*_names(result), *(f"{sets['validation_sizes'][name]:,.0f}" for name in SCORES)]
