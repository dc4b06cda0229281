"""What uncertainty goes along with."""

from typing import TYPE_CHECKING

from kgflow.analysis.certainty import entity_uncertainty, relation_uncertainty
from kgflow.errors import KgflowError
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

BESIDE_RELATIONS = ("facts", "tails_per_head", "heads_per_tail")


_Row = tuple[str, float | None, float | None, int]
"""A test's name, its statistic, its p-value and how many it is about."""


def associations(run: Run) -> "pl.DataFrame":
    """Whether uncertainty goes with degree, type, number of facts, and how many answers there are.

    Columns: of (entity or relation), beside, test, value, p, count. Numbers are held against
    uncertainty by Spearman's rank correlation, types by the test of Kruskal and Wallis, whose
    value here is the share of variance of ranks that types explain, :math:`H / (N - 1)`. Value
    and p are null where uncertainty, or what it is held against, is the same for all.
    """
    import polars as pl

    entities = entity_uncertainty(run)
    rows: list[tuple[str, str, *_Row]] = [
        ("entity", "degree", *_spearman(entities, "degree")),
        ("entity", "type", *_kruskal_wallis(entities)),
    ]
    try:
        relations = relation_uncertainty(run)
        rows += [("relation", x, *_spearman(relations, x)) for x in BESIDE_RELATIONS]
    except KgflowError:
        pass  # entities have an uncertainty, relations have none
    schema = {"of": str, "beside": str, "test": str, "value": float, "p": float, "count": int}
    return pl.DataFrame(rows, schema=schema, orient="row")


def type_uncertainty(run: Run) -> "pl.DataFrame":
    """The entities of each type: count, median and mean uncertainty, mean degree; surest first.

    An entity of several types counts in each.
    """
    import polars as pl

    of = pl.col("uncertainty")
    types = [(name, of_it) for name in run.data.entities for of_it in run.data.types.get(name, ())]
    schema = {"name": pl.String, "type": pl.String}
    each = pl.DataFrame(types, schema=schema, orient="row")
    grouped = entity_uncertainty(run).drop("type").join(each, on="name").group_by("type")
    counts, median = pl.len().alias("entities"), of.median().alias("median")
    mean, degree = of.mean().alias("mean"), pl.col("degree").mean()
    return grouped.agg(counts, median, mean, degree).sort("median", "type")


def _spearman(frame: "pl.DataFrame", beside: str) -> _Row:
    from scipy import stats

    x, y, name = frame["uncertainty"].to_numpy(), frame[beside].to_numpy(), "Spearman"
    if len(frame) < 3 or (x == x[0]).all() or (y == y[0]).all():
        return name, None, None, len(frame)
    value, p = stats.spearmanr(x, y)
    return name, float(value), float(p), len(frame)


def _kruskal_wallis(entities: "pl.DataFrame") -> _Row:
    from scipy import stats

    # An entity of several types stands for one group, that of its combination.
    typed, name = entities.filter(entities["type"] != ""), "Kruskal-Wallis"
    groups = [g["uncertainty"].to_numpy() for g in typed.partition_by("type")]
    if len(groups) < 2 or len(groups) >= len(typed) or typed["uncertainty"].n_unique() < 2:
        return name, None, None, len(typed)
    value, p = stats.kruskal(*groups)
    return name, float(value) / (len(typed) - 1), float(p), len(typed)
