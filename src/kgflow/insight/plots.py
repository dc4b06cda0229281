"""Pictures of what a run learned."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from kgflow.algebra import Flow, Variable
from kgflow.errors import KgflowError
from kgflow.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Readable in grey and by the colour-blind (Okabe and Ito), told apart by dashes too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1)), ":")
STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "savefig.dpi": 160,
    "figure.constrained_layout.use": True,
}


def overview(run: Run, entities: Sequence[str], path: Path) -> Path:
    """One picture of a run: its learning curve, and the densities of some entities.

    The densities are of the coordinate that shows these entities best.

    Args:
        run: a trained run.
        entities: names of a few entities.
        path: where the PNG goes.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise KgflowError("pictures need matplotlib: pip install 'kgflow[plot]'") from None
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 3.9))
        left, right = figure.subplots(1, 2)
        learning_curve(left, run)
        densities(right, run, entities)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    return path


def learning_curve(axes: "Axes", run: Run) -> None:
    """Training loss and validation MRR against the epoch."""
    from matplotlib.ticker import LogLocator, NullLocator

    history = run.history
    epochs = [r["epoch"] for r in history]
    axes.plot(epochs, [r["loss"] for r in history], color=COLOURS[1], ls=DASHES[1])
    axes.set(xlabel="epoch", title="Learning curve", xlim=(0.9, max(epochs) + 0.1))
    axes.set_ylabel("training loss per fact (nats, dashed)", color=COLOURS[1])
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    judged = [r for r in history if "mrr" in r]
    if judged:
        twin = axes.twinx()
        twin.spines["right"].set_visible(True)
        twin.grid(visible=False)
        twin.plot([r["epoch"] for r in judged], [r["mrr"] for r in judged], color=COLOURS[0])
        twin.set_ylabel("validation MRR (filtered, solid)", color=COLOURS[0])
        twin.set_ylim(0, 1)
        best = max(judged, key=lambda r: r["mrr"])
        twin.plot(best["epoch"], best["mrr"], "o", color=COLOURS[0], ms=5)
        twin.annotate(
            f"best {best['mrr']:.3f}",
            (best["epoch"], best["mrr"]),
            xytext=(0, 7),
            textcoords="offset points",
            ha="right",
            color=COLOURS[0],
        )


@torch.no_grad()
def densities(axes: "Axes", run: Run, entities: Sequence[str]) -> None:
    """The densities of f(x0) of some entities, in the coordinate that shows them best."""
    model, ids = run.model, run.data.entities.ids(entities)
    flow = model.flow(model.entity.weight[torch.from_numpy(ids)].cpu())
    if flow is None or not isinstance(flow.x0, Variable):
        raise KgflowError(f"{run.config.model.name} embeds points: it has no densities")
    if not flow.x0.continuous:
        raise KgflowError("the images of a discrete x0 have no densities")
    z = torch.linspace(0.002, 0.998, 400)[:, None, None]
    x, i = flow.quantile(z), _telling(flow)
    density = flow.marginals.log_prob(x).exp()
    for place, entity in enumerate(ids):
        style = {"color": COLOURS[place % len(COLOURS)], "ls": DASHES[place % len(DASHES)]}
        axes.plot(x[:, place, i], density[:, place, i], label=run.data.label(entity), **style)
    axes.set(xlabel=f"coordinate {i + 1} of {model.dim}", ylabel="density")
    axes.set_title("What the model takes these to be")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=9)


def _telling(flow: Flow) -> int:
    # Where both the narrowest bell and the distances between them can be seen.
    low, middle, high = (flow.quantile(torch.tensor(z)) for z in (0.01, 0.5, 0.99))
    extent = high.amax(0) - low.amin(0)
    return int(((high - low).amin(0) * middle.std(0) / extent.square()).argmax())
