"""Study of queries of several hops: ranks of answers, calibration, coverage, composed relations."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kgflow.data import Triples
from kgflow.evaluation.metrics import Floats
from kgflow.models.protocols import ComposableRelations
from kgflow.queries.engine import SMALL, QueryEngine
from kgflow.queries.execution import Executor
from kgflow.queries.facts import FactProbabilities
from kgflow.queries.prediction_sets import nonconformities, set_size
from kgflow.queries.sampling import QuerySampler, SampledQuery
from kgflow.queries.tree import SHAPES, Node
from kgflow.runs.run import Run
from kgflow.uncertainty import Calibration, Reliability
from reproduce.results import Record
from reproduce.running import Result
from reproduce.study import Shown, Study, table

QUERIES, QUERIES_OF_LARGE_GRAPHS = 40, 12
"""Queries of each shape, in graphs that are small and in others."""
BEAM, COVERAGE = 64, 0.9
"""Intermediate entities, and nominal coverage."""
POSITIVE = tuple(SHAPES)[:9]
"""Shapes without negation, whose average is published."""
PUBLISHED = {"GQE": 0.163, "Query2Box": 0.201, "BetaE": 0.209, "CQD-Beam": 0.223, "QTO": 0.335}
"""Published average MRR of the nine shapes without negation on FB15k-237."""
KINDS = ("calibrated", "uncalibrated")
"""Probabilities of unknown facts: those of `kgflow ask`, and σ(margin + score) of the loss."""
CHAINS = ("1p", "2p", "3p")

INTRODUCTION = f"""\
Queries of the 14 usual shapes (p projection, i intersection, u union, n negation), drawn by this
study as those of BetaE: from a random answer back to the names, on the graph of all splits. An
answer is hard if it does not follow from training and validation. The beam has {BEAM} entities,
existential variables take the maximum, and unions and negations are as in `kgflow ask`. MRR is the
mean over queries of the mean reciprocal rank of the hard answers among entities that are no
answers, ties realistic. No setting was chosen by these queries; that the chance that an answer is
missing weighs facts was chosen by validation queries of CoDEx-S.

