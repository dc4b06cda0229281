"""Downloads of the data sets whose archives are pinned by a checksum."""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO

from kgflow.data import catalog
from kgflow.data.catalog import Entry
from kgflow.errors import KgflowError
from kgflow.io import atomic_directory

CHUNK = 1 << 16
LARGEST_ARCHIVE = 64 << 20
LARGEST_MEMBER = 512 << 20
WANTED = ("train.txt", "valid.txt", "test.txt")


def download(name: str, progress: Callable[[int], None] | None = None) -> Path:
    """Fetch a data set of the catalogue into the cache directory, unless it is there.

    `progress`, if given, is called with the number of bytes received so far.
    """
    target = catalog.cache_directory() / name
    entry = catalog.entry(name)
    return target if target.is_dir() else fetch(entry, target, progress)


def fetch(entry: Entry, target: Path, progress: Callable[[int], None] | None = None) -> Path:
    """Fetch, verify and unpack an archive; on any failure nothing is left behind."""
    if entry.archive is None or entry.blob is None:
        raise KgflowError(
            f"{entry.name} has no pinned address to download from: "
            f"put its train, valid and test files in {target}"
        )
    with tempfile.TemporaryFile() as file:
        _receive(entry.archive, file, progress)
        if blob_id(file) != entry.blob:
            raise KgflowError(
                f"{entry.archive}: the checksum is not the pinned one: try again, or get "
                f"{entry.name} elsewhere"
            )
        with atomic_directory(target) as scratch:
            unpack(file, scratch, entry.archive)
    return target


def _receive(address: str, file: IO[bytes], progress: Callable[[int], None] | None) -> None:
    import urllib.request

    received = 0
    try:
        with urllib.request.urlopen(address, timeout=30) as response:
            while chunk := response.read(CHUNK):
                received += len(chunk)
                if received > LARGEST_ARCHIVE:
                    raise KgflowError(
                        f"{address}: more than {LARGEST_ARCHIVE:,} bytes: not fetched"
                    )
                file.write(chunk)
                if progress:
                    progress(received)
    except OSError as error:
        raise KgflowError(f"{address}: download failed ({error}): try again later") from None


def blob_id(file: IO[bytes]) -> str:
    """The git blob id of a file's content: sha1 of "blob", its size, a zero byte and itself.

    Example:
        >>> import io
        >>> blob_id(io.BytesIO(b""))
        'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    size = file.seek(0, 2)
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    file.seek(0)
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def unpack(file: IO[bytes], directory: Path, name: str) -> None:
    """Take train.txt, valid.txt and test.txt out of an archive with no unsafe member."""
    file.seek(0)
    try:
        with tarfile.open(fileobj=file, mode="r:gz") as archive:
            members = archive.getmembers()
            for member in members:
                _check(member, name)
            for member in members:
                _take(archive, member, directory)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise KgflowError(f"{name}: not a good archive ({error}): nothing was unpacked") from None
    missing = [wanted for wanted in WANTED if not (directory / wanted).exists()]
    if missing:
        raise KgflowError(f"{name}: no {missing[0]} in the archive: nothing was unpacked")


def _check(member: tarfile.TarInfo, name: str) -> None:
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
        raise KgflowError(f"{name}: unsafe member {member.name!r}: nothing was unpacked")
    if member.size > LARGEST_MEMBER:
        raise KgflowError(f"{name}: member {member.name!r} is too large: nothing was unpacked")


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, directory: Path) -> None:
    base = PurePosixPath(member.name).name
    content = archive.extractfile(member) if base in WANTED else None
    if content is not None:
        with (directory / base).open("xb") as out:
            while chunk := content.read(CHUNK):
                out.write(chunk)
