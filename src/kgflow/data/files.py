"""Files of triples on disk: their kinds and their bytes."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from kgflow.errors import KgflowError

SEPARATORS = {".tsv": "\t", ".txt": "\t", ".csv": ","}
RDF = (".nt", ".ttl")
SUFFIXES = (*SEPARATORS, *RDF, ".parquet")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def kind(path: Path) -> str:
    """The suffix that says how to read a file, without .gz.

    Example:
        >>> kind(Path("facts.tsv.gz")), kind(Path("facts.parquet"))
        ('.tsv', '.parquet')
    """
    lowered = path.name.lower().removesuffix(".gz")
    suffix = Path(lowered).suffix
    if suffix not in SUFFIXES or (suffix == ".parquet" and path.suffix.lower() == ".gz"):
        raise KgflowError(
            f"{path}: unknown kind of file {path.suffix!r}: give one of {', '.join(SUFFIXES)}, "
            "the text forms also with .gz"
        )
    return suffix


def find(directory: Path, *stems: str) -> Path | None:
    """The one file of triples or pairs with one of these stems, such as train, if any."""
    known = {stem + suffix + gz for stem in stems for suffix in SUFFIXES for gz in ("", ".gz")}
    found = sorted(p for p in directory.iterdir() if p.name.lower() in known)
    if len(found) > 1:
        raise KgflowError(
            f"{directory}: both {found[0].name} and {found[1].name} are there: keep one of them"
        )
    return found[0] if found else None


def raw(path: Path) -> bytes:
    """The bytes of a file, uncompressed when its name ends in .gz."""
    require(path)
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            return file.read()
    except EOFError:
        raise KgflowError(f"{path}: the gzip data end too early: copy the file again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise KgflowError(
            f"{path}: not gzip data ({error}): rename the file without .gz or copy it again"
        ) from None


def content(path: Path) -> bytes:
    """The text of a file as bytes, without a byte order mark."""
    return raw(path).removeprefix(BYTE_ORDER_MARK)


def require(path: Path) -> None:
    """Refuse a path that is not a file that can be read."""
    if not path.exists():
        raise KgflowError(f"{path}: no such file: check the path")
    if not path.is_file():
        raise KgflowError(f"{path}: not a file: give the path of a file")
    try:
        path.open("rb").close()
    except PermissionError:
        raise KgflowError(f"{path}: no permission to read it: change that or copy it") from None
