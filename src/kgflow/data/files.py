"""Files of triples, labels and types: formats, decompression, and text rows with line numbers."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from kgflow.errors import KgflowError

SEPARATORS = {".tsv": "\t", ".txt": "\t", ".csv": ","}
RDF = (".nt", ".nq", ".ttl", ".trig", ".rdf", ".owl", ".jsonld")
JSON_LINES = (".json", ".jsonl")
SUFFIXES = (*SEPARATORS, *RDF, *JSON_LINES, ".parquet")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

NumberedRow = tuple[int, list[str]]
"""Line number and cells of a row."""


def file_format(path: Path) -> str:
    """Return the suffix that determines the format of a file, without .gz.

    Example:
        >>> file_format(Path("facts.tsv.gz")), file_format(Path("facts.parquet"))
        ('.tsv', '.parquet')
    """
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix not in SUFFIXES or (suffix == ".parquet" and path.suffix.lower() == ".gz"):
        raise KgflowError(
            f"{path}: unknown file format {path.suffix!r}: give one of {', '.join(SUFFIXES)}, "
            "text formats also with .gz"
        )
    return suffix


def is_store(path: Path) -> bool:
    """Return whether a directory is that of an Oxigraph store, which RocksDB writes."""
    return (path / "CURRENT").is_file() and any(path.glob("MANIFEST-*"))


def find_file(directory: Path, *stems: str) -> Path | None:
    """Return the only file with one of these stems, such as train, and a known suffix, if any."""
    known = {stem + suffix + gz for stem in stems for suffix in SUFFIXES for gz in ("", ".gz")}
    found = sorted(p for p in directory.iterdir() if p.name.lower() in known)
    if len(found) > 1:
        raise KgflowError(
            f"{directory}: contains both {found[0].name} and {found[1].name}: keep one of them"
        )
    return found[0] if found else None


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends in .gz."""
    require_readable(path)
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            return file.read()
    except EOFError:
        raise KgflowError(f"{path}: the gzip data are truncated: copy the file again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise KgflowError(
            f"{path}: not gzip data ({error}): rename the file without .gz or copy it again"
        ) from None


def read_text(path: Path) -> bytes:
    """Return the content of a text file, still encoded, without a byte order mark."""
    return read_bytes(path).removeprefix(BYTE_ORDER_MARK)


def require_readable(path: Path) -> None:
    """Raise KgflowError if a path is not a readable file."""
    if not path.exists():
        raise KgflowError(f"{path}: no such file: check the path")
    if not path.is_file():
        raise KgflowError(f"{path}: not a file: give the path of a file")
    try:
        path.open("rb").close()
    except PermissionError:
        raise KgflowError(f"{path}: no read permission: change it or copy the file") from None


def text_rows(path: Path, content: bytes) -> Iterator[NumberedRow]:
    r"""Yield line number and cells of every row of a text file that is not blank.

    In CSV, quotes may enclose a cell; in tab-separated files they are ordinary characters.
    Empty cells at the end of a row are dropped.

    Example:
        >>> list(text_rows(Path("facts.tsv"), b'a\t"b"\tc\r\n\r\nd\te\tf\t'))
        [(1, ['a', '"b"', 'c']), (3, ['d', 'e', 'f'])]
    """
    separator = SEPARATORS[file_format(path)]
    lines = _lines(path, content)
    rows = _csv_rows(path, lines) if separator == "," else _plain_rows(lines, separator)
    for number, cells in rows:
        while len(cells) > 1 and not cells[-1]:
            cells.pop()
        if len(cells) > 1 or cells[0].strip():
            yield number, cells


def read_labels(path: Path) -> dict[str, str]:
    """Read the label of each entity from rows of entity and label; the first one counts."""
    labels: dict[str, str] = {}
    for name, label in _two_columns(path, "label"):
        labels.setdefault(name, label)
    return labels


def read_types(path: Path) -> dict[str, tuple[str, ...]]:
    """Read the types of each entity from rows of entity and type, in file order."""
    types: dict[str, dict[str, None]] = {}
    for name, type_ in _two_columns(path, "type"):
        types.setdefault(name, {})[type_] = None
    return {name: tuple(found) for name, found in types.items()}


def _two_columns(path: Path, what: str) -> Iterator[tuple[str, str]]:
    if file_format(path) not in SEPARATORS:
        raise KgflowError(f"{path}: {what}s are read from .tsv, .txt or .csv files: convert it")
    for line, cells in text_rows(path, read_text(path)):
        if len(cells) != 2 or not cells[0]:
            raise KgflowError(
                f"{path}:{line}: an entity and its {what} are needed, in 2 columns: "
                f"correct the row {', '.join(map(repr, cells))}"
            )
        yield cells[0], cells[1]


def _lines(path: Path, content: bytes) -> Iterator[str]:
    for number, line in enumerate(io.BytesIO(content), start=1):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise KgflowError(
                f"{path}:{number}: byte 0x{line[error.start]:02x} at position {error.start + 1} "
                "of the line is not UTF-8: save the file as UTF-8"
            ) from None


def _plain_rows(lines: Iterator[str], separator: str) -> Iterator[NumberedRow]:
    for number, line in enumerate(lines, start=1):
        yield number, line.removesuffix("\n").removesuffix("\r").split(separator)


def _csv_rows(path: Path, lines: Iterator[str]) -> Iterator[NumberedRow]:
    reader, number = csv.reader(lines, strict=True), 1
    try:
        for cells in reader:
            yield number, cells or [""]
            number = reader.line_num + 1
    except csv.Error as error:
        raise KgflowError(
            f"{path}:{number}: {error}: enclose a cell in quotes, and double the quotes inside it"
        ) from None
