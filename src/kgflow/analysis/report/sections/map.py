"""A map of the entities."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kgflow.analysis.layout import Groups, Layout, groups, layout
from kgflow.analysis.plots.map import entity_map
from kgflow.analysis.report.pieces import Picture, Piece, Row
from kgflow.analysis.report.section import Section, attempt
from kgflow.analysis.report.subject import Subject
from kgflow.analysis.report.text import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CANDIDATES = 150
"""Entities of the highest degree that may get a label."""


class Map(Section):
    """All entities in a plane."""

    id, title = "map", "Map of the entities"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """A map for each run."""
        found = groups(subject.data)
        runs = range(len(subject.runs))
        yield Row([attempt(partial(_picture, subject, i, found)) for i in runs])


def _picture(subject: Subject, place: int, found: Groups) -> Picture:
    places = layout(subject.runs[place])
    names = [shorten(name, 48) for name in found.names]
    labels = [(int(i), shorten(subject.data.label(i), 22)) for i in _worth(subject)]

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        if len(subject.runs) > 1:
            axes.set_title(subject.names[place])
        entity_map(axes, places, found, names, labels)

    return Picture.of(
        f"map-{place + 1}",
        f"Map of {len(places.place):,} entities by {places.method}, coloured by {found.what}.",
        _caption(places, found),
        draw,
        (6.2, 5.4),
    )


def _worth(subject: Subject) -> list[int]:
    frequent = np.argsort(-subject.degree, kind="stable")[:CANDIDATES].tolist()
    return list(dict.fromkeys([*subject.entities, *frequent]))


def _caption(places: Layout, found: Groups) -> str:
    distance = (
        "Distances were the model's own, Wasserstein between entities"
        if places.metric
        else "Distances were Euclidean between what entities bring to the score"
    )
    how = (
        "t-SNE keeps neighbours together, so nearness tells something and empty space does not"
        if places.explained is None
        else f"the first two principal components keep {places.explained:.0%} of the variance"
    )
    return (
        f"Every entity as a point, coloured by the first {found.what} that it has in the list. "
        f"{distance}; {how}. The axes have no unit; labels are of entities with many facts."
    )
