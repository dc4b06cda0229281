"""What a section is made of; each piece knows its HTML."""

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from kgflow.analysis.plots.style import picture, svg
from kgflow.analysis.report.text import shorten, shown, tag

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = 48
"""Letters of a name in a table."""


class Piece(ABC):
    """A part of a section."""

    @abstractmethod
    def html(self) -> str:
        """As HTML."""


@dataclass(frozen=True)
class Heading(Piece):
    """A heading within a section."""

    text: str

    def html(self) -> str:
        """As HTML."""
        return tag("h3", escape(self.text))


@dataclass(frozen=True)
class Note(Piece):
    """A paragraph."""

    text: str

    def html(self) -> str:
        """As HTML."""
        return tag("p", escape(self.text))


@dataclass(frozen=True)
class Tiles(Piece):
    """A few numbers at a glance: name and value."""

    items: Sequence[tuple[str, Any]]

    def html(self) -> str:
        """As HTML."""
        tiles = (
            tag("div", tag("dt", escape(name)) + tag("dd", escape(shown(value))))
            for name, value in self.items
        )
        return tag("dl", "".join(tiles), class_="tiles")


@dataclass(frozen=True)
class Facts(Piece):
    """Names and what they are."""

    items: Sequence[tuple[str, Any]]

    def html(self) -> str:
        """As HTML."""
        pairs = (
            tag("div", tag("dt", escape(name)) + tag("dd", escape(shown(value))))
            for name, value in self.items
        )
        return tag("dl", "".join(pairs), class_="facts")


@dataclass(frozen=True)
class Table(Piece):
    """A table; numbers stand right, words left, and the first cell of a row names it.

    Args:
        caption: what is seen, and how to read it.
        columns: their heads.
        rows: as many values each.
        folded: shown only when it is opened.
        width: letters of a cell, of which the middle is left out where there are more.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    folded: bool = False
    width: int = NAME

    def html(self) -> str:
        """As HTML."""
        kinds = ["n" if all(_is_number(c) for c in column) else "" for column in self._by_column()]
        heads = zip(self.columns, kinds, strict=True)
        head = "".join(tag("th", escape(c), scope="col", **_kind(k)) for c, k in heads)
        body = "\n".join(tag("tr", _cells(row, kinds, self.width)) for row in self.rows)
        inner = tag("thead", tag("tr", head)) + tag("tbody", body)
        # Wide tables scroll by themselves, also by keyboard; neither the page nor the caption does.
        table = tag("table", inner, **{"aria-label": self.caption})
        grid = tag("div", table, class_="scroll", tabindex="0", role="region") + "\n"
        if self.folded:
            return tag("details", tag("summary", escape(self.caption)) + grid)
        return tag("figure", tag("figcaption", escape(self.caption)) + grid)

    def _by_column(self) -> list[Sequence[Any]]:
        return list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.columns)


def _is_number(cell: Any) -> bool:  # noqa: ANN401
    if isinstance(cell, str):
        number = r"[+−]?[\d.,]+"
        return bool(re.fullmatch(rf"(< )?{number}( to {number})?( ?%)?|−∞|–", cell))
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _kind(kind: str) -> dict[str, str]:
    return {"class_": kind} if kind else {}


def _cells(row: Sequence[Any], kinds: Sequence[str], width: int) -> str:
    cells = []
    for place, (value, kind) in enumerate(zip(row, kinds, strict=True)):
        text = shown(value)
        attributes = _kind(kind) | ({"title": text} if len(text) > width else {})
        content = escape(shorten(text, width))
        name = {"scope": "row"} if not place else {}
        cells.append(tag("th" if name else "td", content, **name, **attributes))
    return "".join(cells)


@dataclass(frozen=True)
class Picture(Piece):
    """A picture, as SVG within the page and as PNG beside it.

    Args:
        name: of the PNG, without ending; unique in a report.
        alt: what it shows, for those who cannot see it.
        caption: what is seen, and how to read it.
        svg: its text.
        png: its bytes.
    """

    name: str
    alt: str
    caption: str
    svg: str
    png: bytes

    @classmethod
    def of(
        cls,
        name: str,
        alt: str,
        caption: str,
        draw: Callable[["Figure"], None],
        size: tuple[float, float] = (5.6, 3.5),
    ) -> "Picture":
        """Draw into an empty figure of so many inches."""
        with picture(*size) as figure, warnings.catch_warnings():
            # A letter that the font of the PNG lacks is a box there; the page has other fonts.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            draw(figure)
            png = BytesIO()
            figure.savefig(png, format="png", metadata={"Software": None})
            # The page has a ground of its own.
            for patch in (figure.patch, *(axes.patch for axes in figure.axes)):
                patch.set_visible(False)
            return cls(name, alt, caption, _own(svg(figure), name), png.getvalue())

    def html(self) -> str:
        """As HTML."""
        label = escape(self.alt)
        drawn = self.svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        return tag("figure", drawn + tag("figcaption", escape(self.caption)))


def _own(svg: str, name: str) -> str:
    """The same picture, its ids made its own, so that several can stand in one page."""
    mark = re.compile(r'(\sid="|url\(#|href="#)')
    return re.sub(r"<[^>]+>", lambda found: mark.sub(rf"\g<1>{name}-", found[0]), svg)


@dataclass(frozen=True)
class Row(Piece):
    """Pieces beside each other where there is room."""

    pieces: Sequence[Piece]

    def html(self) -> str:
        """As HTML."""
        cells = "".join(tag("div", piece.html()) for piece in self.pieces)
        return tag("div", cells, class_="beside")


def pictures(pieces: Sequence[Piece]) -> list[Picture]:
    """All pictures among pieces, also those in rows."""
    found: list[Picture] = []
    for piece in pieces:
        if isinstance(piece, Picture):
            found.append(piece)
        elif isinstance(piece, Row):
            found += pictures(piece.pieces)
    return found
