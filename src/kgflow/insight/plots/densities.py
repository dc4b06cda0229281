"""What entities are as random variables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from kgflow.algebra import Flow, Variable
from kgflow.errors import KgflowError
from kgflow.insight.plots.style import COLOURS, DASHES
from kgflow.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    return int(((high - low).amin(0) * middle.std(0, correction=0) / extent.square()).argmax())
