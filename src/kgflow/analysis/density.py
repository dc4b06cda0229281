"""The densities of what entities are embedded as."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from kgflow.analysis.certainty import why_none
from kgflow.errors import KgflowError
from kgflow.flows import Flow
from kgflow.models import entity_flow
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

POINTS = 400
"""Points of a curve."""


@torch.no_grad()
def marginal_density(
    run: Run, entities: Sequence[str], coordinate: int | None = None
) -> "pl.DataFrame":
    r"""The density of one coordinate of :math:`f_e(x_0)`, for each of some entities.

    Columns: entity (label or name), coordinate (from 1), x, density; 400 points each, as dense as
    the quantiles.

    Args:
        run: a trained run.
        entities: names or labels.
        coordinate: from 1; where none is given, the one that shows these entities best.
    """
    ids, flow = chosen_flow(run, entities)
    i = _telling(flow) if coordinate is None else _checked(coordinate, run.model.dim)
    z = torch.linspace(0.002, 0.998, POINTS)[:, None, None]
    u = torch.where(flow.f.sign >= 0, flow.variable.icdf(z), flow.variable.icdf(1 - z))
    x, slope = flow.f.forward(u), flow.f.slope(u).abs()
    # Where x = f(u), the density is that of x0 at u over the slope (Eq. 1), without an inverse.
    density = flow.variable.log_prob(u).exp().expand_as(slope) / slope
    if not bool(density[..., i].isfinite().all()):
        raise KgflowError(f"one of these is a point in coordinate {i + 1}: it has no density there")
    return _frame(run, ids, i + 1, x[..., i], density[..., i])


@torch.no_grad()
def mean_density(run: Run, entities: Sequence[str]) -> "pl.DataFrame":
    r"""The density of each entity around its medians, averaged over the coordinates.

    .. math:: \bar p_e(x) = \frac1n \sum_i p_{f_{e,i}(x_0)}(x + m_{e,i})

    with the medians m: how wide an entity is as a whole, wherever it lies. Columns as of
    `marginal_density`, with the coordinate null.
    """
    ids, flow = chosen_flow(run, entities)
    low, middle, high = (flow.quantile(torch.tensor(z)) for z in (0.002, 0.5, 0.998))
    if bool((low == high).any()):
        raise KgflowError("one of these is a point in some coordinate: its mean has no density")
    # To where all but a few of the coordinates are at their end, the same for all entities.
    reach = (high - middle).maximum(middle - low).flatten().quantile(0.95)
    x = torch.linspace(-1, 1, POINTS)[:, None, None] * reach
    density = flow.marginals.log_prob(x + middle).exp().mean(-1)
    return _frame(run, ids, None, x[..., 0].expand_as(density), density)


def chosen_flow(run: Run, entities: Sequence[str]) -> tuple[list[int], Flow]:
    """The ids of some entities and their random vectors; refused of a model that has none."""
    ids = [run.data.entity_id(name) for name in entities]
    flow = entity_flow(run.model, run.model.entity.weight[ids])
    if flow is None:
        raise KgflowError(f"{run.config.model.name} has no densities: {why_none(run)}")
    return ids, flow


def _telling(flow: Flow) -> int:
    # Where both the narrowest bell and the distances between them can be seen.
    low, middle, high = (flow.quantile(torch.tensor(z)) for z in (0.01, 0.5, 0.99))
    if len(middle) == 1:
        return int((middle.abs() / (high - low)).nan_to_num(0, 0, 0).argmax())
    extent = high.amax(0) - low.amin(0)
    telling = (high - low).amin(0) * middle.std(0, correction=0) / extent.square()
    return int(telling.nan_to_num(0, 0, 0).argmax())


def _checked(coordinate: int, dim: int) -> int:
    if not 1 <= coordinate <= dim:
        raise KgflowError(f"there is no coordinate {coordinate}: give 1 to {dim}")
    return coordinate - 1


def _frame(
    run: Run, ids: Sequence[int], coordinate: int | None, x: Tensor, density: Tensor
) -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame(
        {
            "entity": [run.data.label(e) for e in ids for _ in range(POINTS)],
            "coordinate": pl.Series([coordinate] * len(ids) * POINTS, dtype=pl.Int64),
            "x": x.T.double().flatten().cpu().numpy(),
            "density": density.T.double().flatten().cpu().numpy(),
        }
    )
