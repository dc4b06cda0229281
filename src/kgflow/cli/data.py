"""kgflow data: list, describe, import, split, download."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from kgflow.cli.options import FileOptions, Json, Source, open_data, option, option_groups
from kgflow.cli.output import print_note, show_json, table
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.data import Dataset, RdfOptions, Statistics

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


@dataclass(frozen=True)
class GraphOptions:
    """Predicates of RDF graphs, language of labels, and requests to SPARQL endpoints."""

    panel: ClassVar[str] = "RDF and SPARQL"

    include: list[str] | None = option(
        None, "Predicate to read, such as schema:spouse or *Place (repeatable). Default: all."
    )
    exclude: list[str] | None = option(None, "Predicate to leave out (repeatable).")
    language: str = option("en", "Language of the labels (rdfs:label).")
    page_size: int = option(10_000, "Statements per request to an endpoint.", min=1)
    timeout: float = option(60.0, "Seconds to wait for an answer; a request is sent 5 times.")

    @property
    def rdf(self) -> "RdfOptions":
        """Predicates and language."""
        from kgflow.data import RdfOptions

        return RdfOptions(tuple(self.include or ()), tuple(self.exclude or ()), self.language)

    @contextmanager
    def local(self, sources: list[str], out: Path) -> Iterator[tuple[list[Path], tuple[str, ...]]]:
        """Download the graphs of endpoints beside `out`, and yield the paths of all sources.

        The downloaded pages are removed when the block ends without error.
        """
        from kgflow.cli.progress import progress_bar
        from kgflow.data.endpoint import Endpoint
        from kgflow.data.iri import is_address
        from kgflow.data.sparql import download_graph
        from kgflow.io import check_empty

        check_empty(out)
        paths, notices, temporary = list[Path](), list[str](), list[Path]()
        for i, source in enumerate(sources, start=1):
            if not is_address(source):
                paths.append(Path(source))
                continue
            temporary.append(out.absolute().with_name(f".{out.name}.{i}.download"))
            endpoint = Endpoint(source, self.timeout)
            try:
                with progress_bar(f"reading {endpoint.shown}") as progress:
                    path, found = download_graph(
                        endpoint, temporary[-1], self.rdf, self.page_size, progress
                    )
            except (KeyboardInterrupt, KgflowError):
                if (temporary[-1] / "state.json").exists():
                    print_note(f"note: {temporary[-1]} keeps the pages for the same command again")
                raise
            paths.append(path)
            notices += found
        yield paths, tuple(notices)
        for directory in temporary:
            shutil.rmtree(directory)


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
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE", help="Files, directories of Oxigraph stores, SPARQL endpoints."
        ),
    ],
    out: Out,
    split: SplitOptions,
    files: FileOptions,
    graph: GraphOptions,
    json: Json = False,
) -> None:
    """Import a graph as one data set with labels, types and a random split.

    Sources are files of triples (CSV, TSV, Parquet), RDF (N-Triples, N-Quads, Turtle, TriG,
    RDF/XML, JSON-LD), directories of Oxigraph stores, and addresses of SPARQL endpoints. After an
    interruption, the same command continues to read from an endpoint.

    Example: kgflow data import facts.nt more.csv --out mygraph
    """
    from kgflow.data import import_files

    with graph.local(sources, out) as (paths, notices):
        data = import_files(
            paths,
            **asdict(files),
            shares=(split.valid, split.test),
            seed=split.seed,
            rdf=graph.rdf,
        )
        _save(replace(data, notices=notices + data.notices), out, json)


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
