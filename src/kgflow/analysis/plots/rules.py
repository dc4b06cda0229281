"""Histograms of the deviations of rules, as in Figures 3 to 6 of the paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from kgflow.analysis.plots.style import COLOURS, DASHES, new_figure, save_figure
from kgflow.analysis.rules.distance import Deviation
from kgflow.analysis.rules.rule import Rule
from kgflow.errors import KgflowError
from kgflow.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 30


def rule_histograms(axes: Sequence["Axes"], run: Run, deviation: Deviation, title: str) -> None:
    """Draw histograms of a rule's deviations, and of those with other relations, over coordinates.

    The first axes show the scales, the second the shifts; the first have the title.
    """
    own = deviation.values(run.model)
    others = [other.values(run.model) for other in deviation.alternatives(run.model)]
    for i, (axis, label) in enumerate(zip(axes, _labels(deviation), strict=True)):
        rest = torch.cat([values[i] for values in others]) if others else torch.empty(0)
        _histogram(axis, own[i], rest)
        axis.set(xlabel=label, ylabel="share of coordinates")
    axes[0].set_title(title)
    axes[1].legend(fontsize=9)


def rules_figure(run: Run, rules: Sequence[Rule], path: Path) -> Path:
    """Write the histograms of the first rule of each kind."""
    if not rules:
        raise KgflowError(f"{path} was not written: no rule was found")
    chosen = {rule.kind: rule for rule in reversed(rules)}.values()
    names = [short_name(name) for name in run.data.relations.names]
    panels = [(Deviation.of(rule), rule.text(names)) for rule in reversed(chosen)]
    return deviations_figure(run, panels, path)


def deviations_figure(run: Run, panels: Sequence[tuple[Deviation, str]], path: Path) -> Path:
    """Write the histograms of deviations with their titles, one below the other."""
    with new_figure(9, 2.6 * len(panels) + 0.2) as figure:
        grid = figure.subplots(len(panels), 2, squeeze=False)
        for axes, (deviation, title) in zip(grid, panels, strict=True):
            rule_histograms(list(axes), run, deviation, title)
        return save_figure(figure, path)


def short_name(name: str) -> str:
    """Return the last part of a name that is a path.

    Example:
        >>> short_name("/film/film/genre"), short_name("borders")
        ('genre', 'borders')
    """
    return name.rstrip("/").rsplit("/", 1)[-1] or name


def _histogram(axis: "Axes", own: torch.Tensor, rest: torch.Tensor) -> None:
    # torch.quantile is limited to 16 million values.
    ordered = torch.cat([own, rest]).double().sort().values
    top = float(ordered[int(0.99 * (len(ordered) - 1))]) or 1.0
    bins = torch.linspace(0, top, BINS + 1).tolist()
    filled: Any = {"color": COLOURS[0], "alpha": 0.85, "label": "this rule"}
    line: Any = {"color": COLOURS[1], "ls": DASHES[1], "lw": 1.6, "label": "other relations"}
    for values, style in ((own, filled), (rest, {"histtype": "step", **line})):
        if len(values):
            weights = [1 / len(values)] * len(values)
            # Larger values count in the last bin, so that shares add up to one.
            axis.hist(values.clamp(max=top).tolist(), bins=bins, weights=weights, **style)
    axis.set_xlim(0, top)


def _labels(deviation: Deviation) -> tuple[str, str]:
    if deviation.third is not None:
        return "|σ₂ σ₁ − σ₃|", "|σ₂ μ₁ + μ₂ − μ₃|"
    if deviation.first == deviation.second:
        return "|σ σ − 1|", "|σ μ + μ|"
    return "|σ₂ σ₁ − 1|", "|σ₂ μ₁ + μ₂|"
