"""Entities as random variables."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from kgflow.analysis.plots import densities
from kgflow.analysis.report.pieces import Picture, Piece, Row
from kgflow.analysis.report.section import Section, attempt
from kgflow.analysis.report.subject import Subject

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Densities(Section):
    """The densities of some entities."""

    id, title = "densities", "Densities of entities"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """The chosen entities under every run."""
        yield Row([attempt(partial(_picture, subject, i)) for i in range(len(subject.runs))])


def _picture(subject: Subject, place: int) -> Picture:
    names = [subject.data.entities[i] for i in subject.entities]

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        densities(axes, subject.runs[place], names)
        axes.set_title(subject.names[place])

    labels = ", ".join(subject.data.label(i) for i in subject.entities)
    return Picture.of(
        f"densities-{place + 1}",
        f"Densities of {labels} in one coordinate, by {subject.names[place]}.",
        "What the model takes these entities to be, in the one coordinate that tells them apart "
        "best: a narrow bell is an entity that it is sure of, a wide one is vague.",
        draw,
    )
