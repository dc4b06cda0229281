"""Certainty and entropy change of entities, relations and triples, and what they correlate with."""

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

RELATION_VARIABLES = ("facts", "tails_per_head", "heads_per_tail")
"""Columns of `relation_uncertainty` whose association with the entropy change is tested."""

_Test = tuple[str, float | None, float | None, int]
"""Name of a test, effect size, p-value, and number of values."""


def entity_uncertainty(run: Run) -> "pl.DataFrame":
    """Return all entities with certainty and entropy change, most certain first.

    Columns: entity (label or name), type, certainty (percentile among the entities in `among`),
    among (entities of the same type, or with a similar degree), entropy_change
    (:math:`H(f_e(x_0)) - H(x_0)` in nats), per_coordinate (the same divided by n), degree (in
    training), name. An entity with zero variance in a coordinate has minus infinity.
    """
    import polars as pl

    entropy, data = entity_entropy(run), run.data
    group, names = run.predictor.certainty_groups
    frame = pl.DataFrame(
        {
            "entity": [data.label(i) for i in range(len(data.entities))],
            "type": [", ".join(data.types.get(name, ())) for name in data.entities],
            "certainty": run.predictor.certainties["entity"],
            "among": [names[i] for i in group.tolist()],
            "entropy_change": entropy,
            "per_coordinate": entropy / run.model.dim,
            "degree": data.train.degrees(len(data.entities)),
            "name": list(data.entities),
        }
    )
    return frame.sort("entropy_change")


def relation_uncertainty(run: Run) -> "pl.DataFrame":
    r"""Return all relations with certainty and entropy change, most certain first.

    Columns: relation, certainty (percentile among the relations), entropy_change
    (:math:`H(f_r(x_0)) - H(x_0)` in nats), per_coordinate, inverse (entropy change of the inverse
    relation), facts (in training), category (1-1, 1-N, N-1, N-N), tails_per_head, heads_per_tail.
    """
    import polars as pl

    entity_entropy(run)
    entropy = run.predictor.entropy["relation"]
    if entropy is None:
        name = run.config.model.name
        raise KgflowError(f"{name} has no entropies of relations: they are not functions of x0")
    forward, inverse = np.split(entropy, 2)
    statistics = describe(run.data).by_relation
    frame = pl.DataFrame(
        {
            "relation": [r.name for r in statistics],
            "certainty": run.predictor.certainties["relation"],
            "entropy_change": forward,
            "per_coordinate": forward / run.model.dim,
            "inverse": inverse,
            "facts": [r.count for r in statistics],
            "category": [r.category for r in statistics],
            "tails_per_head": [r.tails_per_head for r in statistics],
            "heads_per_tail": [r.heads_per_tail for r in statistics],
        }
    )
    return frame.sort("entropy_change")


def triple_uncertainty(run: Run, triples: Sequence[tuple[str, str, str]]) -> "pl.DataFrame":
    r"""Return the entropy changes along triples of names, in nats.

    Columns: head, relation, tail; head_change :math:`H(f_h(x_0)) - H(x_0)`, relation_change
    :math:`H(f_r \circ f_h(x_0)) - H(f_h(x_0))`, composed_change
    :math:`H(f_r \circ f_h(x_0)) - H(x_0)` (their sum), tail_change :math:`H(f_t(x_0)) - H(x_0)`;
    null where relations are not functions of x0.
    """
    import polars as pl

    entity_entropy(run)
    if any(len(triple) != 3 for triple in triples):
        raise KgflowError("triple_uncertainty needs triples of (head, relation, tail)")
    heads, relations, tails = zip(*triples, strict=True) if triples else ((), (), ())
    h, t = (np.array([run.data.entity_id(n) for n in side], int) for side in (heads, tails))
    ids = (run.predictor.tensor(x) for x in (h, run.data.relations.ids(relations), t))
    entropies = triple_entropy(run.model, *ids)
    assert entropies is not None
    columns: dict[str, object] = {"head": heads, "relation": relations, "tail": tails}
    for name, change in entropies._asdict().items():
        values = [None] * len(triples) if change is None else change.double().cpu().numpy()
        columns[f"{name}_change"] = pl.Series(values, dtype=pl.Float64)
    return pl.DataFrame(columns)


