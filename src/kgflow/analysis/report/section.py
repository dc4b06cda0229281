"""What a section of a report is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from kgflow.analysis.report.pieces import Note, Piece, Row, Table
from kgflow.analysis.report.subject import Subject
from kgflow.errors import KgflowError


class Section(ABC):
    """A part of the page with a heading of its own.

    A new one is a class with an id, a title and its pieces, and a place in `page.SECTIONS`. What
    cannot be said of a model it says in one sentence: a `KgflowError` becomes that sentence.

    Example:
        >>> class Size(Section):
        ...     id, title = "size", "Size"
        ...     def pieces(self, subject):
        ...         yield Note(f"{len(subject.data.entities)} entities.")
    """

    id: ClassVar[str]
    title: ClassVar[str]

    def wanted(self, subject: Subject) -> bool:
        """Whether it has a place in a report on this."""
        return True

    @abstractmethod
    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """What it holds, in order."""


def attempt(make: Callable[[], Piece]) -> Piece:
    """A piece, or the sentence why there is none."""
    try:
        return make()
    except KgflowError as error:
        return Note(f"{error}.")


def beside(pictures: Sequence[Piece], table: Table) -> Iterator[Piece]:
    """A table beside its one picture, or below several."""
    if len(pictures) == 1:
        yield Row([*pictures, table])
    else:
        yield Row(pictures)
        yield table
