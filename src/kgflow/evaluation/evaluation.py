"""Ranking metrics of a split, as a table or as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgflow.errors import KgflowError
from kgflow.evaluation.ranking import POLICIES, Ranking

GROUPS = ("relation", "side", "category")


class Evaluation:
    """Filtered ranking metrics of a split, overall and by group.

    Args:
        split: Name of the split.
        ranking: Ranks of its answers.
        by: Group of `GROUPS` to break the metrics down by, or None.
        relations: Names of the relations.
        categories: Category (1-1, 1-N, N-1 or N-N) of each relation name, for ``by="category"``.
        untrained: Number of answers with an entity that does not occur in training; they are
            included in the metrics.
    """

    def __init__(
        self,
        split: str,
        ranking: Ranking,
        by: str | None,
        relations: Sequence[str],
        categories: Mapping[str, str],
        untrained: int = 0,
    ) -> None:
        if by is not None and by not in GROUPS:
            raise KgflowError(f"unknown group '{by}': choose {', '.join(GROUPS)}")
        self.split, self.ranking, self.by = split, ranking, by
        self.relations, self.categories, self.untrained = relations, categories, untrained

    def __getitem__(self, policy: str) -> dict[str, float]:
        return self.ranking.metrics()[policy].to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics of each tie policy, and those of each group under "by"."""
        result: dict[str, Any] = {"split": self.split, "answers": len(self.ranking)}
        result |= {"untrained": self.untrained, **_summary(self.ranking)}
        if self.by is not None:
            groups = self.ranking.by(self._group(self.by))
            result["by"] = {k: {"count": len(g), **_summary(g)} for k, g in groups.items()}
        return result

    def __str__(self) -> str:
        names = list(self["realistic"])
        lines = [f"{self.split:<16}" + "".join(f"{name:>10}" for name in names)]
        for title, ranking in self._rows():
            values = ranking.metrics()["realistic"].to_dict().values()
            lines.append(f"{title:<16}" + "".join(f"{v:>10.4g}" for v in values))
        return "\n".join(lines)

    def _rows(self) -> list[tuple[str, Ranking]]:
        rows = [("all", self.ranking)]
        return rows + (list(self.ranking.by(self._group(self.by)).items()) if self.by else [])

    def _group(self, by: str) -> NDArray[np.str_]:
        if by == "side":
            return self.ranking.side
        names = np.array(self.relations)[self.ranking.r % self.ranking.relations]
        if by == "relation":
            return names
        return np.array([self.categories[name] for name in names])


def _summary(ranking: Ranking) -> dict[str, dict[str, float]]:
    found = ranking.metrics()
    return {policy: found[policy].to_dict() for policy in POLICIES}
