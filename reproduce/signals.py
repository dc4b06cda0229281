"""Comparison of entropies with simpler signals of correct predictions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.data.dataset import SPLITS
from kgflow.errors import KgflowError
from kgflow.evaluation import Scorer, rank
from kgflow.kernels import blocks
from kgflow.models import Ensemble, composed_entropy
from kgflow.runs.run import Run
from kgflow.uncertainty.agreement import member_agreement
from reproduce.selective import auroc, auroc_draws, interval, rejection_curve

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Progress = Callable[[float], None]

ENTROPIES = ("query entropy", "answer entropy", "composed entropy")
TRUST = ("probability", "conditional probability", "set size")
"""What is calibrated: signals that people are shown."""
MEMBERS = ("agreement", "deviation")
"""Signals of ensembles."""
BASELINES = ("top score", "score margin", "degree", "answer degree", "fan-out")

SET_MASS, SET_QUERIES = 0.9, 512
"""Softmax probability of a set of answers, and queries scored at a time for it."""

WITHOUT, WITH = "baselines together", "entropies added"
"""Logistic regressions on all baselines, and on all baselines and entropies."""

POINTS = 100
"""Number of points of a rejection curve."""

CHUNK = 4096
"""Number of queries whose composed entropies are computed at once."""

MAX_DRAWS = 100
"""Largest number of draws for one corrupted query."""


def signals(
    run: Run,
    h: Ids,
    r: Ids,
    known: QueryIndex,
    progress: Progress = lambda share: None,
) -> dict[str, Floats]:
    r"""Return the signals of queries (h, r, ?), ``(Q,)`` each; higher means more certain.

    - top score: score of the best answer; its probability gives the same order of queries
    - score margin: difference to the score of the second best answer
    - degree: number of training triples of h
    - answer degree: number of training triples of the best answer
    - fan-out: minus the mean number of answers of the relation's queries in training
    - probability: that the best answer is true; conditional probability: if one is missing
    - set size: minus the number of answers that have a softmax probability of 0.9 together, at
      the temperature of the calibration
    - agreement, deviation: of the members of an ensemble, see `member_agreement`
    - query entropy: :math:`-H(f_h(x_0))`
    - answer entropy: :math:`-H(f_{\hat t}(x_0))` of the best answer
    - composed entropy: :math:`-H(f_r \circ f_h(x_0))`

    Entropies are relative to :math:`H(x_0)`, and missing for models without entropies.

    Args:
        run: trained run.
        h: entities of the queries, ``(Q,)``.
        r: relations or inverse relations, ``(Q,)``.
        known: answers to leave out.
        progress: callback that receives the completed fraction.
    """
    score, answer = Scorer(run.model, known).top_k(h, r, 2, progress=progress)
    degree = run.data.train.degrees(len(run.data.entities)).astype(np.float64)
    found = {
        "top score": score[:, 0],
        "score margin": score[:, 0] - score[:, -1],
        "degree": degree[h],
        "answer degree": degree[answer[:, 0]],
        "fan-out": -_answers_per_query(run.data.queries("train"))[r],
    }
    found |= _trust(run, h, r, answer[:, 0], Scorer(run.model, known))
    entropy = run.predictor.entropy["entity"]
    if entropy is not None:
        found |= {"query entropy": -entropy[h], "answer entropy": -entropy[answer[:, 0]]}
    composed = _composed(run, h, r)
    return found if composed is None else found | {"composed entropy": -composed}


def _trust(run: Run, h: Ids, r: Ids, answer: Ids, scorer: Scorer) -> dict[str, Floats]:
    """Return the signals that are calibrated, and those of an ensemble."""
    R, calibration = len(run.data.relations), run.predictor.calibration
    inverse = r >= R
    triples = np.where(inverse, answer, h), r % R, np.where(inverse, h, answer)
    evidence = calibration.evidence(scorer, *triples)
    odds = np.where(inverse, evidence.odds[:, 1], evidence.odds[:, 0])
    found = {
        "probability": calibration.truth_log_odds(evidence),
        "conditional probability": odds,
        "set size": -_set_sizes(scorer, h, r, calibration.temperature),
    }
    if isinstance(run.model, Ensemble):
        members = member_agreement(run.model, scorer, h, r)
        found |= {"agreement": members.agreement, "deviation": -members.deviation}
    return found


def _set_sizes(scorer: Scorer, h: Ids, r: Ids, temperature: float) -> Floats:
    parts = [np.empty(0)]
    for low, high in blocks(len(h), scorer.batch_size(SET_QUERIES)):
        S = scorer.filtered_scores(h[low:high], r[low:high]).double() / temperature
        mass = torch.softmax(S, dim=1).sort(dim=1, descending=True).values.cumsum(1)
        parts.append((mass < SET_MASS).sum(1).double().cpu().numpy() + 1)
    return np.concatenate(parts)


def _answers_per_query(train: QueryIndex) -> Floats:
    queries = np.bincount(train.r, minlength=train.relations)
    return np.bincount(train.r, train.counts, train.relations) / np.maximum(queries, 1)


def _composed(run: Run, h: Ids, r: Ids) -> Floats | None:
    parts = []
    for low in range(0, max(1, len(h)), CHUNK):
        ids = (run.predictor.tensor(x[low : low + CHUNK]) for x in (h, r))
        found = composed_entropy(run.model, *ids)
        if found is None:
            return None
        parts.append(found.double().cpu())
    return torch.cat(parts).numpy()


def corrupted_heads(r: Ids, pool: Ids, known: QueryIndex, seed: int = 0) -> Ids:
    """Draw for each relation an entity that is not the head of any known triple of it, ``(Q,)``.

    Args:
        r: relations; for an inverse relation, the entity is not a known tail.
        pool: entities to draw from, with repetitions for larger probabilities.
        known: triples of all splits, with inverse relations.
        seed: random seed.

    Returns:
        Ids of entities, -1 where no entity was found.

    Example:
        >>> from kgflow.data import Triples
        >>> known = QueryIndex.build(Triples.of([(0, 0, 1), (1, 0, 2)]), entities=3, relations=1)
        >>> corrupted_heads(np.array([0, 0, 1]), np.array([0, 1, 2]), known).tolist()
        [2, 2, 0]
    """
    rng, found = np.random.default_rng(seed), np.full(len(r), -1)
    for _ in range(MAX_DRAWS):
        missing = np.flatnonzero(found < 0)
        if not len(missing) or not len(pool):
            break
        drawn = rng.choice(pool, size=len(missing))
        fits = known.find(drawn, r[missing]) < 0
        found[missing[fits]] = drawn[fits]
    return found


def combine_signals(
    names: Sequence[str],
    fitted: Mapping[str, Floats],
    hit: NDArray[np.bool_],
    new: Mapping[str, Floats],
) -> Floats:
    """Return the log odds of a hit by logistic regression on several signals, ``(M,)``.

    Each signal enters as the share of the fitted values below it, which is independent of scale
    and finite. The log odds are zero where all fitted values are hits, or none.

    Args:
        names: names of the signals.
        fitted: signals for fitting, ``(N,)`` each.
        hit: whether each of them is a hit, ``(N,)``.
        new: signals to which the regression is applied, ``(M,)`` each.
    """
    from sklearn.linear_model import LogisticRegression

    if hit.all() or not hit.any():
        return np.zeros(len(next(iter(new.values()))))
    train, test = (
        np.column_stack([_share_below(fitted[name], x[name]) for name in names])
        for x in (fitted, new)
    )
    odds: Floats = LogisticRegression(max_iter=1000).fit(train, hit).decision_function(test)
    return odds


def _share_below(fitted: Floats, x: Floats) -> Floats:
    ordered = np.sort(fitted)
    below, not_above = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    return (below + not_above) / (2 * len(ordered))


class Added(NamedTuple):
    """Difference in the AUROC of hits at 1 with and without entropies, and its 95 % interval."""

    difference: float
    low: float
    high: float


class _Answers(NamedTuple):
    """Signals ``(P,)`` by name, filtered rank, and index of the query for each answer."""

    signals: dict[str, Floats]
    ranks: Floats
    query: Ids


@dataclass(frozen=True, eq=False)
class SignalComparison:
    """Association of each signal with the ranks of the answers of a split.

    Args:
        errors: table with a row for each signal: signal, entropy (whether it contains an entropy),
            auroc@1 for hit or miss at 1 with its 95 % interval low@1 and high@1, auroc@10 likewise,
            spearman (with the rank of the answer; negative is good), area (under the rejection
            curve, the mean MRR over all shares) and gain (0 for a random order of the queries, 1
            for the order of the true ranks). The last two signals are logistic regressions on all
            baselines, and on all baselines and entropies, fitted to validation triples.
        corrupted: table with a row for each signal and kind of corrupted query: signal, entropy,
            drawn, auroc, low, high, queries.
        curves: table of rejection curves: signal, share, mrr; with "random" and "oracle".
        added: change of the AUROC by entropies; None without entropies or validation triples.
    """

    data: str
    model: str
    split: str
    answers: int
    queries: int
    mrr: float
    hits1: float
    hits10: float
    errors: pl.DataFrame
    corrupted: pl.DataFrame
    curves: pl.DataFrame
    added: Added | None

    @property
    def has_entropy(self) -> bool:
        """Whether the model has entropies."""
        return bool(self.errors["entropy"].any())

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        frames = ("errors", "corrupted", "curves")
        plain = {k: v for k, v in vars(self).items() if k not in frames}
        plain["added"] = None if self.added is None else self.added._asdict()
        return plain | {name: getattr(self, name).to_dicts() for name in frames}


def compare_signals(
    run: Run,
    split: str = "test",
    progress: Progress = lambda share: None,
    most: int | None = None,
) -> SignalComparison:
    """Compare entropies with score, margin and degree as signals of correct predictions.

    Each answer of the split is one observation with its filtered rank, ties realistic. Signals use
    only the answers of the other splits.

    A corrupted query is a query of the split with an entity that the relation never has. The
    entity is drawn from all trained entities ("any"), or from the queries of the split ("split"),
    so that its degree is no evidence.

    Args:
        run: trained run.
        split: train, valid or test.
        progress: callback that receives the completed fraction.
        most: largest number of triples of a split, drawn where there are more; all by default.
    """
    queries, others = _queries(run, split, most)
    if not len(queries):
        raise KgflowError(f"{run.data.name} has no {split} triples to compare signals on")
    real = signals(run, queries.h, queries.r, others, _part(progress, 0, 4))
    answers = _answers(run, queries, real, _part(progress, 1, 4))
    combined = _combined(run, split, answers, most, _part(progress, 2, 4))
    ranks = answers.ranks
    return SignalComparison(
        data=run.data.name,
        model=run.config.model.name,
        split=split,
        answers=len(ranks),
        queries=len(queries),
        mrr=float((1 / ranks).mean()),
        hits1=float((ranks <= 1).mean()),
        hits10=float((ranks <= 10).mean()),
        errors=_errors({**answers.signals, **combined}, ranks, answers.query),
        corrupted=_corrupted(run, queries, others, real, _part(progress, 3, 4)),
        curves=_curves(answers.signals, ranks),
        added=_added(combined, ranks <= 1, answers.query),
    )


def _queries(run: Run, split: str, most: int | None) -> tuple[QueryIndex, QueryIndex]:
    """Return the queries of a split, and the queries of the other splits."""
    triples, others = run.data.split(split), (s for s in SPLITS if s != split)
    if most is not None and len(triples) > most:
        triples = triples.take(np.random.default_rng(0).permutation(len(triples))[:most])
    return run.data.index(triples), run.data.queries(*others)


def _answers(
    run: Run, queries: QueryIndex, real: Mapping[str, Floats], progress: Progress
) -> _Answers:
    ranking = rank(run.model, queries, run.predictor.known, progress=progress)
    query = queries.find(ranking.h, ranking.r)
    values = {name: signal[query] for name, signal in real.items()}
    return _Answers(values, ranking.rank("realistic"), query)


def _combined(
    run: Run, split: str, answers: _Answers, most: int | None, progress: Progress
) -> dict[str, Floats]:
    """Return combined signals, fitted to the validation triples unless they are the split."""
    queries, others = _queries(run, "valid", most)
    entropies = [name for name in ENTROPIES if name in answers.signals]
    if split == "valid" or not len(queries):
        return {}
    real = signals(run, queries.h, queries.r, others, _part(progress, 0, 2))
    fitted = _answers(run, queries, real, _part(progress, 1, 2))
    groups = {WITHOUT: [*BASELINES]}
    if entropies:
        groups[WITH] = [*BASELINES, *entropies]
    return {
        title: combine_signals(names, fitted.signals, fitted.ranks <= 1, answers.signals)
        for title, names in groups.items()
    }


def _added(combined: Mapping[str, Floats], hit: NDArray[np.bool_], query: Ids) -> Added | None:
    if WITH not in combined:
        return None
    difference = auroc(combined[WITH], hit) - auroc(combined[WITHOUT], hit)
    draws = auroc_draws(combined[WITH], hit, query) - auroc_draws(combined[WITHOUT], hit, query)
    return Added(difference, *interval(draws))


def _errors(found: Mapping[str, Floats], ranks: Floats, query: Ids) -> pl.DataFrame:
    gain = 1 / ranks
    chance, best = gain.mean(), rejection_curve(gain, gain).mean()
    rows = []
    for name, signal in found.items():
        row: dict[str, object] = {"signal": name, "entropy": name in (*ENTROPIES, WITH)}
        for k in (1, 10):
            hit = ranks <= k
            low, high = interval(auroc_draws(signal, hit, query))
            row |= {f"auroc@{k}": auroc(signal, hit), f"low@{k}": low, f"high@{k}": high}
        area = rejection_curve(signal, gain).mean()
        share = float((area - chance) / (best - chance)) if best > chance else float("nan")
        row |= {"spearman": _spearman(signal, ranks), "area": float(area), "gain": share}
        rows.append(row)
    return pl.DataFrame(rows)


def _spearman(signal: Floats, ranks: Floats) -> float:
    from scipy import stats

    if (signal == signal[0]).all() or (ranks == ranks[0]).all():
        return float("nan")
    return float(stats.spearmanr(signal, ranks)[0])


def _corrupted(
    run: Run,
    queries: QueryIndex,
    others: QueryIndex,
    real: Mapping[str, Floats],
    progress: Progress,
) -> pl.DataFrame:
    pools = {"any": np.flatnonzero(run.predictor.trained_entities), "split": queries.h}
    rows = []
    for i, (drawn, pool) in enumerate(pools.items()):
        heads = corrupted_heads(queries.r, pool, run.predictor.known)
        kept = np.flatnonzero(heads >= 0)
        given = heads[kept], queries.r[kept], others
        corrupted = signals(run, *given, _part(progress, i, len(pools)))
        good, pair = np.arange(2 * len(kept)) < len(kept), np.tile(np.arange(len(kept)), 2)
        for name, values in real.items():
            both = np.concatenate([values[kept], corrupted[name]])
            low, high = interval(auroc_draws(both, good, pair))
            row = {"signal": name, "entropy": name in ENTROPIES, "drawn": drawn}
            row |= {"auroc": auroc(both, good), "low": low, "high": high, "queries": len(kept)}
            rows.append(row)
    return pl.DataFrame(rows)


def _curves(found: Mapping[str, Floats], ranks: Floats) -> pl.DataFrame:
    gain = 1 / ranks
    shares = np.arange(1, POINTS + 1) / POINTS
    index = np.maximum(np.ceil(shares * len(ranks)).astype(int), 1) - 1
    extremes = {"random": np.zeros(len(ranks)), "oracle": gain}
    parts = [
        pl.DataFrame({"signal": name, "share": shares, "mrr": rejection_curve(x, gain)[index]})
        for name, x in {**found, **extremes}.items()
    ]
    return pl.concat(parts)


def _part(progress: Progress, i: int, count: int) -> Progress:
    return lambda share: progress((i + share) / count)
