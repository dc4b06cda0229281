"""What uncertainty does to a model: NFE-1 against NFE with a point for x0."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any

from kgflow.reproduction import differing
from kgflow.studies.benchmark import Benchmark, spread

WITH, WITHOUT = "nfe-1", "nfe-point"


@dataclass(frozen=True)
class Effect:
    """The difference of two means over seeds, by Welch.

    With s² the variances and m, n the numbers of seeds, its standard error is
    √(s₁²/m + s₂²/n); Student's t has as many degrees of freedom as Welch and Satterthwaite give
    it (Welch, The generalization of "Student's" problem when several different population
    variances are involved, 1947).

    Example:
        >>> found = Effect((0.48, 0.50), (0.46, 0.48))
        >>> round(found.difference, 3), round(found.error, 4)
        (0.02, 0.0141)
    """

    with_it: tuple[float, ...]
    without: tuple[float, ...]

    @property
    def difference(self) -> float:
        """With uncertainty, less without."""
        return fmean(self.with_it) - fmean(self.without)

    @property
    def error(self) -> float:
        """The standard error of the difference."""
        return math.sqrt(sum(self._parts))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the difference is with 95 % confidence."""
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
    """Two rows whose files are the same but for the model: ``x-nfe-1`` and ``x-nfe-point``."""

    with_it: Benchmark
    without: Benchmark

    @property
    def others(self) -> list[str]:
        """What the files differ in besides the model."""
        found = differing(*(row.file.settled(0) for row in (self.with_it, self.without)))
        return [name for name in found if name != "model.name"]

    @property
    def effect(self) -> Effect | None:
        """Of the test MRRs, if the rows can be compared and have two seeds each."""
        mrrs = [tuple(row.numbers()["mrr"]) for row in (self.with_it, self.without)]
        return None if self.others or min(map(len, mrrs)) < 2 else Effect(*mrrs)

    def sentence(self) -> str:
        """What came out, in words."""
        names = [f"`{row.file.path.stem}`" for row in (self.with_it, self.without)]
        head = f"**{self.with_it.graph}**, {' against '.join(names)}: "
        if self.others:
            return f"{head}the files differ in {self.others[0]} too, so they are not compared."
        if self.effect is None:
            return f"{head}two seeds of each are needed to compare them."
        return head + self._told(self.effect)

    def _told(self, found: Effect) -> str:
        means = " against ".join(spread(side) for side in (found.with_it, found.without))
        seeds = " and ".join(str(len(side)) for side in (found.with_it, found.without))
        low, high = found.interval
        sure = "" if low > 0 or high < 0 else "; the interval holds 0: chance may have made it"
        return (
            f"MRR {means} with {seeds} seeds, a difference of {found.difference:+.4f} with"
            f" standard error {found.error:.4f} (95 %: {low:+.4f} to {high:+.4f})."
            f" {self._sign(found.difference)}{sure}."
        )

    def _sign(self, difference: float) -> str:
        papers = [row.paper[0] for row in (self.with_it, self.without) if row.paper]
        if len(papers) < 2:
            return "With uncertainty it is better" if difference > 0 else "It is not better with it"
        printed = papers[0] - papers[1]
        same = "the paper's" if difference * printed > 0 else "not the paper's"
        return f"The sign is {same} (there {printed:+.3f})"

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        found = self.effect
        numbers = (
            {"difference": found.difference, "error": found.error, "interval": found.interval}
            if found
            else {}
        )
        return {
            "with": str(self.with_it.file.path),
            "without": str(self.without.file.path),
            "differ_in": self.others,
            **numbers,
            "sentence": self.sentence(),
        }


def pairs(rows: Sequence[Benchmark]) -> list[Pair]:
    """Rows that differ by uncertainty, as their names say."""
    by_path = {row.file.path: row for row in rows if row.done}
    found = []
    for path, row in by_path.items():
        stem = path.stem.removesuffix(WITH)
        partner = by_path.get(path.with_name(f"{stem}{WITHOUT}.toml"))
        if stem != path.stem and stem[-1:] in ("", "-") and partner is not None:
            found.append(Pair(row, partner))
    return found
