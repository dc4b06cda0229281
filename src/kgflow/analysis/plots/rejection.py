"""Rejection curves: MRR of the most certain predictions."""

from typing import TYPE_CHECKING

from kgflow.analysis.plots.style import COLOURS, DASHES
from kgflow.analysis.signals import ENTROPIES
from kgflow.analysis.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASELINES = ("top score", "score margin", "degree")
"""Signals that are drawn besides entropies."""


def rejection_plot(axes: "Axes", study: Study) -> None:
    """Draw the MRR of the most certain queries against their share, for each signal.

    Entropies have thick lines, baselines thin ones; grey lines are a random and a perfect signal.
    """
    curves = dict(study.curves.partition_by("signal", as_dict=True).items())
    for name, dash in (("oracle", ":"), ("random", "-")):
        curve = curves[(name,)]
        axes.plot(curve["share"] * 100, curve["mrr"], color="#888888", ls=dash, lw=1, label=name)
    for i, name in enumerate((*ENTROPIES, *BASELINES)):
        if (name,) in curves:
            curve, entropy = curves[(name,)], name in ENTROPIES
            style = {"color": COLOURS[i], "ls": DASHES[i], "lw": 2.4 if entropy else 1.3}
            axes.plot(curve["share"] * 100, curve["mrr"], label=name, **style)
    axes.set(
        xlabel="share of queries, most certain first (%)", ylabel="MRR of these queries (filtered)"
    )
    axes.set(xlim=(0, 100), title=f"{study.model} on {study.data}, {study.split}")
