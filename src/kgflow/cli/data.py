"""kgflow data: list, describe, import, split, download."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgflow.cli.output import Json, say, show_json, table
from kgflow.cli.source import ColumnsText, Labels, Source, Strict, Types, open_data

if TYPE_CHECKING:
    from kgflow.data import Dataset, RelationStatistics, Statistics

app = typer.Typer(
    help="Data sets: what there is, what is in it, and how to bring your own.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Out = Annotated[Path, typer.Option(help="The directory to write train/valid/test to.")]


@app.command("list")
def list_(json: Json = False) -> None:
    """The catalogue, and where each data set was found.

    Example: kgflow data list
    """
    from kgflow.data import list_datasets

    rows = [
        {
            "name": entry.name,
            "entities": entry.entities,
            "relations": entry.relations,
            "train": entry.train,
            "found": str(place) if place else None,
            "download": entry.blob is not None,
            "about": entry.about,
        }
        for entry, place in list_datasets()
    ]
    if json:
        show_json({"datasets": rows})
        return
    columns = ("name", "entities", "relations", "train", "found", "about")
    table("data sets", columns, [[row[c] for c in columns] for row in rows])


@app.command()
def describe(
    data: Source,
    columns: ColumnsText = None,
    labels: Labels = None,
    types: Types = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Counts, degrees, relation categories, duplicates and leaks of a data set.

    Example: kgflow data describe world
    """
    from kgflow.data import describe as statistics

    found = statistics(open_data(data, columns, labels, types, strict))
    if json:
        show_json(found.to_dict())
    else:
        _show(found)


@app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Files of facts, all for training.")],
    out: Out,
    columns: ColumnsText = None,
    labels: Labels = None,
    types: Types = None,
    valid: Annotated[float, typer.Option(help="Share of facts for validation.")] = 0.05,
    test: Annotated[float, typer.Option(help="Share of facts for the test.")] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Of the split.")] = 0,
    json: Json = False,
) -> None:
    """Turn CSV, TSV, Parquet or RDF files into one split data set.

    Example: kgflow data import facts.nt more.csv --out mygraph
    """
    from kgflow.data import Columns, import_files, save

    chosen = None if columns is None else Columns.parse(columns)
    data = import_files(files, chosen, labels, types, (valid, test), seed)
    save(data, out)
    _saved(data, out, json)


@app.command()
def split(
    data: Source,
    out: Out,
    valid: Annotated[float, typer.Option(help="Share of facts for validation.")] = 0.05,
    test: Annotated[float, typer.Option(help="Share of facts for the test.")] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Of the split.")] = 0,
    columns: ColumnsText = None,
    json: Json = False,
) -> None:
    """Split all facts of a data set anew, with no entity unseen in training.

    Example: kgflow data split facts.tsv --valid 0.1 --test 0.1 --out mygraph
    """
    from kgflow.data import resplit, save

    found = resplit(open_data(data, columns), valid, test, seed)
    save(found, out)
    _saved(found, out, json)


@app.command()
def download(
    name: Annotated[str, typer.Argument(help="A catalogue name.")], json: Json = False
) -> None:
    """Fetch a benchmark data set whose checksum is known.

    Example: kgflow data download wn18rr
    """
    from kgflow.data import download as fetch

    place = fetch(name)
    if json:
        show_json({"name": name, "directory": place})
    else:
        print(f"{name} is in {place}")


def _saved(data: "Dataset", out: Path, json: bool) -> None:
    sizes = {s: len(data.split(s)) for s in ("train", "valid", "test")}
    for notice in data.notices:
        say(f"note: {notice}")
    if json:
        names = {"entities": len(data.entities), "relations": len(data.relations)}
        show_json({"directory": out, **names, **sizes, "notices": data.notices})
        return
    print(f"{out}: " + ", ".join(f"{count:,} {split}" for split, count in sizes.items()))


def _show(found: "Statistics") -> None:
    table(found.name, ("what", "how many"), [*_counts(found), *_pitfalls(found)])
    columns = (
        "relation",
        "facts",
        "category",
        "tails/head",
        "heads/tail",
        "symmetry",
        "inverse",
        "of",
    )
    relations = [
        [r.name, r.count, r.category, r.tails_per_head, r.heads_per_tail, *_mirror(r)]
        for r in sorted(found.by_relation, key=lambda r: -r.count)
    ]
    table("relations in training", columns, relations)


def _counts(found: "Statistics") -> Iterator[tuple[str, float]]:
    yield from (("entities", found.entities), ("relations", found.relations))
    yield from ((f"{split} facts", size) for split, size in found.sizes.items())
    degrees = asdict(found.degrees).items()
    yield from ((f"degree, {name}", value) for name, value in degrees)


def _pitfalls(found: "Statistics") -> Iterator[tuple[str, float]]:
    yield from ((f"duplicates in {split}", n) for split, n in found.duplicates.items())
    yield from ((f"facts shared by {pair}", n) for pair, n in found.shared.items())
    for split, unseen in found.unseen.items():
        yield f"{split} facts with a name unseen in training", unseen.triples
        yield f"{split} entities unseen in training", unseen.entities
        yield f"{split} relations unseen in training", unseen.relations
    yield from ((f"{split} facts that leak by inversion", s) for split, s in found.leakage.items())


def _mirror(relation: "RelationStatistics") -> tuple[float, str, float]:
    return relation.symmetry, relation.inverse or "", relation.inverse_share