def associations(run: Run) -> "pl.DataFrame":
    """Test the association of the entropy change with degree, type and counts of facts.

    Columns: kind (entity or relation), variable, test, effect_size, p_value, count. The test is
    Spearman's rank correlation for numbers, and the Kruskal-Wallis test for types, with effect
    size :math:`H / (N - 1)`, the share of the variance of ranks that types explain. Effect size and
    p-value are null where the entropy change or the variable is constant.
    """
    import polars as pl

    entities = entity_uncertainty(run)
    rows: list[tuple[str, str, *_Test]] = [
        ("entity", "degree", *_spearman(entities, "degree")),
        ("entity", "type", *_kruskal_wallis(entities)),
    ]
    try:
        relations = relation_uncertainty(run)
        rows += [("relation", x, *_spearman(relations, x)) for x in RELATION_VARIABLES]
    except KgflowError:
        pass  # entities have entropies, relations have none
    names = ("kind", "variable", "test", "effect_size", "p_value", "count")
    schema = dict(zip(names, (str, str, str, float, float, int), strict=True))
    return pl.DataFrame(rows, schema=schema, orient="row")


def type_uncertainty(run: Run) -> "pl.DataFrame":
    """Return the types of entities with their entropy changes, most certain first.

    Columns: type, entities, median_certainty, median and mean (of the entropy change), degree
    (mean). An entity with several types counts in each.
    """
    import polars as pl

    pairs = [(name, kind) for name in run.data.entities for kind in run.data.types.get(name, ())]
    types = pl.DataFrame(pairs, schema={"name": pl.String, "type": pl.String}, orient="row")
    grouped = entity_uncertainty(run).drop("type").join(types, on="name").group_by("type")
    change = pl.col("entropy_change")
    columns = grouped.agg(
        pl.len().alias("entities"),
        pl.col("certainty").median().alias("median_certainty"),
        change.median().alias("median"),
        change.mean().alias("mean"),
        pl.col("degree").mean(),
    )
    return columns.sort("median", "type")


def _spearman(frame: "pl.DataFrame", variable: str) -> _Test:
    from scipy import stats

    x, y, name = frame["entropy_change"].to_numpy(), frame[variable].to_numpy(), "Spearman"
    if len(frame) < 3 or (x == x[0]).all() or (y == y[0]).all():
        return name, None, None, len(frame)
    value, p = stats.spearmanr(x, y)
    return name, float(value), float(p), len(frame)


def _kruskal_wallis(entities: "pl.DataFrame") -> _Test:
    from scipy import stats

    # Each combination of types is a group of its own, so that groups are disjoint.
    typed, name = entities.filter(entities["type"] != ""), "Kruskal-Wallis"
    groups = [g["entropy_change"].to_numpy() for g in typed.partition_by("type")]
    if len(groups) < 2 or len(groups) >= len(typed) or typed["entropy_change"].n_unique() < 2:
        return name, None, None, len(typed)
    value, p = stats.kruskal(*groups)
    return name, float(value) / (len(typed) - 1), float(p), len(typed)


def missing_entropy_reason(run: Run) -> str:
    """Return the reason why a model has no entropies and densities."""
    if run.config.model.members:
        return "the models of an ensemble have no common x0"
    return "its x0 is a point, or discrete"


def entity_entropy(run: Run) -> NDArray[np.float64]:
    """Return the entropy changes of all entities, ``(E,)``.

    Raises:
        KgflowError: the model has no entropies.
    """
    entropy = run.predictor.entropy["entity"]
    if entropy is None:
        name = run.config.model.name
        raise KgflowError(f"{name} has no entropies: {missing_entropy_reason(run)}")
    return entropy
