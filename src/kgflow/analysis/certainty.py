"""Which entities, relations and triples a model is sure of."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kgflow.data import describe
from kgflow.errors import KgflowError
from kgflow.models import triple_entropy
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl


def entity_uncertainty(run: Run) -> "pl.DataFrame":
    """Every entity with its entropy change and its degree in training, most certain first.

    Columns: entity (label or name), type, uncertainty (:math:`H(f_e(x_0)) - H(x_0)` in nats),
    per_coordinate (the same divided by n), degree, name. An entity that is a point in some
    coordinate has minus infinity.
    """
    import polars as pl

    entropy, data = known_entropy(run), run.data
    frame = pl.DataFrame(
        {
            "entity": [data.label(i) for i in range(len(data.entities))],
            "type": [", ".join(data.types.get(name, ())) for name in data.entities],
            "uncertainty": entropy,
            "per_coordinate": entropy / run.model.dim,
            "degree": data.train.degrees(len(data.entities)),
            "name": list(data.entities),
        }
    )
    return frame.sort("uncertainty")


def relation_uncertainty(run: Run) -> "pl.DataFrame":
    r"""Every relation with its entropy change, the one that narrows most first.

    Columns: relation, uncertainty (:math:`H(f_r(x_0)) - H(x_0)` in nats), per_coordinate,
    reciprocal (the uncertainty of the function that leads from tails to heads), facts (in
    training), category (1-1, 1-N, N-1, N-N), tails_per_head, heads_per_tail.
    """
    import polars as pl

    known_entropy(run)
    entropy = run.predictor.entropy["relation"]
    if entropy is None:
        name = run.config.model.name
        raise KgflowError(f"{name} knows no uncertainty of relations: they are no functions of x0")
    forward, reciprocal = np.split(entropy, 2)
    found = describe(run.data).by_relation
    frame = pl.DataFrame(
        {
            "relation": [r.name for r in found],
            "uncertainty": forward,
            "per_coordinate": forward / run.model.dim,
            "reciprocal": reciprocal,
            "facts": [r.count for r in found],
            "category": [r.category for r in found],
            "tails_per_head": [r.tails_per_head for r in found],
            "heads_per_tail": [r.heads_per_tail for r in found],
        }
    )
    return frame.sort("uncertainty")


def triple_uncertainty(run: Run, triples: Sequence[tuple[str, str, str]]) -> "pl.DataFrame":
    r"""How the entropy changes along triples of names, in nats.

    Columns: head, relation, tail; head_change :math:`H(f_h(x_0)) - H(x_0)`, relation_change
    :math:`H(f_r \circ f_h(x_0)) - H(f_h(x_0))`, composed_change
    :math:`H(f_r \circ f_h(x_0)) - H(x_0)` (their sum), tail_change :math:`H(f_t(x_0)) - H(x_0)`;
    null where relations are no functions of x0.
    """
    import polars as pl

    known_entropy(run)
    if any(len(triple) != 3 for triple in triples):
        raise KgflowError("triple_uncertainty wants triples of (head, relation, tail)")
    heads, relations, tails = zip(*triples, strict=True) if triples else ((), (), ())
    h, t = (np.array([run.data.entity_id(n) for n in side], int) for side in (heads, tails))
    ids = (run.predictor.tensor(x) for x in (h, run.data.relations.ids(relations), t))
    found = triple_entropy(run.model, *ids)
    assert found is not None
    columns: dict[str, object] = {"head": heads, "relation": relations, "tail": tails}
    for name, change in found._asdict().items():
        values = [None] * len(triples) if change is None else change.double().cpu().numpy()
        columns[f"{name}_change"] = pl.Series(values, dtype=pl.Float64)
    return pl.DataFrame(columns)


def why_none(run: Run) -> str:
    """Why a model has no distributions."""
    several = "several models have no common x0"
    return several if run.config.model.members else "its x0 is a point, or discrete"


def known_entropy(run: Run) -> NDArray[np.float64]:
    """The entropy changes of all entities, ``(E,)``; refused of a model that has none."""
    entropy = run.predictor.entropy["entity"]
    if entropy is None:
        raise KgflowError(f"{run.config.model.name} knows no uncertainty: {why_none(run)}")
    return entropy
