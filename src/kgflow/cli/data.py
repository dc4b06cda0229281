"""kgflow data: list, describe, import, split, download."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgflow.cli.options import option_groups
from kgflow.cli.output import Json, print_note, show_json, table
from kgflow.cli.source import ColumnsText, Labels, Source, Strict, Types, open_data

if TYPE_CHECKING:
    from kgflow.data import Dataset, RelationStatistics, Statistics

app = typer.Typer(
    help="List, describe, import, split and download data sets.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

SPLIT = "Split"

Out = Annotated[Path, typer.Option(help="Directory to write the train/valid/test files to.")]


@dataclass(frozen=True)
class SplitOptions:
    """Fractions and seed of a random split."""

    valid: Annotated[
        float,
        typer.Option(help="Fraction of triples for validation.", rich_help_panel=SPLIT),
    ] = 0.05
    test: Annotated[
        float, typer.Option(help="Fraction of triples for the test.", rich_help_panel=SPLIT)
    ] = 0.05
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed of the split.", rich_help_panel=SPLIT)
    ] = 0


@app.command("list")
def list_(json: Json = False) -> None:
    """List the known data sets, and the directory of each.

    Example: kgflow data list
    """
    from kgflow.data import list_datasets

    rows = [
        {
            "name": entry.name,
            "entities": entry.entities,
            "relations": entry.relations,
            "train": entry.train,
            "found": str(directory) if directory else None,
            "download": entry.blob is not None,
            "about": entry.about,
        }
        for entry, directory in list_datasets()
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
    """Describe a data set: counts, degrees, relation categories, duplicates and leakage.

    Example: kgflow data describe world
    """
    from kgflow.data import describe as statistics

    found = statistics(open_data(data, columns, labels, types, strict))
    if json:
        show_json(found.to_dict())
    else:
        _print_statistics(found)


@app.command("import")
@option_groups
def import_(
    files: Annotated[list[Path], typer.Argument(help="Files of triples.")],
    out: Out,
    split: SplitOptions,
    columns: ColumnsText = None,
    labels: Labels = None,
    types: Types = None,
    json: Json = False,
) -> None:
    """Import CSV, TSV, Parquet or RDF files as one data set with a random split.

    Example: kgflow data import facts.nt more.csv --out mygraph
    """
    from kgflow.data import Columns, import_files, save

    chosen = None if columns is None else Columns.parse(columns)
    data = import_files(files, chosen, labels, types, (split.valid, split.test), split.seed)
    save(data, out)
    _print_saved(data, out, json)


@app.command("split")
@option_groups
def split_(
    data: Source,
    out: Out,
    split: SplitOptions,
    columns: ColumnsText = None,
    json: Json = False,
) -> None:
    """Split all triples of a data set anew, such that training contains every entity.

    Example: kgflow data split facts.tsv --valid 0.1 --test 0.1 --out mygraph
    """
    from kgflow.data import resplit, save

    found = resplit(open_data(data, columns), split.valid, split.test, split.seed)
    save(found, out)
    _print_saved(found, out, json)


@app.command()
def download(
    name: Annotated[str, typer.Argument(help="Name of a data set; `kgflow data list` shows all.")],
    json: Json = False,
) -> None:
    """Download a benchmark data set and verify its checksum.

    Example: kgflow data download wn18rr
    """
    from kgflow.data import download as fetch

    directory = fetch(name)
    if json:
        show_json({"name": name, "directory": directory})
    else:
        print(f"{name} is in {directory}")


def _print_saved(data: "Dataset", out: Path, json: bool) -> None:
    sizes = {s: len(data.split(s)) for s in ("train", "valid", "test")}
    for notice in data.notices:
        print_note(f"note: {notice}")
    if json:
        names = {"entities": len(data.entities), "relations": len(data.relations)}
        show_json({"directory": out, **names, **sizes, "notices": data.notices})
        return
    print(f"{out}: " + ", ".join(f"{count:,} {split}" for split, count in sizes.items()))


def _print_statistics(found: "Statistics") -> None:
    table(found.name, ("statistic", "value"), [*_counts(found), *_problems(found)])
    columns = (
        "relation",
        "triples",
        "category",
        "tails/head",
        "heads/tail",
        "symmetry",
        "inverse",
        "inverse fraction",
    )
    relations = [
        [r.name, r.count, r.category, r.tails_per_head, r.heads_per_tail, *_inverse(r)]
        for r in sorted(found.by_relation, key=lambda r: -r.count)
    ]
    table("relations in training", columns, relations)


def _counts(found: "Statistics") -> Iterator[tuple[str, float]]:
    yield from (("entities", found.entities), ("relations", found.relations))
    yield from ((f"{split} triples", size) for split, size in found.sizes.items())
    degrees = asdict(found.degrees).items()
    yield from ((f"degree, {name}", value) for name, value in degrees)


def _problems(found: "Statistics") -> Iterator[tuple[str, float]]:
    yield from ((f"duplicates in {split}", n) for split, n in found.duplicates.items())
    yield from ((f"triples shared by {pair}", n) for pair, n in found.shared.items())
    for split, unseen in found.unseen.items():
        yield f"{split} triples with a name unseen in training", unseen.triples
        yield f"{split} entities unseen in training", unseen.entities
        yield f"{split} relations unseen in training", unseen.relations
    yield from (
        (f"{split} fraction of triples with leakage by inverse relations", s)
        for split, s in found.leakage.items()
    )


def _inverse(relation: "RelationStatistics") -> tuple[float, str, float]:
    return relation.symmetry, relation.inverse or "", relation.inverse_share
