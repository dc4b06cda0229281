"""kgflow data: list, describe, import, split, download."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from kgflow.cli.options import FileOptions, Json, Source, open_data, option, option_groups
from kgflow.cli.output import print_note, show_json, table

if TYPE_CHECKING:
    from kgflow.data import Dataset, Statistics

app = typer.Typer(
    help="List, describe, import, split and download data sets.\n\n"
    "Example: kgflow data describe world",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

Out = Annotated[Path, typer.Option(help="Directory to write the train/valid/test files to.")]


@dataclass(frozen=True)
class SplitOptions:
    """Fractions and seed of a random split."""

    panel: ClassVar[str] = "Split"

    valid: float = option(0.05, "Fraction of triples for validation.")
    test: float = option(0.05, "Fraction of triples for the test.")
    seed: int = option(0, "Random seed of the split.", min=0)


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
@option_groups
def describe(
    data: Source,
    files: FileOptions,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Fail if a name occurs only in the valid or test split."),
    ] = False,
    json: Json = False,
) -> None:
    """Describe a data set: counts, degrees, relation categories, duplicates and leakage.

    Example: kgflow data describe world
    """
    from kgflow.data import describe as statistics

    found = statistics(open_data(data, files, strict))
    if json:
        show_json(found.to_dict())
    else:
        _print_statistics(found)


@app.command("import")
@option_groups
def import_(
    sources: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files of triples.")],
    out: Out,
    split: SplitOptions,
    files: FileOptions,
    json: Json = False,
) -> None:
    """Import CSV, TSV, Parquet or RDF files as one data set with a random split.

    Example: kgflow data import facts.nt more.csv --out mygraph
    """
    from kgflow.data import import_files

    shares = (split.valid, split.test)
    _save(import_files(sources, **asdict(files), shares=shares, seed=split.seed), out, json)


@app.command("split")
@option_groups
def split_(
    data: Source, out: Out, split: SplitOptions, files: FileOptions, json: Json = False
) -> None:
    """Split all triples of a data set anew, such that training contains every entity.

    Example: kgflow data split facts.tsv --valid 0.1 --test 0.1 --out mygraph
    """
    from kgflow.data import resplit

    _save(resplit(open_data(data, files), split.valid, split.test, split.seed), out, json)


@app.command()
def download(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name of a data set; `kgflow data list` shows all."),
    ],
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


def _save(data: "Dataset", out: Path, json: bool) -> None:
    from kgflow.data import save

    save(data, out)
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
    names = "name count category tails_per_head heads_per_tail symmetry inverse inverse_share"
    columns = names.split()
    relations = sorted(found.by_relation, key=lambda relation: -relation.count)
    rows = [[getattr(relation, column) for column in columns] for relation in relations]
    table("relations in training", columns, rows)


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
