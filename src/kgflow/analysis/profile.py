"""Everything about the uncertainty of one entity."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from kgflow.analysis.certainty import entity_uncertainty, known_entropy
from kgflow.analysis.density import chosen_flow
from kgflow.models import FlowModel
from kgflow.runs.run import Run

LEVELS = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Profile:
    """One entity's uncertainty, and what is around it.

    Places count from 1, the surest; `place_in_type` is among those that share a type with it, and
    0 of 0 where it has none. `relations` counts its training facts by relation, with "⁻¹" where it
    is their tail. `quantiles` are the 5, 50 and 95 % points of its coordinates that lie farthest
    from the median entity's, by coordinate (from 1). `nearest` are the entities whose random vector
    is most alike by the model's own D.
    """

    entity: str
    type: str
    uncertainty: float
    per_coordinate: float
    degree: int
    place: int
    entities: int
    place_in_type: int
    entities_of_type: int
    relations: dict[str, int]
    quantiles: dict[int, tuple[float, float, float]]
    nearest: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def profile(run: Run, entity: str, k: int = 5) -> Profile:
    """What a model knows of an entity's uncertainty.

    Args:
        run: a trained run.
        entity: its name or label.
        k: how many relations, coordinates and neighbours to tell of at most.
    """
    entropy, e = known_entropy(run), run.data.entity_id(entity)
    frame = entity_uncertainty(run)
    (row,) = frame.filter(frame["name"] == run.data.entities[e]).to_dicts()
    alike = np.array([i for i in range(len(entropy)) if _share_type(run, e, i)], dtype=np.int64)
    return Profile(
        entity=row["entity"],
        type=row["type"],
        uncertainty=row["uncertainty"],
        per_coordinate=row["per_coordinate"],
        degree=row["degree"],
        place=int((entropy < entropy[e]).sum()) + 1,
        entities=len(entropy),
        place_in_type=int((entropy[alike] < entropy[e]).sum()) + bool(len(alike)),
        entities_of_type=len(alike),
        relations=_relations(run, e, k),
        quantiles=_quantiles(run, e, k),
        nearest=_nearest(run, e, k),
    )


def _share_type(run: Run, e: int, other: int) -> bool:
    types, names = run.data.types, run.data.entities
    return bool(set(types.get(names[e], ())) & set(types.get(names[other], ())))


def _relations(run: Run, e: int, k: int) -> dict[str, int]:
    train, names = run.data.train, run.data.relations
    counts = Counter(names[r] for r in train.r[train.h == e].tolist())
    counts.update(f"{names[r]}⁻¹" for r in train.r[train.t == e].tolist())
    return dict(counts.most_common(k))


@torch.no_grad()
def _quantiles(run: Run, e: int, k: int) -> dict[int, tuple[float, float, float]]:
    _, flow = chosen_flow(run, [run.data.entities[e]])
    _, everyone = chosen_flow(run, run.data.entities.names)
    levels = torch.tensor(LEVELS, device=flow.f.device)[:, None, None]
    found, medians = flow.quantile(levels)[:, 0].double(), everyone.quantile(levels[1:2])[0]
    away = (found[1] - medians.median(0).values).abs() / medians.std(0, correction=0).clamp_min(
        1e-12
    )
    places = away.topk(min(k, len(away))).indices.tolist()
    return {i + 1: tuple(found[:, i].tolist()) for i in places}


@torch.no_grad()
def _nearest(run: Run, e: int, k: int) -> list[str]:
    model = run.model.trained
    base = model.base
    if isinstance(base, FlowModel):
        Q, a = base.D.query(base.flow(base.entity.weight[[e]]))
    elif model.is_squared_distance:
        Q = 2 * model.encode_keys(model.entity.weight[[e]]).K
        a = -Q.square().sum(-1) / 4
    else:
        return []  # its D, if there is one, compares something else
    score = run.predictor.places.scores(Q, a)[0]
    score -= model.entity.bias(model.entity.weight)  # how often it answers says not how near it is
    score[e] = -torch.inf
    return [run.data.label(i) for i in score.topk(min(k, len(score) - 1)).indices.tolist()]
