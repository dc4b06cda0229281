"""The base class of all studies: rows to run, and a page that shows them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar, NamedTuple

from kgflow.errors import KgflowError
from reproduce.experiments import Row, read_rows
from reproduce.results import provenance, provenance_text
from reproduce.running import Plan, Result

SCALES = {"paper": 1, "half": 2, "quarter": 4}
"""Divisors of the dimension n."""


@dataclass(frozen=True)
class Options:
    """What a user chose: the rows of a study, their dimension and the number of seeds.

    Args:
        models: names of models; all if empty.
        data: names of graphs; all if empty.
        rows: ids of rows; all if empty.
        scale: paper for the printed n, half or quarter of it.
        seeds: number of seeds, from 0.

    Example:
        >>> Options(scale="half").dim(512)
        256
        >>> Options(("nfe-1",), scale="half", seeds=3).words
        ' --model nfe-1 --scale half --seeds 3'
    """

    models: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    scale: str = "paper"
    seeds: int = 1

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise KgflowError(f"unknown scale '{self.scale}': give {', '.join(SCALES)}")
        if self.seeds < 1:
            raise KgflowError(f"--seeds is {self.seeds}: give 1 or more")

    @property
    def words(self) -> str:
        """The options as a user types them; empty if all are the default."""
        flags = (("model", self.models), ("data", self.data), ("row", self.rows))
        found = "".join(f" --{flag} {quote(name)}" for flag, names in flags for name in names)
        found += f" --scale {self.scale}" if self.scale != "paper" else ""
        return found + (f" --seeds {self.seeds}" if self.seeds != 1 else "")

    def dim(self, printed: int) -> int:
        """Return the dimension at this scale."""
        return max(1, printed // SCALES[self.scale])

    def chosen(self, row: Row) -> bool:
        """Return whether a row is among those chosen."""
        pairs = ((self.models, row.model), (self.data, row.data), (self.rows, row.id))
        return all(not names or name in names for names, name in pairs)


class Shown(NamedTuple):
    """Outcome of a study, as Markdown and as values for JSON."""

    text: str
    values: dict[str, Any]


class Study(ABC):
    """Experiments to run, and how to show them.

    Args:
        directory: directory of all runs.
        pictures: directory of pictures.
        options: rows, scale and seeds.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    """Description of the page, which continues a sentence."""
    varies: ClassVar[tuple[str, ...]] = ()
    """Options that the study has: scale, seeds."""
    storable: ClassVar[bool] = False
    """Whether stored results are enough to show the study, without weights."""
    files: ClassVar[Path] = Path(__file__).parent / "studies"

    def __init__(self, directory: Path, pictures: Path, options: Options | None = None) -> None:
        self.directory, self.pictures, self.options = directory, pictures, options or Options()
        default = Options()
        for name in ("scale", "seeds"):
            if name not in self.varies and getattr(self.options, name) != getattr(default, name):
                raise KgflowError(f"{self.name} has no choice of --{name}: leave it out")

    @property
    def file(self) -> Path:
        """TOML file of the rows."""
        return self.files / f"{self.name}.toml"

    def all_rows(self) -> list[Row]:
        """Return all rows of the study."""
        return read_rows(self.file)

    def rows(self) -> list[Row]:
        """Return the chosen rows."""
        found = [row for row in self.all_rows() if self.options.chosen(row)]
        if not found:
            raise KgflowError(f"{self.file} has no row of these models, graphs and ids")
        return found

    def seeds(self, row: Row) -> list[Plan]:
        """Return the runs of a row, one per seed."""
        seeds = range(self.options.seeds)
        return [Plan(self.name, row.id, seed, values=row.settings(seed)) for seed in seeds]

    def plans(self) -> list[Plan]:
        """Return the runs of the chosen rows."""
        return [plan for row in self.rows() for plan in self.seeds(row)]

    def complete(self, result: Result) -> Result:
        """Return a finished run with what the study measures on it, to be stored with it."""
        return result

    @abstractmethod
    def show(self, results: Sequence[Result]) -> Shown:
        """Return tables and pictures of the results."""

    def page(self, shown: Shown, results: Sequence[Result]) -> str:
        """Return a whole page: description, outcome, commands and provenance.

        Numbers of stored results have the provenance of their training, others that of now.
        """
        done = [result for result in results if result.record is not None]
        head = f"Printed by `python -m reproduce {self.name}{self.options.words}`: {self.about}"
        settings = f"Settings are in `reproduce/studies/{self.name}.toml`"
        if done:
            settings += f"; a single row is run by its id, as in `{done[0].plan.command}`"
        where = origins(done) if self.storable else provenance_text(provenance())
        parts = [f"# {self.title}", head, shown.text, f"{settings}.", where]
        return "\n\n".join(parts) + "\n"


def origins(results: Sequence[Result]) -> str:
    """Return date, commit and machine of each run; once, if all have the same."""
    runs: dict[str, list[str]] = {}
    for result in results:
        if result.record is not None:
            known = provenance_text(result.record.provenance)
            runs.setdefault(known, []).append(f"`{result.plan.name}`")
    if len(runs) < 2:
        return next(iter(runs), provenance_text(provenance()))
    return "\n".join(f"- {known}: {', '.join(names)}" for known, names in runs.items())


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Return a Markdown table; the first columns hold words, the others numbers.

    Example:
        >>> print(table(["model", "MRR"], [["nfe-1", "0.5"]]))
        | model | MRR |
        | --- | ---: |
        | nfe-1 | 0.5 |
    """
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))
