"""Study of probabilities: are they frequencies of facts that were removed at random?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from kgflow.data import Dataset, Triples, load, save
from kgflow.evaluation import Scorer
from kgflow.runs.run import Run
from kgflow.uncertainty import (
    Calibration,
    Platt,
    TripleSample,
    calibrate,
    fit_truth,
    sample_triples,
    score_candidates,
)
from reproduce.corruptions import corruption_errors
from reproduce.experiments import Row
from reproduce.running import Plan, Result
from reproduce.study import Shown, Study, table

Floats = NDArray[np.float64]

LEAST = 0.01
"""Smallest probability of a candidate that counts."""
CASES = 200
"""Smallest effective number of candidates of a relation."""
QUERIES, SCORES = 4000, 5 * 10**7
"""Sampled queries of each kind, of test: all or more in small graphs, up to as many scores."""
BINS = 10
"""Bins of probability, of equal width."""
SEED = 7
"""Seed of the sample of test."""
WHOLE = "whole-queries"
"""Ending of rows from whose graph whole queries were removed."""

METHODS = {
    "sigmoid": "sigmoid(margin + score)",
    "platt": "Platt",
    "isotonic": "isotonic",
    "conditional": "conditional probability",
    "probability": "**probability**",
}
PUBLISHED = (
    ("RotatE, KGEC (published)", "fb15k-237", 0.094),
    ("TransE, KGEC (published)", "fb15k-237", 0.150),
    ("RotatE, KGEC (published)", "wn18rr", 0.307),
    ("TransE, KGEC (published)", "wn18rr", 0.280),
)


class ProbabilitiesStudy(Study):
    """Rows of probabilities.toml; their test facts are the removed ones."""

    name, title = "probabilities", "Is a probability the frequency of true facts?"
    about = "test facts are facts that the graph lacks, which the calibration has not seen."
    storable = True

    def seeds(self, row: Row) -> list[Plan]:
        """Return the run of a row."""
        values = row.settings()
        if row.id.endswith(WHOLE):
            values |= {"data": str(self._without_queries(row.data))}
        return [Plan(self.name, row.id, values=values)]

    def _without_queries(self, name: str) -> Path:
        target = self.directory / "data" / f"{name}-{WHOLE}"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            save(remove_queries(load(name)), target)
        return target

    def complete(self, result: Result) -> Result:
        """Measure the probabilities of a run, unless they are stored."""
        record = result.record
        if record is None or self.name in record.metrics:
            return result
        measured = measure(Run.open(result.plan.run(self.directory)))
        metrics = {**record.metrics, self.name: measured}
        return replace(result, record=replace(record, metrics=metrics))

    def show(self, results: Sequence[Result]) -> Shown:
        """Return tables of calibration errors."""
        done = {
            result.plan.row: dict(result.record.metrics[self.name])
            for result in results
            if result.record is not None
        }
        if not done:
            return Shown("No run is finished.", {"rows": []})
        parts = [INTRODUCTION, _errors(done), _relations(done), _bins(done), _published(done)]
        return Shown("\n\n".join(parts), {"rows": done})


def remove_queries(data: Dataset, share: float = 0.1, seed: int = 0) -> Dataset:
    """Split a data set again by queries (h, r, ?): all facts of one are in the same split."""
    everything = Triples.concatenate([data.train, data.valid, data.test])
    keys = everything.h * len(data.relations) + everything.r
    queries, of = np.unique(keys, return_inverse=True)
    draw = np.random.default_rng(seed).random(len(queries))[of]
    test, valid = draw < share, (draw >= share) & (draw < 2 * share)
    return replace(
        data,
        name=f"{data.name} without queries",
        train=everything.take(~test & ~valid),
        valid=everything.take(valid),
        test=everything.take(test),
    )


@dataclass(frozen=True, eq=False)
class Case:
    """A sample of triples with their truth, and the scores of (h, r, ?)."""

    sample: TripleSample
    score: Floats

    @classmethod
    def of(cls, scorer: Scorer, sample: TripleSample) -> "Case":
        """Score the triples of a sample."""
        score = scorer.score_triples(sample.h, sample.r, sample.t).double().numpy()
        return cls(sample, score)


def measure(run: Run) -> dict[str, Any]:
    """Calibrate a run without its test facts, and compare probabilities with frequencies of them.

    Methods: the sigmoid of the loss; Platt scaling and isotonic regression of the score of (h, r,
    ?), fitted to the same sample of triples as our probability; the conditional probability; ours.
    """
    data, (selection, conformal) = run.data, run.validation
    without = replace(data, test=Triples.empty())
    removed, left_out = without.index(selection), without.index(conformal)
    scorer = Scorer(run.model, without.index(data.train))
    calibration = _calibration(run, without)
    calibration = fit_truth(
        calibration,
        run.model,
        scorer.known,
        removed,
        len(selection) / len(data.valid),
        left_out=left_out,
    )
    fitted = Case.of(scorer, sample_triples(scorer, removed, left_out=left_out))
    after = Scorer(run.model, without.known)
    queries = max(QUERIES, SCORES // len(data.entities))
    test = Case.of(after, sample_triples(after, without.index(data.test), SEED, queries))
    found = _probabilities(run, calibration, fitted, test)
    sample, evidence = test.sample, calibration.evidence(
        after, test.sample.h, test.sample.r, test.sample.t
    )  # fmt: skip
    found["probability"] = expit(calibration.truth_log_odds(evidence))
    names = data.relations.names
    return {
        "data": run.config.data,
        "test": len(data.test),
        "methods": {k: errors(p, sample) for k, p in found.items()},
        "relations": by_relation(found["probability"], sample, names),
        "bins": _frequencies(found["probability"], sample),
        "corruptions": corruption_errors(run),
    }


def _calibration(run: Run, data: Dataset) -> Calibration:
    facts = run.validation.selection
    chosen = np.random.default_rng(run.config.seed).permutation(len(facts))[:2000]
    candidates = score_candidates(run.model, data.index(facts.take(chosen)), data.known)
    return calibrate(candidates, run.logit_offset)


def _probabilities(
    run: Run, calibration: Calibration, fitted: Case, test: Case
) -> dict[str, Floats]:
    from sklearn.isotonic import IsotonicRegression

    truth = fitted.sample.removed.astype(np.float64)
    given = fitted.score, truth, fitted.sample.weight
    isotonic = IsotonicRegression(out_of_bounds="clip", y_min=1e-9, y_max=1 - 1e-9)
    score = test.score
    return {
        "sigmoid": expit(run.logit_offset + score),
        "platt": expit(Platt.fit(*given)(score)),
        "isotonic": np.asarray(isotonic.fit(*given).predict(score)),
        "conditional": calibration.probability(score, test.sample.r),
    }


def errors(p: Floats, sample: TripleSample) -> dict[str, float]:
    """Compute ECE over the candidates above `LEAST`, and measures of how much is found.

    "floor" is the ECE of perfect probabilities with as many candidates, by simulation.
    """
    weight, truth = sample.weight, sample.removed.astype(np.float64)
    above = p > LEAST
    floor = np.mean([_ece(p, draw, weight) for draw in _draws(p, 20)])
    loss = -np.where(truth > 0, np.log(np.maximum(p, 1e-300)), np.log1p(-np.minimum(p, 1 - 1e-16)))
    return {
        "ece": _ece(p, truth, weight),
        "floor": float(floor),
        "candidates": float(weight[above].sum()),
        "found": float((weight * truth)[above].sum() / (weight * truth).sum()),
        "log_loss": float((weight * loss).sum() / (weight * truth).sum()),
    }


def _draws(p: Floats, count: int) -> list[Floats]:
    rng = np.random.default_rng(0)
    return [(rng.random(len(p)) < p).astype(np.float64) for _ in range(count)]


def _ece(p: Floats, truth: Floats, weight: Floats) -> float:
    above = p > LEAST
    if not above.any():
        return 0.0
    p, truth, weight = p[above], truth[above], weight[above]
    bins = np.minimum((BINS * p).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, weight * (p - truth))).sum() / weight.sum())


def by_relation(
    p: Floats, sample: TripleSample, names: Sequence[str]
) -> list[dict[str, float | str]]:
    r"""Compute the ECE of each relation with `CASES` candidates or more, effectively.

    The effective number of candidates with weights w is :math:`(\sum w)^2 / \sum w^2` (Kish).
    """
    rows: list[dict[str, float | str]] = []
    for r in np.unique(sample.r):
        here = (sample.r == r) & (p > LEAST)
        w, q, y = sample.weight[here], p[here], sample.removed[here].astype(np.float64)
        effective = w.sum() ** 2 / max((w**2).sum(), 1e-300)
        if effective >= CASES:
            floor = float(np.mean([_ece(q, draw, w) for draw in _draws(q, 20)]))
            row = {"ece": _ece(q, y, w), "floor": floor, "candidates": float(effective)}
            rows.append({"relation": names[r]} | row)
    return rows


def _frequencies(p: Floats, sample: TripleSample) -> list[dict[str, float]]:
    edges = np.array([LEAST, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0])
    rows = []
    for low, high in pairwise(edges):
        here = (p > low) & (p <= high)
        w = sample.weight[here]
        if w.sum():
            mean, share = (float((w * x[here]).sum() / w.sum()) for x in (p, sample.removed))
            rows.append({"low": float(low), "high": float(high), "probability": mean,
                         "frequency": share, "candidates": float(w.sum())})  # fmt: skip
    return rows


INTRODUCTION = f"""\
The calibration is fitted to validation facts, without test facts in any role; then every triple
that is neither in training nor in validation is a candidate, and the test facts are the true ones.
Candidates are a weighted sample of all triples. **ECE** is over the candidates with a probability
above {LEAST:g}, in {BINS} bins of equal width; its **floor** is the ECE of perfect probabilities
with as many candidates. **Found** is the share of the removed facts among these candidates, and
**log loss** is over all candidates, per removed fact; both tell how much the probabilities know.
Platt scaling and isotonic regression are fitted to the same sample of triples as our probability.
In rows called {WHOLE}, validation and test are all facts of a tenth of the queries (h, r, ?) each.
"""


def _errors(done: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        [row, title, *(f"{found[k]:.4f}" for k in ("ece", "floor")),
         f"{found['candidates']:,.0f}", f"{found['found']:.3f}", f"{found['log_loss']:.3f}"]
        for row, values in done.items()
        for key, title in METHODS.items()
        for found in [values["methods"][key]]
    ]  # fmt: skip
    head = ["run", "method", "ECE", "floor", "candidates", "found", "log loss"]
    return "## All candidates\n\n" + table(head, rows, words=2)


def _relations(done: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for row, values in done.items():
        found = sorted(values["relations"], key=lambda r: -r["ece"])
        over = sum(r["ece"] > 0.05 for r in found)
        worst = found[0] if found else {"relation": "–", "ece": 0.0, "floor": 0.0}
        cells = [row, str(worst["relation"]), str(len(found)), str(over)]
        rows.append([*cells, f"{worst['ece']:.3f}", f"{worst['floor']:.3f}"])
    head = ["run", "worst relation", "relations", "ECE above .05", "worst ECE", "its floor"]
    text = f"Relations with {CASES} candidates above {LEAST:g} or more (effective number)."
    return "## By relation\n\n" + text + "\n\n" + table(head, rows, words=2)


def _bins(done: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        [row, f"{b['low']:g} to {b['high']:g}", f"{b['probability']:.3f}",
         f"{b['frequency']:.3f}", f"{b['candidates']:,.0f}"]
        for row, values in done.items()
        for b in values["bins"]
    ]  # fmt: skip
    head = ["run", "probability", "mean", "frequency", "candidates"]
    return "## Reliability of the probability\n\n" + table(head, rows, words=2)


def _published(done: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for row, values in done.items():
        found = values["corruptions"]
        cells = [f"{found[k]:.3f}" for k in ("pairs_before", "pairs", "top_before", "top")]
        rows.append([row, values["data"].rpartition("/")[2], *cells])
    rows += [[name, data, "", "", "", f"{value:.3f}"] for name, data, value in PUBLISHED]
    head = ["run", "data", "pairs, sigmoid", "pairs, calibrated", "top, softmax", "top, calibrated"]
    text = (
        "Two definitions of the literature, over 10 bins. **Pairs** (Tabacof, Costabello 2020):"
        " each test fact and one corruption of it, of its head or tail by any entity, both with"
        " weight one; calibrated by Platt scaling or by a spline on validation facts and their"
        " corruptions, the better on validation. **Top** (Guo et al. 2017): the probability of the"
        " best answer to each test query, by softmax over the candidates, and whether it is the"
        " test answer; calibrated by a temperature. The published values are those of KGEC (Yang,"
        " Timilsina, Curry 2025) after calibration; which bins and which negatives they used is"
        " not checked here, so compare them with care."
    )
    return "## Definitions of other papers\n\n" + text + "\n\n" + table(head, rows, words=2)
