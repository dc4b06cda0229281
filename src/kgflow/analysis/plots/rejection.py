"""How good the answers are that a signal is surest of."""

from typing import TYPE_CHECKING

from kgflow.analysis.plots.style import COLOURS, DASHES
from kgflow.analysis.signals import ENTROPIES
from kgflow.analysis.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BESIDE = ("top score", "score margin", "degree")
"""What entropies are drawn beside."""


def rejection(axes: "Axes", found: Study) -> None:
    """MRR against the share of queries answered, surest first, for each signal.

    Entropies are thick, what they are held against thin; grey lines bound what can be had.
    """
    curves = dict(found.curves.partition_by("signal", as_dict=True).items())
    for name, dash in (("oracle", ":"), ("random", "-")):
        curve = curves[(name,)]
        axes.plot(curve["share"] * 100, curve["mrr"], color="#888888", ls=dash, lw=1, label=name)
    for place, name in enumerate((*ENTROPIES, *BESIDE)):
        if (name,) in curves:
            curve, entropy = curves[(name,)], name in ENTROPIES
            style = {"color": COLOURS[place], "ls": DASHES[place], "lw": 2.4 if entropy else 1.3}
            axes.plot(curve["share"] * 100, curve["mrr"], label=name, **style)
    axes.set(xlabel="answered, surest first (%)", ylabel="MRR of what is answered (filtered)")
    axes.set(xlim=(0, 100), title=f"{found.model} on {found.data}, {found.split}")
