"""Base class of report sections, and the runs that a report describes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgflow.analysis.comparison import Comparison
from kgflow.analysis.missing import without_reverse
from kgflow.analysis.plots.style import COLOURS
from kgflow.analysis.report.content import Cells, Content, Paragraph, SideBySide, Table
from kgflow.data import Statistics, describe
from kgflow.errors import KgflowError
from kgflow.evaluation import Evaluation, Progress, no_progress
from kgflow.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

MISSING = 12
"""Number of missing facts."""
MAX_SCORES = 3 * 10**8
"""Largest number of possible facts that a report scores to find the missing ones."""
DEFAULT_ENTITIES = 5
"""Number of entities with the highest degree that are shown by default."""


class ReportContext:
    """Runs on the same data with their evaluation on one split.

    Args:
        runs: one or more runs; the others are compared with the first.
        split: train, valid or test.
        entities: names or labels of entities to show; by default those with the highest degree.

    Raises:
        KgflowError: the runs have different data, or an entity is unknown.
    """

    def __init__(
        self, runs: Sequence[Run], split: str = "test", entities: Sequence[str] = ()
    ) -> None:
        if not runs:
            raise KgflowError("a report needs one run or more: name a run directory")
        if len(runs) > len(COLOURS) or len(entities) > len(COLOURS):
            raise KgflowError(f"a report can show at most {len(COLOURS)} runs and entities")
        self.runs, self.split, self.data = tuple(runs), split, runs[0].data
        for run in runs[1:]:
            if run.config.run.data_digest != runs[0].config.run.data_digest:
                raise KgflowError(
                    f"{run.directory} was trained on other data than {runs[0].directory}: "
                    "a report needs runs with the same facts and splits"
                )
        if not len(self.data.split(split)):
            raise KgflowError(f"{self.data.name} has no {split} facts to report on")
        self.entities = [self.data.entity_id(name) for name in entities]
        if not entities:
            self.entities = np.argsort(-self.degree, kind="stable")[:DEFAULT_ENTITIES].tolist()
        self.evaluations: tuple[Evaluation, ...] = ()

    def evaluate(self, progress: Progress = no_progress) -> None:
        """Evaluate all runs on the split."""

        def part(share: float) -> None:
            progress((len(self.evaluations) + share) / len(self.runs))

        self.evaluations = ()
        for run in self.runs:
            self.evaluations += (run.evaluate(self.split, progress=part),)

    @property
    def several(self) -> bool:
        """Whether there are several runs."""
        return len(self.runs) > 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the runs: their directories, with a number where two are the same."""
        plain = [run.directory.resolve().name for run in self.runs]
        return tuple(
            name if plain.count(name) == 1 else f"{name} ({plain[: i + 1].count(name)})"
            for i, name in enumerate(plain)
        )

    @cached_property
    def statistics(self) -> Statistics:
        """Statistics of the data."""
        return describe(self.data)

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """Number of training triples of each entity, ``(E,)``."""
        return self.data.train.degrees(len(self.data.entities))

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Comparisons of the other runs with the first."""
        first, *others = self.evaluations
        return tuple(Comparison(first.ranking, other.ranking) for other in others)

    @cached_property
    def reliabilities(self) -> tuple[dict[str, Any], ...]:
        """Reliability of the conditional probabilities of every run, as `Run.reliability`."""
        return tuple(run.reliability(self.split) for run in self.runs)

    @cached_property
    def missing(self) -> tuple["pl.DataFrame", ...]:
        """Most probable missing facts of every run, as `Run.discover`.

        Raises:
            KgflowError: the graph has more than `MAX_SCORES` possible facts.
        """
        data = self.data
        if len(data.relations) * len(data.entities) ** 2 > MAX_SCORES:
            raise KgflowError(
                f"{data.name} is too large to look for missing facts in a report: "
                "use kgflow discover"
            )
        symmetry = {r.name: r.symmetry for r in self.statistics.by_relation}
        found = (run.discover(2 * MISSING) for run in self.runs)
        return tuple(without_reverse(rows, symmetry).head(MISSING) for rows in found)

    def relation_names(self, evaluation: Evaluation) -> NDArray[np.str_]:
        """Return the relation of each ranked query, ``(N,)``."""
        ranking = evaluation.ranking
        return np.array(self.data.relations.names)[ranking.r % ranking.relations]

    def relation_categories(self, evaluation: Evaluation) -> NDArray[np.str_]:
        """Return the category of each ranked query's relation: 1-1, 1-N, N-1 or N-N, ``(N,)``."""
        category = {r.name: r.category for r in self.statistics.by_relation}
        return np.array([category[name] for name in self.relation_names(evaluation)])

    def columns(self, *columns: str) -> tuple[str, ...]:
        """Return column headers, the first one for the run where there are several."""
        return ("run", *columns) if self.several else columns

    def row(self, run: str, cells: Cells) -> list[Any]:
        """Return a table row, with the name of the run where there are several."""
        return [run, *cells] if self.several else [*cells]


def contents_or_reason(make: Callable[..., Iterable[Content]], *arguments: object) -> list[Content]:
    """Return contents, or a paragraph with the reason why they do not exist."""
    try:
        return list(make(*arguments))
    except KgflowError as error:
        return [Paragraph(f"{error}.")]


def each_run(context: ReportContext, make: Callable[[ReportContext, int], Content]) -> SideBySide:
    """Return the contents of all runs, or the reasons why they do not exist, side by side."""
    runs = range(len(context.runs))
    parts = [contents_or_reason(lambda i: [make(context, i)], i) for i in runs]
    return SideBySide([content for part in parts for content in part])


class Section(ABC):
    """Section of a report.

    A new section is a class in a module of the folder ``sections`` with the decorator `register`;
    `order` determines its position. A `KgflowError` is shown as a paragraph.

    Example:
        >>> class Size(Section):
        ...     id, title, order = "size", "Size", 95
        ...     def contents(self, context):
        ...         yield Paragraph(f"{len(context.data.entities)} entities.")
    """

    id: ClassVar[str]
    title: ClassVar[str]
    order: ClassVar[int]

    def applies_to(self, context: ReportContext) -> bool:
        """Return whether the report has this section."""
        return True

    @abstractmethod
    def contents(self, context: ReportContext) -> Iterator[Content]:
        """Yield the contents in order."""


_REGISTERED: dict[str, Section] = {}
S = TypeVar("S", bound=Section)


def register(section: type[S]) -> type[S]:
    """Add a section to all reports (decorator)."""
    _REGISTERED[section.id] = section()
    return section


def registered_sections() -> tuple[Section, ...]:
    """Return all registered sections by their `order`."""
    return tuple(sorted(_REGISTERED.values(), key=lambda section: section.order))


def plots_with_table(plots: Sequence[Content], table: Table) -> Iterator[Content]:
    """Yield a table beside a single plot, or below several."""
    if len(plots) == 1:
        yield SideBySide([*plots, table])
    else:
        yield SideBySide(plots)
        yield table
