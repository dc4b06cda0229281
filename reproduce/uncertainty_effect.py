"""Effect of uncertainty on MRR: NFE-1 compared with NFE with a point as x0."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

from reproduce.experiments import differing
from reproduce.paper import spread

if TYPE_CHECKING:
    from reproduce.benchmarks import Benchmark

WITH, WITHOUT = "nfe-1", "nfe-point"


@dataclass(frozen=True)
class Effect:
    """Difference of two means over seeds, with the interval of Welch's t-test.

    With variances s² and m and n seeds, the standard error is √(s₁²/m + s₂²/n), and the degrees of
    freedom of Student's t are those of Welch and Satterthwaite (Welch, The generalization of
    "Student's" problem when several different population variances are involved, 1947).

    Example:
        >>> found = Effect((0.48, 0.50), (0.46, 0.48))
        >>> round(found.difference, 3), round(found.error, 4)
        (0.02, 0.0141)
    """

    with_it: tuple[float, ...]
    without: tuple[float, ...]

    @property
    def difference(self) -> float:
        """Mean with uncertainty minus mean without."""
        return fmean(self.with_it) - fmean(self.without)

    @property
    def error(self) -> float:
        """The standard error of the difference."""
        return math.sqrt(sum(self._parts))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of the difference."""
        from scipy.stats import t

        parts, sizes = self._parts, (len(self.with_it), len(self.without))
        if not sum(parts):
            return self.difference, self.difference
        freedom = sum(parts) ** 2 / sum(p**2 / (n - 1) for p, n in zip(parts, sizes, strict=True))
        width = float(t.ppf(0.975, freedom)) * self.error
        return self.difference - width, self.difference + width

    @property
    def _parts(self) -> list[float]:
        return [variance(values) / len(values) for values in (self.with_it, self.without)]


@dataclass(frozen=True)
class Pair:
    """Two rows that differ only in the model: ``x-nfe-1`` and ``x-nfe-point``."""

    with_it: "Benchmark"
    without: "Benchmark"

    @property
    def others(self) -> list[str]:
        """Settings besides the model in which the rows differ."""
        found = differing(*(x.row.settings() for x in (self.with_it, self.without)))
        return [name for name in found if name != "model.name"]

    @property
    def effect(self) -> Effect | None:
        """Effect on test MRR, if the rows can be compared and have two seeds each."""
        mrrs = [tuple(x.metrics()["mrr"]) for x in (self.with_it, self.without)]
        return None if self.others or min(map(len, mrrs)) < 2 else Effect(*mrrs)

    def sentence(self) -> str:
        """Return the effect in one sentence."""
        names = [f"`{x.row.id.split('/')[-1]}`" for x in (self.with_it, self.without)]
        head = f"**{self.with_it.row.data}**, {' against '.join(names)}: "
        if self.others:
            return f"{head}the rows also differ in {self.others[0]} and are not compared."
        if self.effect is None:
            return f"{head}two seeds of each are needed to compare them."
        return head + self._sentence(self.effect)

    def _sentence(self, found: Effect) -> str:
        means = " against ".join(spread(side) for side in (found.with_it, found.without))
        seeds = " and ".join(str(len(side)) for side in (found.with_it, found.without))
        low, high = found.interval
        sure = "" if low > 0 or high < 0 else "; the interval contains 0: it may be chance"
        return (
            f"MRR {means} with {seeds} seeds, a difference of {found.difference:+.4f} with"
            f" standard error {found.error:.4f} (95 %: {low:+.4f} to {high:+.4f})."
            f" {self._sign(found.difference)}{sure}."
        )

    def _sign(self, difference: float) -> str:
        papers = [x.paper[0] for x in (self.with_it, self.without) if x.paper]
        if len(papers) < 2:
            return f"MRR is {'higher' if difference > 0 else 'not higher'} with uncertainty"
        printed = papers[0] - papers[1]
        same = "the paper's" if difference * printed > 0 else "not the paper's"
        return f"The sign is {same} (there {printed:+.3f})"

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as values for JSON."""
        found = self.effect
        numbers = (
            {"difference": found.difference, "error": found.error, "interval": found.interval}
            if found
            else {}
        )
        return {
            "with": self.with_it.row.id,
            "without": self.without.row.id,
            "differ_in": self.others,
            **numbers,
            "sentence": self.sentence(),
        }


def pairs(rows: Sequence["Benchmark"]) -> list[Pair]:
    """Return the pairs of finished rows whose ids differ in the model."""
    by_id = {x.row.id: x for x in rows if x.records}
    found = []
    for name, x in by_id.items():
        stem = name.removesuffix(WITH)
        partner = by_id.get(stem + WITHOUT)
        if stem != name and stem[-1:] in ("", "-", "/") and partner is not None:
            found.append(Pair(x, partner))
    return found
