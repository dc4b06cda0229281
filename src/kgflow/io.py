"""Atomic writes of files and directories, JSON lines, and digests."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgflow.errors import KgflowError


def write_atomic(path: Path, content: bytes) -> None:
    """Write a file atomically: readers see the old or the new content, never a part of it.

    Example:
        >>> file = Path(tempfile.mkdtemp()) / "note.txt"
        >>> write_atomic(file, b"kept")
        >>> file.read_text()
        'kept'
    """
    if path.exists() and not path.is_file():
        path.write_bytes(content)  # a pipe or a device cannot be replaced
        return
    with atomic_file(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which is renamed to `path` if the block ends without error.

    Example:
        >>> file = Path(tempfile.mkdtemp()) / "note.txt"
        >>> with atomic_file(file) as temporary:
        ...     _ = temporary.write_text("kept")
        ...     file.exists()
        False
        >>> file.read_text()
        'kept'
    """
    path = Path(os.path.realpath(path))
    if not path.parent.is_dir() or path.is_dir():
        raise KgflowError(f"{path} cannot be written: give a file in a directory that exists")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        _sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_empty(directory: Path) -> None:
    """Raise KgflowError if a path exists and is not an empty directory."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise KgflowError(f"{directory} exists and is not empty: give another directory")


@contextmanager
def atomic_directory(directory: Path) -> Iterator[Path]:
    r"""Yield a temporary directory, which is renamed if the block ends without error.

    Example:
        >>> directory = Path(tempfile.mkdtemp()) / "mine"
        >>> with atomic_directory(directory) as temporary:
        ...     _ = (temporary / "train.tsv").write_text("a\tb\tc\n")
        ...     directory.exists()
        False
        >>> [path.name for path in directory.iterdir()]
        ['train.tsv']
    """
    check_empty(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".kgflow-") as outer:
        temporary = Path(outer) / directory.name
        temporary.mkdir()
        yield temporary
        for path in temporary.iterdir():
            _sync(path)
        temporary.replace(directory)


def read_json_lines(path: Path) -> Iterator[Any]:
    """Read a file of one JSON value per line, up to the first invalid line.

    A process that is killed while appending leaves an incomplete last line. A missing file has no
    lines.
    """
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            yield json.loads(line.decode())
        except (ValueError, RecursionError):
            return


def write_json_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    r"""Write one JSON object per line, atomically.

    Example:
        >>> file = Path(tempfile.mkdtemp()) / "history.jsonl"
        >>> write_json_lines(file, [{"epoch": 1}, {"epoch": 2}])
        >>> [record["epoch"] for record in read_json_lines(file)]
        [1, 2]
    """
    lines = (json.dumps(dict(record), ensure_ascii=False) + "\n" for record in records)
    write_atomic(path, "".join(lines).encode())


def append_json_line(path: Path, record: Mapping[str, Any]) -> None:
    """Append one JSON object as a line."""
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(dict(record), ensure_ascii=False) + "\n")


def file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
