"""kgflow uncertainty."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from kgflow.cli.options import Device, Json, RunPath, option, option_groups
from kgflow.cli.output import check_image_path, print_note, show_json, table
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kgflow.runs.run import Run


@dataclass(frozen=True)
class Selection:
    """Entities, relations and triple to show; without them, an overview."""

    panel: ClassVar[str] = "Selection"

    entity: list[str] | None = option(
        None, "Name or label of an entity to describe in detail (repeatable)."
    )
    relation: list[str] | None = option(None, "Name of a relation to show (repeatable).")
    triple: tuple[str, str, str] | None = option(
        None, "Triple whose entropy changes to show.", metavar="HEAD RELATION TAIL"
    )
    k: int = option(10, "Number of most and of least certain entities to show.", "-k", min=1)

    def find(self, run: "Run") -> dict[str, Any]:
        """Return the rows of each table, by its key in `TITLES`."""
        from kgflow.analysis import profile, relation_uncertainty, triple_uncertainty

        found: dict[str, Any] = {}
        if self.entity:
            found["entities"] = [profile(run, name).to_dict() for name in self.entity]
        if self.relation:
            wanted = [run.data.relations[i] for i in run.data.relations.ids(self.relation)]
            frame = relation_uncertainty(run)
            found["relations"] = frame.filter(frame["relation"].is_in(wanted)).to_dicts()
        if self.triple:
            found["triples"] = triple_uncertainty(run, [self.triple]).to_dicts()
        return found or _overview(run, self.k)


@option_groups
def uncertainty(
    run: RunPath,
    selection: Selection,
    coordinate: Annotated[
        str | None,
        typer.Option(help="Coordinate of the densities in the plot: a number from 1, or mean."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write a plot to a PNG, SVG or PDF file.")
    ] = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Show the certainty of entities and relations, and their entropy changes in nats.

    Certainty is a percentile among entities of the same type or degree, or among relations. The
    plot shows the densities of the given entities, or else entropy change against degree.

    Example: kgflow uncertainty runs/world --entity France --plot france.png
    """
    from kgflow.runs.run import Run

    entities = selection.entity or []
    if coordinate is not None and not (entities and plot):
        raise KgflowError("--coordinate is an option of the density plot: add --entity and --plot")
    if plot is not None:
        check_image_path(plot)
    opened = Run.open(run, device)
    found = selection.find(opened)
    if plot is not None:
        _plot(opened, entities, coordinate, plot)
    if json:
        show_json(found)
    else:
        _show(found)


def _overview(run: "Run", k: int) -> dict[str, Any]:
    from kgflow.analysis import (
        associations,
        entity_uncertainty,
        relation_uncertainty,
        type_uncertainty,
    )

    entities = entity_uncertainty(run)
    found = {
        "most_certain": entities.head(k).to_dicts(),
        "least_certain": entities.tail(k).reverse().to_dicts(),
        "types": type_uncertainty(run).to_dicts(),
    }
    try:
        relations = relation_uncertainty(run)
        if len(relations) > 2 * k:
            found["most_certain_relations"] = relations.head(k).to_dicts()
            found["least_certain_relations"] = relations.tail(k).reverse().to_dicts()
        else:
            found["relations"] = relations.to_dicts()
    except KgflowError as error:
        print_note(f"note: {error}")
    return found | {"associations": associations(run).to_dicts()}


TITLES = {
    "most_certain": "most certain entities",
    "least_certain": "least certain entities",
    "types": "types of entities",
    "relations": "relations",
    "most_certain_relations": "most certain relations",
    "least_certain_relations": "least certain relations",
    "triples": "entropy changes in nats",
    "associations": "associations of the entropy change",
}


def _show(found: dict[str, Any]) -> None:
    for entity in found.pop("entities", []):
        _show_profile(entity)
    for key, rows in found.items():
        if rows:
            columns = [column for column in rows[0] if column != "name"]
            table(TITLES[key], columns, [[row[c] for c in columns] for row in rows])


def _show_profile(profile: dict[str, Any]) -> None:
    rows = [
        ["certainty (percentile)", f"{profile['certainty']:.1f} among {profile['among']}"],
        ["entropy change (nats)", profile["entropy_change"]],
        ["per coordinate", profile["per_coordinate"]],
        ["degree", profile["degree"]],
        ["rank by certainty", f"{profile['rank']:,} of {profile['entities']:,}"],
    ]
    if profile["entities_of_type"]:
        rank = f"{profile['rank_in_type']:,} of {profile['entities_of_type']:,}"
        rows += [[f"rank among {profile['type']}", rank]]
    counts = ", ".join(f"{k} {v:,}" for k, v in profile["relations"].items())
    rows += [["training facts", counts], ["nearest", ", ".join(profile["nearest"]) or "–"]]
    for i, (low, median, high) in profile["quantiles"].items():
        rows += [[f"coordinate {i}", f"{median:.4g} (5-95 %: {low:.4g} to {high:.4g})"]]
    table(profile["entity"], ("", "value"), rows)


def _plot(run: "Run", entities: list[str], coordinate: str | None, path: Path) -> None:
    from kgflow.analysis.plots import (
        density_plot,
        entropy_against_degree,
        mean_density_plot,
        new_figure,
        save_figure,
    )

    with new_figure() as figure:
        axes: Axes = figure.subplots()
        if not entities:
            entropy_against_degree(axes, run)
        elif coordinate == "mean":
            mean_density_plot(axes, run, entities)
        else:
            density_plot(axes, run, entities, _number(coordinate))
        save_figure(figure, path)


def _number(coordinate: str | None) -> int | None:
    try:
        return None if coordinate is None else int(coordinate)
    except ValueError:
        raise KgflowError(f"--coordinate is a number or mean, not '{coordinate}'") from None
