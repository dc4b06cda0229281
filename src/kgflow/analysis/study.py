"""Does uncertainty help? Measured against simpler signals on the facts of a split."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgflow.analysis.foreign import foreign_heads
from kgflow.analysis.selective import auroc, auroc_draws, interval, rejection_curve
from kgflow.analysis.signals import BASELINES, ENTROPIES, signals
from kgflow.analysis.together import together
from kgflow.data import QueryIndex, Triples
from kgflow.data.dataset import SPLITS
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Tell = Callable[[float], None]
SHARES = 100
"""Points of a rejection curve."""
WITHOUT, WITH = "baselines together", "entropies added"
"""All that is no entropy as one signal, and all there is as one."""


class Added(NamedTuple):
    """How much higher the AUROC of hits at 1 is with entropies than without, and its interval."""

    difference: float
    low: float
    high: float


class _Measured(NamedTuple):
    """Signals ``(P,)`` by name, filtered rank and number of the query for each answer."""

    signals: dict[str, Floats]
    ranks: Floats
    query: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Study:
    """What each signal knows of the answers of a split.

    errors: a row per signal: signal, entropy (whether it holds one), auroc@1 for hit or miss at 1
        with its 95 % interval low@1 and high@1, auroc@10 likewise, spearman (with the rank of the
        answer; negative is good), area (under the rejection curve, the mean MRR over all shares
        answered) and gain (0 for answering at random, 1 for knowing the ranks). The last two
        signals are all baselines, and all baselines and entropies, as one: the log odds of a hit
        at 1 by a logistic regression that is fitted to validation.
    foreign: a row per signal and kind of foreign query: signal, entropy, drawn, auroc, low, high,
        queries.
    curves: signal, share, mrr; with "random" and "oracle".
    added: what entropies add to the baselines; None where there are none, or no validation.
    """

    data: str
    model: str
    split: str
    answers: int
    queries: int
    mrr: float
    hits1: float
    hits10: float
    errors: "pl.DataFrame"
    foreign: "pl.DataFrame"
    curves: "pl.DataFrame"
    added: Added | None

    @property
    def has_entropy(self) -> bool:
        """Whether the model knows an uncertainty at all."""
        return bool(self.errors["entropy"].any())

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        frames = ("errors", "foreign", "curves")
        plain = {k: v for k, v in vars(self).items() if k not in frames}
        plain["added"] = None if self.added is None else self.added._asdict()
        return plain | {name: getattr(self, name).to_dicts() for name in frames}


def study(
    run: Run,
    split: str = "test",
    progress: Tell = lambda share: None,
    most: int | None = None,
) -> Study:
    """Measure what entropies know beforehand, beside score, margin and degree.

    One row counts per answer of the split, under its filtered rank, ties realistic. Signals know
    only what a user would: they leave out the answers that the other splits hold, and nothing else.

    A foreign query is one of the split whose entity is exchanged for one that no known fact has
    there. It is drawn from all trained entities ("any"), or as often as the split asks about it
    ("asked"), so that mere popularity does not give it away.

    Args:
        run: a trained run.
        split: train, valid or test.
        progress: called with the share of the work that is done.
        most: facts of a split to look at, drawn where there are more; all if not given.
    """
    questions, others = _asked(run, split, most)
    if not len(questions):
        raise KgflowError(f"{run.data.name} has no {split} facts to study")
    real = signals(run, questions.h, questions.r, others, _part(progress, 0, 4))
    each = _measured(run, questions, real, _part(progress, 1, 4))
    joined = _joined(run, split, each, most, _part(progress, 2, 4))
    ranks = each.ranks
    return Study(
        data=run.data.name,
        model=run.config.model.name,
        split=split,
        answers=len(ranks),
        queries=len(questions),
        mrr=float((1 / ranks).mean()),
        hits1=float((ranks <= 1).mean()),
        hits10=float((ranks <= 10).mean()),
        errors=_errors({**each.signals, **joined}, ranks, each.query),
        foreign=_foreign(run, questions, others, real, _part(progress, 3, 4)),
        curves=_curves(each.signals, ranks),
        added=_added(joined, ranks <= 1, each.query),
    )


def _asked(run: Run, split: str, most: int | None) -> tuple[QueryIndex, QueryIndex]:
    """The queries of a split, and those of the others, whose answers are no news."""
    facts, others = run.data.split(split), (s for s in SPLITS if s != split)
    return run.data.index(_drawn(facts, most)), run.data.queries(*others)


def _drawn(facts: Triples, most: int | None) -> Triples:
    if most is None or len(facts) <= most:
        return facts
    return facts.take(np.random.default_rng(0).permutation(len(facts))[:most])


def _measured(
    run: Run, questions: QueryIndex, real: Mapping[str, Floats], progress: Tell
) -> _Measured:
    ranking = rank(run.model, questions, run.predictor.known, progress=progress)
    query = questions.find(ranking.h, ranking.r)
    each = {name: values[query] for name, values in real.items()}
    return _Measured(each, ranking.rank("realistic"), query)


def _joined(
    run: Run, split: str, each: _Measured, most: int | None, progress: Tell
) -> dict[str, Floats]:
    """Several signals as one, fitted to validation, where there is one besides the split."""
    questions, others = _asked(run, "valid", most)
    entropies = [name for name in ENTROPIES if name in each.signals]
    if split == "valid" or not len(questions):
        return {}
    real = signals(run, questions.h, questions.r, others, _part(progress, 0, 2))
    fitted = _measured(run, questions, real, _part(progress, 1, 2))
    groups = {WITHOUT: [*BASELINES]}
    if entropies:
        groups[WITH] = [*BASELINES, *entropies]
    return {
        title: together(names, fitted.signals, fitted.ranks <= 1, each.signals)
        for title, names in groups.items()
    }


def _added(
    joined: Mapping[str, Floats], hit: NDArray[np.bool_], query: NDArray[np.int64]
) -> Added | None:
    if WITH not in joined:
        return None
    difference = auroc(joined[WITH], hit) - auroc(joined[WITHOUT], hit)
    draws = auroc_draws(joined[WITH], hit, query) - auroc_draws(joined[WITHOUT], hit, query)
    return Added(difference, *interval(draws))


def _errors(found: Mapping[str, Floats], ranks: Floats, query: NDArray[np.int64]) -> "pl.DataFrame":
    import polars as pl

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


def _foreign(
    run: Run,
    questions: QueryIndex,
    others: QueryIndex,
    real: Mapping[str, Floats],
    progress: Tell,
) -> "pl.DataFrame":
    import polars as pl

    pools = {"any": np.flatnonzero(run.predictor.trained_entities), "asked": questions.h}
    rows = []
    for place, (drawn, pool) in enumerate(pools.items()):
        heads = foreign_heads(questions.r, pool, run.predictor.known)
        kept = np.flatnonzero(heads >= 0)
        given = heads[kept], questions.r[kept], others
        strange = signals(run, *given, _part(progress, place, len(pools)))
        good, pair = np.arange(2 * len(kept)) < len(kept), np.tile(np.arange(len(kept)), 2)
        for name, values in real.items():
            both = np.concatenate([values[kept], strange[name]])
            low, high = interval(auroc_draws(both, good, pair))
            row = {"signal": name, "entropy": name in ENTROPIES, "drawn": drawn}
            row |= {"auroc": auroc(both, good), "low": low, "high": high, "queries": len(kept)}
            rows.append(row)
    return pl.DataFrame(rows)


def _curves(found: Mapping[str, Floats], ranks: Floats) -> "pl.DataFrame":
    import polars as pl

    gain = 1 / ranks
    shares = np.arange(1, SHARES + 1) / SHARES
    place = np.maximum(np.ceil(shares * len(ranks)).astype(int), 1) - 1
    extremes = {"random": np.zeros(len(ranks)), "oracle": gain}
    parts = [
        pl.DataFrame({"signal": name, "share": shares, "mrr": rejection_curve(x, gain)[place]})
        for name, x in {**found, **extremes}.items()
    ]
    return pl.concat(parts)


def _part(progress: Tell, place: int, of: int) -> Tell:
    return lambda share: progress((place + share) / of)