Limits: one seed and few queries, so that means of a shape are uncertain. Rows of commits before
6775c94 were measured with an earlier P(fact), whose calibrators were steps and which ignored how
many answers are known; `kgflow ask` has the probabilities of `kgflow predict` since then.
"""


class QuestionsStudy(Study):
    """Rows of questions.toml, whose answers to queries of several hops are measured."""

    name, title = "questions", "Queries of several hops"
    about = "each run measured on random queries of 14 shapes."
    storable = True

    def complete(self, result: Result) -> Result:
        """Add the measurements to a finished run that has none."""
        if result.record is None or "questions" in result.record.metrics:
            return result
        found = measure(Run.open(result.plan.run(self.directory)))
        metrics = dict(result.record.metrics) | {"questions": found}
        return replace(result, record=Record(**vars(result.record) | {"metrics": metrics}))

    def show(self, results: Sequence[Result]) -> Shown:
        """Return a table of each measurement."""
        found = {
            result.plan.id: result.record.metrics["questions"]
            for result in results
            if result.record is not None
        }
        if not found:
            return Shown("No run is finished.", {"questions": {}})
        parts = [INTRODUCTION, "## MRR of hard answers", mrr_table(found), published_line(found)]
        parts += ["## Calibration of the probabilities", calibration_table(found)]
        parts += [f"## Coverage of prediction sets ({COVERAGE:.0%} nominal)", coverage_table(found)]
        parts += ["## Beam and composed relations", composition_table(found)]
        return Shown("\n\n".join(parts), {"questions": found})


def measure(run: Run, queries: int | None = None, seed: int = 0) -> dict[str, Any]:
    """Measure ranks, calibration, coverage and composition of a run."""
    data, known = run.data, Triples.concatenate([run.data.train, run.data.valid])
    queries = queries or (QUERIES if len(data.entities) <= SMALL else QUERIES_OF_LARGE_GRAPHS)
    # The test triples are what is missing.
    engine = run.queries.knowing(replace(data, test=Triples.empty()))
    sampler = QuerySampler(data, known, seed)
    found: dict[str, Any] = {}
    for name, shape in SHAPES.items():
        hard, drawn = sampler.draw(shape, queries), sampler.draw(shape, queries, hard=False)
        row: dict[str, Any] = {"queries": len(hard), "hard": sum(len(q.hard) for q in hard)}
        for kind in KINDS:
            facts = probabilities(run, engine, kind)
            values = evaluate(engine, facts, hard)
            ranks = [reciprocal_rank(v, q) for v, q in zip(values, hard, strict=True)]
            row[kind] = {"mrr": float(np.mean(ranks))} | reliability(
                evaluate(engine, facts, drawn), drawn
            )
            if kind == "calibrated":
                row["coverage"] = coverage(engine, name, hard, values, queries)
        if name in CHAINS and isinstance(run.model.base, ComposableRelations):
            row["composition"] = composition(engine, hard)
        found[name] = row
    return found


def evaluate(
    engine: QueryEngine, facts: FactProbabilities, queries: Sequence[SampledQuery]
) -> list[Floats]:
    """Return the values of all entities for each query."""
    executor = Executor(engine.known, facts, beam=BEAM)
    return [executor(query.node).value for query in queries]


def probabilities(run: Run, engine: QueryEngine, kind: str) -> FactProbabilities:
    """Return probabilities of facts, of a kind in `KINDS`."""
    if kind == "calibrated":
        return engine.facts()
    return FactProbabilities(engine.scorer, Calibration(margin=run.logit_offset))


def reciprocal_rank(value: Floats, query: SampledQuery) -> float:
    """Return the mean reciprocal rank of the hard answers among entities that are no answers.

    Example:
        >>> ids = np.array([0, 1])
        >>> query = SampledQuery(SHAPES["1p"], answers=ids, hard=ids[1:], known=ids[:1])
        >>> reciprocal_rank(np.array([0.9, 0.5, 0.5, 0.6]), query)
        0.4
    """
    others = np.delete(value, query.answers)
    target = value[query.hard][:, None]
    rank = 1 + (others > target).sum(1) + (others == target).sum(1) / 2
    return float((1 / rank).mean())


def reliability(values: Sequence[Floats], queries: Sequence[SampledQuery]) -> dict[str, float]:
    """Compare probabilities of entities that are no known answers with the truth.

    Returns:
        ece: Expected calibration error per query, in answers; see `Reliability`. expected, true:
        Sum of the probabilities, and number of true new answers, per query.
    """
    log_odds, truth, answer = [], [], []
    for i, (value, query) in enumerate(zip(values, queries, strict=True)):
        p = np.clip(np.delete(value, query.known), 1e-12, 1 - 1e-12)
        log_odds.append(np.log(p) - np.log1p(-p))
        truth.append(np.delete(np.isin(np.arange(len(value)), query.hard), query.known))
        answer.append(np.full(len(p), i))
    z, y = np.concatenate(log_odds), np.concatenate(truth).astype(np.float64)
    ids = np.arange(len(values))
    found = Reliability(ids, z, y, np.ones(len(z)), np.concatenate(answer))
    error = float("nan") if not y.any() else float(np.abs(found.calibration_gaps().mean(0)).sum())
    return {
        "ece": error,
        "expected": float(found.p.sum()) / len(ids),
        "true": float(y.sum()) / len(ids),
    }


def coverage(
    engine: QueryEngine,
    name: str,
    hard: Sequence[SampledQuery],
    values: Sequence[Floats],
    queries: int,
) -> dict[str, float]:
    """Measure how often prediction sets contain a missing answer, with a threshold of validation.

    Args:
        engine: Engine that knows training and validation.
        name: Query shape.
        hard: Queries with answers that need a test triple.
        values: Their values of all entities.
        queries: Number of queries with answers that need a held-out validation triple.
    """
    data, valid = engine.data, engine.validation
    known = Triples.concatenate([data.train, valid.selection])
    drawn = QuerySampler(data, known, seed=1).draw(SHAPES[name], queries)
    before = engine.knowing(replace(data, valid=valid.selection))
    scores = nonconformities(drawn, evaluate(before, before.facts(), drawn))
    rng = np.random.default_rng(2)
    sizes = [set_size(scores, COVERAGE, len(data.entities), rng) for _ in hard]
    inside = np.ceil(nonconformities(hard, values, seed=3)) <= sizes
    return {
        "held_out": len(scores),
        "measured": float(inside.mean()),
        "size": float(np.mean(sizes)),
    }


def composition(engine: QueryEngine, hard: Sequence[SampledQuery]) -> dict[str, float]:
    """Measure MRR and CPU milliseconds of chains composed into one function, and of the beam."""
    ways: dict[str, Callable[[Node], Floats]] = {
        "composed": engine.composed.chain_scores,
    }
    for name, model_only in (("beam", False), ("beam, model only", True)):
        executor = Executor(engine.known, engine.facts(model_only), beam=BEAM)
        ways[name] = partial(_value, executor)
    found: dict[str, float] = {}
    for name, values in ways.items():
        start = time.process_time()
        ranks = [reciprocal_rank(values(query.node), query) for query in hard]
        found[f"{name} mrr"] = float(np.mean(ranks))
        found[f"{name} ms"] = 1000 * (time.process_time() - start) / len(hard)
    return found


def _value(executor: Executor, node: Node) -> Floats:
    return executor(node).value


Found = dict[str, dict[str, Any]]


def mrr_table(found: Found) -> str:
    """Return the MRR of hard answers by shape, and the means of nine and of five shapes."""
    rows = []
    for run, shapes in found.items():
        for kind in KINDS:
            values = [shapes[name][kind]["mrr"] for name in SHAPES]
            means = [np.mean(values[: len(POSITIVE)]), np.mean(values[len(POSITIVE) :])]
            rows.append([f"`{run}`", kind, *(f"{value:.3f}" for value in [*values, *means])])
    return table(["run", "P(fact)", *SHAPES, "mean", "negated"], rows, words=2)


def published_line(found: Found) -> str:
    """Return the published averages, which are of other queries."""
    known = ", ".join(f"{name} {value:.3f}" for name, value in PUBLISHED.items())
    counts = {str(row["queries"]) for shapes in found.values() for row in shapes.values()}
    return (
        "The means are of the nine shapes without negation and of the five with it. Published means"
        f" of the nine on FB15k-237, of other queries: {known}. Here: {' or '.join(sorted(counts))}"
        " queries per shape and graph."
        + ("" if any("fb15k-237" in run for run in found) else " No run on FB15k-237 is stored.")
    )


def calibration_table(found: Found) -> str:
    """Return expected calibration errors of queries that were drawn from known facts."""
    note = (
        "Queries drawn from the known facts, whether or not an answer is missing, and all entities"
        " that are no known answers. `true` is the number of answers that test adds per query,"
        " `expected` the sum of the probabilities, `ECE` the expected calibration error in answers"
        " per query (0 is best; a model that says 0 everywhere has `true`). Means of all shapes."
    )
    rows = []
    for run, shapes in found.items():
        for kind in KINDS:
            cells = [[row[kind][name] for row in shapes.values()] for name in COLUMNS]
            rows.append([f"`{run}`", kind, *(f"{np.nanmean(values):.4f}" for values in cells)])
    return f"{note}\n\n" + table(["run", "P(fact)", *COLUMNS], rows, words=2)


COLUMNS = ("true", "expected", "ece")


def coverage_table(found: Found) -> str:
    """Return measured coverage and size of prediction sets by shape."""
    rows = []
    for run, shapes in found.items():
        cells = [shapes[name]["coverage"] for name in SHAPES]
        rows.append([f"`{run}`", "coverage", *(f"{cell['measured']:.2f}" for cell in cells)])
        rows.append([f"`{run}`", "size", *(f"{cell['size']:.0f}" for cell in cells)])
    return table(["run", "", *SHAPES], rows, words=2)


def composition_table(found: Found) -> str:
    """Return MRR and CPU time of beam and composition on the same chains."""
    rows = []
    for run, shapes in found.items():
        for name in CHAINS:
            cells = shapes[name].get("composition", {})
            rows += [[f"`{run}`", name, *_composition_cells(cells)]] if cells else []
    head = [f"{way} {what}" for way in WAYS for what in ("MRR", "ms")]
    return table(["run", "shape", *head], rows, words=2)


WAYS = ("beam", "beam, model only", "composed")


def _composition_cells(cells: dict[str, float]) -> list[str]:
    pairs = ((f"{cells[f'{way} mrr']:.3f}", f"{cells[f'{way} ms']:.1f}") for way in WAYS)
    return [cell for pair in pairs for cell in pair]
