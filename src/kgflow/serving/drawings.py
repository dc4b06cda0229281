"""Pictures of a run as SVG, each drawn once."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from kgflow.analysis.layout import groups, layout
from kgflow.analysis.plots import density_plot, entity_map, new_figure, rule_histograms, to_svg
from kgflow.analysis.rules import Deviation, Rule
from kgflow.errors import KgflowError
from kgflow.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEPT = 64
"""Pictures that are remembered."""

LABELLED = 150
"""Entities with many facts that a map may name, where there is room."""


class Drawings:
    """What the explorer shows: densities, histograms of rules, a map.

    Not for several threads at once: matplotlib's settings are shared by all.

    Args:
        run: a trained run.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.densities = lru_cache(KEPT)(self._densities)
        self.rules = lru_cache(KEPT)(self._rules)
        self.map = lru_cache(1)(self._map)

    def _densities(self, entities: tuple[str, ...]) -> str:
        """The densities of entities by name, in the coordinate that tells them apart best."""
        return _drawn(
            7, 3.4, lambda figure: density_plot(figure.subplots(), self.run, list(entities))
        )

    def _rules(self, rules: tuple[Rule, ...]) -> str:
        """The two histograms of each rule, one rule below the other."""
        if not rules:
            raise KgflowError("no rule is believed of this relation: nothing to draw")
        names = self.run.data.relations.names

        def draw(figure: "Figure") -> None:
            grid = figure.subplots(len(rules), 2, squeeze=False)
            for axes, rule in zip(grid, rules, strict=True):
                rule_histograms(list(axes), self.run, Deviation.of(rule), rule.text(names))

        return _drawn(9, 2.6 * len(rules) + 0.2, draw)

    def _map(self) -> str:
        """All entities in a plane."""
        data, found = self.run.data, groups(self.run.data)
        often = np.argsort(-data.train.degrees(len(data.entities)), kind="stable")
        labels = [(int(i), _short(data.label(i))) for i in often[:LABELLED]]
        names = [_short(name) for name in found.names]
        return _drawn(
            9,
            7,
            lambda figure: entity_map(figure.subplots(), layout(self.run), found, names, labels),
        )


def _drawn(width: float, height: float, draw: Callable[["Figure"], None]) -> str:
    with new_figure(width, height) as figure:
        draw(figure)
        return to_svg(figure)


def _short(text: str, most: int = 28) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def first_of_each_kind(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """One rule of each kind, the first.

    Example:
        >>> first_of_each_kind([Rule((3,), 0, 3), Rule((4,), 1, 3), Rule((1,), 0, 3)])[1].kind
        'implication'
    """
    return tuple({rule.kind: rule for rule in reversed(rules)}.values())[::-1]
