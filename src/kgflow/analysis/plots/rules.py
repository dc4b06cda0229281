"""How near a model's relations come to rules: the paper's Figures 3 to 6."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from kgflow.analysis.plots.style import COLOURS, DASHES, picture, save
from kgflow.analysis.rules.rule import Rule
from kgflow.analysis.rules.statistic import Statistic
from kgflow.errors import KgflowError
from kgflow.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 30


def rule_histograms(axes: Sequence["Axes"], run: Run, statistic: Statistic, title: str) -> None:
    """A rule's two statistics over the coordinates, and those of other relations in its place.

    Args:
        axes: one for the scales, one for the shifts.
        run: a trained run.
        statistic: what is shown.
        title: what is claimed.
    """
    mine = statistic.gaps(run.model)
    others = [other.gaps(run.model) for other in statistic.others(run.model)]
    for place, (axis, label) in enumerate(zip(axes, _labels(statistic), strict=True)):
        rest = torch.cat([gaps[place] for gaps in others]) if others else torch.empty(0)
        _histogram(axis, mine[place], rest)
        axis.set(xlabel=label, ylabel="share of coordinates")
    axes[0].set_title(title)
    axes[1].legend(fontsize=9)


def rules_picture(run: Run, rules: Sequence[Rule], path: Path) -> Path:
    """The histograms of the first rule of each kind, one below the other."""
    if not rules:
        raise KgflowError(f"{path} is not drawn: there is no rule to draw")
    first = {rule.kind: rule for rule in reversed(rules)}
    chosen = [rule for rule in rules if first[rule.kind] is rule]
    names = [short(name) for name in run.data.relations.names]
    panels = [(Statistic.of(rule), rule.words(names)) for rule in chosen]
    return statistics_picture(run, panels, path)


def statistics_picture(run: Run, panels: Sequence[tuple[Statistic, str]], path: Path) -> Path:
    """Histograms of statistics with their titles, one below the other."""
    with picture(9, 2.6 * len(panels) + 0.2) as figure:
        grid = figure.subplots(len(panels), 2, squeeze=False)
        for axes, (statistic, title) in zip(grid, panels, strict=True):
            rule_histograms(list(axes), run, statistic, title)
        return save(figure, path)


def short(name: str) -> str:
    """The end of a name that is a path.

    Example:
        >>> short("/film/film/genre"), short("borders")
        ('genre', 'borders')
    """
    return name.rstrip("/").rsplit("/", 1)[-1] or name


def _histogram(axis: "Axes", mine: torch.Tensor, rest: torch.Tensor) -> None:
    # Not torch's quantile, which refuses many values.
    values = torch.cat([mine, rest]).double().sort().values
    top = float(values[int(0.99 * (len(values) - 1))]) or 1.0
    bins = torch.linspace(0, top, BINS + 1).tolist()
    styles: list[dict[str, Any]] = [
        {"color": COLOURS[0], "alpha": 0.85, "label": "this rule"},
        {
            "histtype": "step",
            "color": COLOURS[1],
            "ls": DASHES[1],
            "lw": 1.6,
            "label": "other relations in its place",
        },
    ]
    for shown, style in zip((mine, rest), styles, strict=True):
        if len(shown):
            weights = [1 / len(shown)] * len(shown)
            # What lies beyond the last bin is counted in it, so that shares add up to one.
            axis.hist(shown.clamp(max=top).tolist(), bins=bins, weights=weights, **style)
    axis.set_xlim(0, top)


def _labels(statistic: Statistic) -> tuple[str, str]:
    if statistic.third is not None:
        return (
            "|σ₂ σ₁ − σ₃|",
            "|σ₂ μ₁ + μ₂ − μ₃|",
        )
    if statistic.first == statistic.second:
        return "|σ σ − 1|", "|σ μ + μ|"
    return "|σ₂ σ₁ − 1|", "|σ₂ μ₁ + μ₂|"
