"""The rows of a text table, one by one, each with its line number."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from kgflow.data import files
from kgflow.errors import KgflowError

Row = tuple[int, list[str]]


def rows(path: Path, content: bytes) -> Iterator[Row]:
    r"""Line number and cells of every row that is not blank.

    In CSV, quotes may enclose a cell; in the tab-separated forms they are ordinary characters.
    Empty cells at the end of a row do not count.

    Example:
        >>> list(rows(Path("facts.tsv"), b'a\t"b"\tc\r\n\r\nd\te\tf\t'))
        [(1, ['a', '"b"', 'c']), (3, ['d', 'e', 'f'])]
    """
    separator = files.SEPARATORS[files.kind(path)]
    lines = _lines(path, content)
    table = _quoted(path, lines) if separator == "," else _plain(lines, separator)
    for number, cells in table:
        while len(cells) > 1 and not cells[-1]:
            cells.pop()
        if len(cells) > 1 or cells[0].strip():
            yield number, cells


def _lines(path: Path, content: bytes) -> Iterator[str]:
    for number, line in enumerate(io.BytesIO(content), start=1):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise KgflowError(
                f"{path}:{number}: byte 0x{line[error.start]:02x} at position {error.start + 1} "
                "of the line is not UTF-8: save the file as UTF-8"
            ) from None


def _plain(lines: Iterator[str], separator: str) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        yield number, line.removesuffix("\n").removesuffix("\r").split(separator)


def _quoted(path: Path, lines: Iterator[str]) -> Iterator[Row]:
    table, number = csv.reader(lines, strict=True), 1
    try:
        for cells in table:
            yield number, cells or [""]
            number = table.line_num + 1
    except csv.Error as error:
        raise KgflowError(
            f"{path}:{number}: {error}: enclose a cell in quotes, and double the quotes inside it"
        ) from None
