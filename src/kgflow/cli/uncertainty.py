"""kgflow uncertainty."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgflow.cli.output import (
    Device,
    Json,
    RunPath,
    check_image_path,
    print_note,
    show_json,
    table,
)
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kgflow.runs.run import Run

ENTITY = ("entity", "type", "uncertainty", "per_coordinate", "degree")
RELATION = (
    *("relation", "uncertainty", "per_coordinate", "reciprocal"),
    *("facts", "category", "tails_per_head", "heads_per_tail"),
)
ASSOCIATION = ("of", "beside", "test", "value", "p", "count")
TYPE = ("type", "entities", "median", "mean", "degree")
TRIPLE = (
    *("head", "relation", "tail"),
    *("head_change", "relation_change", "composed_change", "tail_change"),
)


def uncertainty(
    run: RunPath,
    entity: Annotated[
        list[str], typer.Option(help="Only this entity, in detail (repeatable).")
    ] = [],  # noqa: B006
    relation: Annotated[list[str], typer.Option(help="Only this relation (repeatable).")] = [],  # noqa: B006
    triple: Annotated[
        tuple[str, str, str] | None,
        typer.Option(help="Along this triple.", metavar="HEAD RELATION TAIL"),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Rows at each end of a table.")] = 10,
    coordinate: Annotated[
        str | None,
        typer.Option(help="Of the densities drawn: a number from 1, or mean for all."),
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw it to this file: .png, .svg …")] = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """How sure the model is of entities, relations and triples, as changes of entropy in nats.

    The picture shows the densities of the given entities, or else uncertainty against degree.

    Example: kgflow uncertainty runs/world --entity France --picture france.png
    """
    from kgflow.runs.run import Run

    if coordinate is not None and not (entity and picture):
        raise KgflowError("--coordinate says what to draw: give --entity and --picture with it")
    if picture is not None:
        check_image_path(picture)
    opened = Run.open(run, device)
    found = _found(opened, entity, relation, triple, k)
    if picture is not None:
        _draw(opened, entity, coordinate, picture)
    if json:
        show_json(found)
    else:
        _show(found)


def _found(
    run: "Run",
    entities: list[str],
    relations: list[str],
    triple: tuple[str, str, str] | None,
    k: int,
) -> dict[str, Any]:
    from kgflow.analysis import profile, relation_uncertainty, triple_uncertainty

    found: dict[str, Any] = {}
    if entities:
        found["entities"] = [profile(run, name).to_dict() for name in entities]
    if relations:
        wanted = [run.data.relations[i] for i in run.data.relations.ids(relations)]
        frame = relation_uncertainty(run)
        found["relations"] = frame.filter(frame["relation"].is_in(wanted)).to_dicts()
    if triple:
        found["triples"] = triple_uncertainty(run, [triple]).to_dicts()
    return found or _everything(run, k)


def _everything(run: "Run", k: int) -> dict[str, Any]:
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
            found["relations_narrowing"] = relations.head(k).to_dicts()
            found["relations_widening"] = relations.tail(k).reverse().to_dicts()
        else:
            found["relations"] = relations.to_dicts()
    except KgflowError as error:
        print_note(f"note: {error}")
    return found | {"associations": associations(run).to_dicts()}


TABLES = {
    "most_certain": ("most certain entities", ENTITY),
    "least_certain": ("least certain entities", ENTITY),
    "types": ("by type", TYPE),
    "relations": ("relations, what they add in nats", RELATION),
    "relations_narrowing": ("relations that narrow most", RELATION),
    "relations_widening": ("relations that widen most", RELATION),
    "triples": ("changes of entropy in nats", TRIPLE),
    "associations": ("what uncertainty goes along with", ASSOCIATION),
}


def _show(found: dict[str, Any]) -> None:
    for one in found.pop("entities", []):
        _show_profile(one)
    for key, rows in found.items():
        if rows:
            title, columns = TABLES[key]
            table(title, columns, [[row[c] for c in columns] for row in rows])


def _show_profile(one: dict[str, Any]) -> None:
    about = [["uncertainty (nats)", one["uncertainty"]]]
    about += [["per coordinate", one["per_coordinate"]], ["degree", one["degree"]]]
    about += [["place, surest first", f"{one['place']:,} of {one['entities']:,}"]]
    if one["entities_of_type"]:
        place = f"{one['place_in_type']:,} of {one['entities_of_type']:,}"
        about += [[f"place among {one['type']}", place]]
    about += [["training facts", ", ".join(f"{k} {v:,}" for k, v in one["relations"].items())]]
    about += [["nearest", ", ".join(one["nearest"]) or "–"]]
    for i, (low, middle, high) in one["quantiles"].items():
        about += [[f"coordinate {i}", f"{middle:.4g} (5-95 %: {low:.4g} to {high:.4g})"]]
    table(one["entity"], ("", "value"), about)


def _draw(run: "Run", entities: list[str], coordinate: str | None, path: Path) -> None:
    from kgflow.analysis.plots import densities, entropy_against_degree, mean_densities, picture
    from kgflow.analysis.plots.style import save

    with picture() as figure:
        axes: Axes = figure.subplots()
        if not entities:
            entropy_against_degree(axes, run)
        elif coordinate == "mean":
            mean_densities(axes, run, entities)
        else:
            densities(axes, run, entities, _number(coordinate))
        save(figure, path)


def _number(coordinate: str | None) -> int | None:
    try:
        return None if coordinate is None else int(coordinate)
    except ValueError:
        raise KgflowError(f"--coordinate is a number or mean, not '{coordinate}'") from None
