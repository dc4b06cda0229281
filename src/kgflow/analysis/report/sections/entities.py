"""Sections on entities: certainty, densities, and a map."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kgflow.analysis.certainty import associations, entity_uncertainty
from kgflow.analysis.layout import Groups, Layout, groups, layout
from kgflow.analysis.plots.entities import density_plot, entity_map, entropy_against_degree
from kgflow.analysis.report.content import (
    Content,
    Heading,
    Plot,
    SideBySide,
    Table,
    format_signed,
    shorten,
)
from kgflow.analysis.report.section import (
    ReportContext,
    Section,
    contents_or_reason,
    each_run,
    register,
)
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

SHOWN = 6
"""Number of entities in each table."""

MAX_LABELLED = 150
"""Number of entities with the highest degree that may have a label in the map."""

PLURALS = {"entity": "entities", "relation": "relations"}


@register
class Certainty(Section):
    """Certainty of entities, and its association with other variables."""

    id, title, order = "certainty", "Certainty of entities", 80

    def contents(self, context: ReportContext) -> Iterator[Content]:
        for i, name in enumerate(context.names):
            if context.several:
                yield Heading(name)
            yield from contents_or_reason(_certainty, context.runs[i], i)


def _certainty(run: Run, i: int) -> Iterator[Content]:
    yield SideBySide([_degree_plot(run, i), _associations(run)])
    entities = entity_uncertainty(run)
    most, least = entities.head(SHOWN), entities.tail(SHOWN).reverse()
    yield SideBySide([_entities(run, "Most", most), _entities(run, "Least", least)])


def _degree_plot(run: Run, i: int) -> Plot:
    return Plot.draw(
        f"entropy-{i + 1}",
        "Entropy change of each entity against its degree in training.",
        "Entropy of each entity minus that of x0, per coordinate; lower is more certain. The "
        "degree is the number of training facts of an entity.",
        lambda figure: entropy_against_degree(figure.subplots(), run),
        (5.6, 4.2),
    )


def _associations(run: Run) -> Table:
    rows = [
        [
            f"{r['variable'].replace('_', ' ')} of {PLURALS[r['kind']]}",
            _effect_size(r),
            "< 0.001" if r["p_value"] < 0.001 else f"{r['p_value']:.3f}",
            r["count"],
        ]
        for r in associations(run).to_dicts()
        if r["effect_size"] is not None
    ]
    return Table(
        "Association of the entropy change with other variables: Spearman's rank correlation (−1 "
        "to 1), and for types the share of the variance of ranks that they explain "
        "(Kruskal-Wallis test); p is the p-value.",
        ("variable", "effect size", "p", "count"),
        rows,
    )


def _effect_size(row: dict[str, Any]) -> str:
    value = row["effect_size"]
    return format_signed(value) if row["test"] == "Spearman" else f"{value:.3f}"


def _entities(run: Run, which: str, entities: "pl.DataFrame") -> Table:
    typed = ("type",) if run.data.types else ()
    rows = [
        [
            row["entity"],
            *(row[name] for name in typed),
            f"{row['certainty']:.1f}",
            row["among"],
            row["degree"],
        ]
        for row in entities.to_dicts()
    ]
    return Table(
        f"{which} certain entities: certainty, a percentile among entities of the same type or "
        "degree, and the degree.",
        ("entity", *typed, "certainty", "among", "degree"),
        rows,
    )


@register
class Densities(Section):
    """Densities of selected entities."""

    id, title, order = "densities", "Densities of entities", 90

    def contents(self, context: ReportContext) -> Iterator[Content]:
        yield each_run(context, _density_plot)


def _density_plot(context: ReportContext, i: int) -> Plot:
    names = [context.data.entities[e] for e in context.entities]
    labels = ", ".join(context.data.label(e) for e in context.entities)
    return Plot.draw(
        f"densities-{i + 1}",
        f"Densities of {labels} in one coordinate of {context.names[i]}.",
        "Marginal densities of entities in the coordinate that separates them best. The model is "
        "more certain about an entity with a narrow density.",
        lambda figure: density_plot(figure.subplots(), context.runs[i], names),
        title=context.names[i],
    )


@register
class EntityMap(Section):
    """Two-dimensional map of all entities."""

    id, title, order = "map", "Map of entities", 110

    def contents(self, context: ReportContext) -> Iterator[Content]:
        yield each_run(context, _map)


def _map(context: ReportContext, i: int) -> Plot:
    positions, grouped = layout(context.runs[i]), groups(context.data)
    names = [shorten(name, 48) for name in grouped.names]
    frequent = np.argsort(-context.degree, kind="stable")[:MAX_LABELLED].tolist()
    chosen = dict.fromkeys([*context.entities, *frequent])
    labels = [(int(e), shorten(context.data.label(e), 22)) for e in chosen]

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        if context.several:
            axes.set_title(context.names[i])
        entity_map(axes, positions, grouped, names, labels)

    count = len(context.data.entities)
    return Plot.draw(
        f"map-{i + 1}",
        f"Map of {count:,} entities by {positions.method}, coloured by {grouped.by}.",
        _map_caption(positions, grouped),
        draw,
        (6.2, 5.4),
    )


def _map_caption(positions: Layout, grouped: Groups) -> str:
    distance = "Wasserstein" if positions.model_distance else "Euclidean"
    if positions.explained_variance is None:
        method = "t-SNE preserves neighbourhoods, but not distances between clusters"
    else:
        share = f"{positions.explained_variance:.0%}"
        method = f"the first two principal components explain {share} of the variance"
    return (
        f"{positions.method} of the key vectors of all entities ({distance} distance), coloured by "
        f"{grouped.by}; {method}. Labels are of entities with many facts."
    )
