"""Densities of entities, and profiles of single entities."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from kgflow.analysis.certainty import entity_entropy, entity_uncertainty, missing_entropy_reason
from kgflow.errors import KgflowError
from kgflow.flows import Flow
from kgflow.models import FlowModel, entity_flow
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

POINTS = 400
"""Number of points of a density curve."""

QUANTILES = (0.05, 0.5, 0.95)
"""Quantiles in a profile."""


@torch.no_grad()
def marginal_density(
    run: Run, entities: Sequence[str], coordinate: int | None = None
) -> "pl.DataFrame":
    r"""Return the marginal density of one coordinate of :math:`f_e(x_0)` for each entity.

    Columns: entity (label or name), coordinate (from 1), x, density; 400 points per entity, at
    equally spaced quantiles.

    Args:
        run: trained run.
        entities: names or labels of entities.
        coordinate: coordinate, from 1; by default the one that separates these entities best.
    """
    ids, flow = chosen_flow(run, entities)
    i, dim = _most_separating(flow) if coordinate is None else coordinate - 1, run.model.dim
    if not 0 <= i < dim:
        raise KgflowError(f"there is no coordinate {coordinate}: give 1 to {dim}")
    z = torch.linspace(0.002, 0.998, POINTS)[:, None, None]
    u = torch.where(flow.f.sign >= 0, flow.variable.icdf(z), flow.variable.icdf(1 - z))
    x, slope = flow.f.forward(u), flow.f.slope(u).abs()
    # At x = f(u) the density is p(u) / |f'(u)| (Eq. 1), so that no inverse is needed.
    density = flow.variable.log_prob(u).exp().expand_as(slope) / slope
    if not bool(density[..., i].isfinite().all()):
        raise KgflowError(f"an entity is a point in coordinate {i + 1}: it has no density there")
    return _frame(run, ids, i + 1, x[..., i], density[..., i])


@torch.no_grad()
def mean_density(run: Run, entities: Sequence[str]) -> "pl.DataFrame":
    r"""Return the density of each entity around its median, averaged over the coordinates.

    .. math:: \bar p_e(x) = \frac1n \sum_i p_{f_{e,i}(x_0)}(x + m_{e,i})

    with the medians m: the spread of an entity, independent of its location. Columns as in
    `marginal_density`, with the coordinate null.
    """
    ids, flow = chosen_flow(run, entities)
    low, middle, high = (flow.quantile(torch.tensor(z)) for z in (0.002, 0.5, 0.998))
    if bool((low == high).any()):
        raise KgflowError("an entity is a point in some coordinate: it has no mean density")
    # The range covers 95 % of the coordinates and is the same for all entities.
    limit = (high - middle).maximum(middle - low).flatten().quantile(0.95)
    x = torch.linspace(-1, 1, POINTS)[:, None, None] * limit
    density = flow.marginals.log_prob(x + middle).exp().mean(-1)
    return _frame(run, ids, None, x[..., 0].expand_as(density), density)


def chosen_flow(run: Run, entities: Sequence[str]) -> tuple[list[int], Flow]:
    """Return the ids of entities and their random vectors.

    Raises:
        KgflowError: the model has no densities.
    """
    ids = [run.data.entity_id(name) for name in entities]
    flow = entity_flow(run.model, run.model.entity.weight[ids])
    if flow is None:
        name = run.config.model.name
        raise KgflowError(f"{name} has no densities: {missing_entropy_reason(run)}")
    return ids, flow


def _most_separating(flow: Flow) -> int:
    # The narrowest density is wide and medians are far apart, relative to the whole range.
    low, middle, high = (flow.quantile(torch.tensor(z)) for z in (0.01, 0.5, 0.99))
    if len(middle) == 1:
        return int((middle.abs() / (high - low)).nan_to_num(0, 0, 0).argmax())
    extent = high.amax(0) - low.amin(0)
    separation = (high - low).amin(0) * middle.std(0, correction=0) / extent.square()
    return int(separation.nan_to_num(0, 0, 0).argmax())


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


@dataclass(frozen=True)
class Profile:
    """Certainty, neighbours and training triples of one entity.

    Args:
        entity: label or name.
        type: types, separated by commas.
        certainty: percentile among the entities in `among`.
        among: entities of the same type, or with a similar degree.
        entropy_change: entropy change in nats.
        per_coordinate: entropy change divided by n.
        degree: number of training triples.
        rank: rank of its certainty, from 1, the most certain.
        entities: number of entities.
        rank_in_type: rank among the entities that share a type with it, 0 without types.
        entities_of_type: number of these entities.
        relations: number of its training triples by relation, with "⁻¹" where it is the tail.
        quantiles: 5, 50 and 95 % quantiles of the coordinates (from 1) in which it is farthest from
            the median entity.
        nearest: entities with the most similar random vectors under the model's D.
    """

    entity: str
    type: str
    certainty: float
    among: str
    entropy_change: float
    per_coordinate: float
    degree: int
    rank: int
    entities: int
    rank_in_type: int
    entities_of_type: int
    relations: dict[str, int]
    quantiles: dict[int, tuple[float, float, float]]
    nearest: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return asdict(self)


def profile(run: Run, entity: str, k: int = 5) -> Profile:
    """Return the profile of an entity, with at most k relations, coordinates and neighbours."""
    entropy, e = entity_entropy(run), run.data.entity_id(entity)
    frame = entity_uncertainty(run)
    (row,) = frame.filter(frame["name"] == run.data.entities[e]).to_dicts()
    types, names = run.data.types, run.data.entities
    own = set(types.get(names[e], ()))
    same_type = [i for i, name in enumerate(names) if own & set(types.get(name, ()))]
    return Profile(
        **{name: value for name, value in row.items() if name != "name"},
        rank=int((entropy < entropy[e]).sum()) + 1,
        entities=len(entropy),
        rank_in_type=int((entropy[same_type] < entropy[e]).sum()) + bool(same_type),
        entities_of_type=len(same_type),
        relations=_relations(run, e, k),
        quantiles=_quantiles(run, e, k),
        nearest=_nearest(run, e, k),
    )


def _relations(run: Run, e: int, k: int) -> dict[str, int]:
    train, names = run.data.train, run.data.relations
    counts = Counter(names[r] for r in train.r[train.h == e].tolist())
    counts.update(f"{names[r]}⁻¹" for r in train.r[train.t == e].tolist())
    return dict(counts.most_common(k))


@torch.no_grad()
def _quantiles(run: Run, e: int, k: int) -> dict[int, tuple[float, float, float]]:
    _, flow = chosen_flow(run, [run.data.entities[e]])
    _, all_entities = chosen_flow(run, run.data.entities.names)
    levels = torch.tensor(QUANTILES, device=flow.f.device)[:, None, None]
    quantiles = flow.quantile(levels)[:, 0].double()
    medians = all_entities.quantile(levels[1:2])[0]
    spread = medians.std(0, correction=0).clamp_min(1e-12)
    distance = (quantiles[1] - medians.median(0).values).abs() / spread
    coordinates = distance.topk(min(k, len(distance))).indices.tolist()
    return {i + 1: tuple(quantiles[:, i].tolist()) for i in coordinates}


@torch.no_grad()
def _nearest(run: Run, e: int, k: int) -> list[str]:
    model = run.model.trained
    base = model.base
    if isinstance(base, FlowModel):
        Q, a = base.D.encode_query(base.flow(base.entity.weight[[e]]))
    elif model.is_squared_distance:
        Q = 2 * model.encode_keys(model.entity.weight[[e]]).K
        a = -Q.square().sum(-1) / 4
    else:
        return []  # D does not compare two entities
    score = run.predictor.embedding_keys.scores(Q, a)[0]
    score -= model.entity.bias(model.entity.weight)  # a bias is not a similarity
    score[e] = -torch.inf
    return [run.data.label(i) for i in score.topk(min(k, len(score) - 1)).indices.tolist()]
