"""Content of report sections as HTML: paragraphs, tables and plots."""

import math
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from kgflow.analysis.plots.style import new_figure, to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cells = Sequence[Any]
"""Values of one table row."""


class Content(ABC):
    """Part of a section."""

    @abstractmethod
    def html(self) -> str:
        """Return the content as HTML."""


@dataclass(frozen=True)
class Heading(Content):
    """Heading within a section."""

    text: str

    def html(self) -> str:
        return tag("h3", escape(self.text))


@dataclass(frozen=True)
class Paragraph(Content):
    """Paragraph of text."""

    text: str

    def html(self) -> str:
        return tag("p", escape(self.text))


@dataclass(frozen=True)
class DescriptionList(Content):
    """Names with values.

    Args:
        items: pairs of name and value.
        large: whether to show each value in large type in a box of its own.
    """

    items: Sequence[tuple[str, Any]]
    large: bool = False

    def html(self) -> str:
        pairs = (
            tag("div", tag("dt", escape(name)) + tag("dd", escape(format_value(value))))
            for name, value in self.items
        )
        return tag("dl", "".join(pairs), class_="key-numbers" if self.large else "properties")


@dataclass(frozen=True)
class Table(Content):
    """Table with numbers aligned right and text aligned left; the first cell is the row header.

    Args:
        caption: description of the table.
        columns: column headers.
        rows: rows, with one value per column.
        collapsed: whether the table is shown only on click.
        max_width: largest number of characters in a cell; longer text is shortened.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Cells]
    collapsed: bool = False
    max_width: int = 48

    def html(self) -> str:
        columns = list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.columns)
        classes = [{"class_": "n"} if all(map(_is_number, c)) else {} for c in columns]
        headers = zip(self.columns, classes, strict=True)
        header = "".join(tag("th", escape(name), scope="col", **c) for name, c in headers)
        body = "\n".join(tag("tr", self._cells(row, classes)) for row in self.rows)
        inner = tag("thead", tag("tr", header)) + tag("tbody", body)
        # Wide tables scroll on their own, also by keyboard; the page and the caption do not.
        table = tag("table", inner, **{"aria-label": self.caption})
        scrolled = tag("div", table, class_="scroll", tabindex="0", role="region") + "\n"
        if self.collapsed:
            return tag("details", tag("summary", escape(self.caption)) + scrolled)
        return tag("figure", tag("figcaption", escape(self.caption)) + scrolled)

    def _cells(self, row: Cells, classes: Sequence[dict[str, str]]) -> str:
        cells = []
        for i, (value, attributes) in enumerate(zip(row, classes, strict=True)):
            text = format_value(value)
            title = {"title": text} if len(text) > self.max_width else {}
            header = {} if i else {"scope": "row"}
            content = escape(shorten(text, self.max_width))
            cells.append(tag("td" if i else "th", content, **header, **attributes, **title))
        return "".join(cells)


def _is_number(cell: Any) -> bool:  # noqa: ANN401
    if isinstance(cell, str):
        number = r"[+−]?[\d.,]+"
        return bool(re.fullmatch(rf"(< )?{number}( to {number})?( ?%)?|−∞|–", cell))
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


@dataclass(frozen=True)
class Plot(Content):
    """Plot, as SVG within the page and as a PNG file.

    Args:
        name: name of the PNG file without extension; unique in a report.
        alt: text alternative.
        caption: description of the plot.
        svg: SVG element.
        png: bytes of the PNG file.
    """

    name: str
    alt: str
    caption: str
    svg: str
    png: bytes

    @classmethod
    def draw(
        cls,
        name: str,
        alt: str,
        caption: str,
        draw: Callable[["Figure"], object],
        size: tuple[float, float] = (5.6, 3.5),
        title: str | None = None,
    ) -> "Plot":
        """Draw into an empty figure with a size in inches, and set the title of its first axes."""
        with new_figure(*size) as figure, warnings.catch_warnings():
            # Characters missing in the PNG's font are drawn as boxes; the page has other fonts.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            draw(figure)
            if title is not None:
                figure.axes[0].set_title(title)
            png = BytesIO()
            figure.savefig(png, format="png", metadata={"Software": None})
            # The page defines the background of the SVG.
            for patch in (figure.patch, *(axes.patch for axes in figure.axes)):
                patch.set_visible(False)
            return cls(name, alt, caption, _unique_ids(to_svg(figure), name), png.getvalue())

    def html(self) -> str:
        label = escape(self.alt)
        svg = self.svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        return tag("figure", svg + tag("figcaption", escape(self.caption)))


def _unique_ids(svg: str, name: str) -> str:
    """Prefix all ids of an SVG with the plot's name, so that several can be in one page."""
    reference = re.compile(r'(\sid="|url\(#|href="#)')
    return re.sub(r"<[^>]+>", lambda found: reference.sub(rf"\g<1>{name}-", found[0]), svg)


@dataclass(frozen=True)
class SideBySide(Content):
    """Contents in columns on wide screens."""

    contents: Sequence[Content]

    def html(self) -> str:
        cells = "".join(tag("div", content.html()) for content in self.contents)
        return tag("div", cells, class_="side-by-side")


def all_plots(contents: Sequence[Content]) -> list[Plot]:
    """Return all plots, including those side by side."""
    found: list[Plot] = []
    for content in contents:
        if isinstance(content, Plot):
            found.append(content)
        elif isinstance(content, SideBySide):
            found += all_plots(content.contents)
    return found


def shorten(text: str, width: int) -> str:
    """Shorten a name to at most `width` characters by leaving out its middle.

    Example:
        >>> shorten("/film/film/release_date_s./film/film_regional_release_date", 30)
        '/film/film/r…onal_release_date'
    """
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    start = (width - 1) * 4 // 9
    return f"{text[:start]}…{text[len(text) - (width - 1 - start) :]}"


def format_value(value: Any) -> str:  # noqa: ANN401
    """Format a value for people.

    Example:
        >>> [format_value(x) for x in (0.81234, 1234.5, 72441, None, float("nan"))]
        ['0.812', '1,234.5', '72,441', '–', '–']
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3f}"
    return str(value)


def format_signed(value: float) -> str:
    """Format a difference with its sign.

    Example:
        >>> format_signed(0.0123), format_signed(-0.5), format_signed(0.0)
        ('+0.012', '−0.500', '0.000')
    """
    text = f"{abs(value):.3f}"
    sign = "" if float(text) == 0 else "−" if value < 0 else "+"
    return sign + text


def tag(name: str, content: str, **attributes: str) -> str:
    """Return an HTML element; the content is HTML, attributes are text.

    Example:
        >>> tag("p", escape("a < b"), id='"x"')
        '<p id="&quot;x&quot;">a &lt; b</p>'
    """
    pairs = "".join(f' {k.rstrip("_")}="{escape(v)}"' for k, v in attributes.items())
    return f"<{name}{pairs}>{content}</{name}>"
