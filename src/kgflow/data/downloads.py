"""Download of data sets whose archives have a known checksum."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO

from kgflow.data import catalog
from kgflow.data.catalog import CatalogEntry
from kgflow.errors import KgflowError
from kgflow.io import atomic_directory

CHUNK = 1 << 16
MAX_ARCHIVE_BYTES = 64 << 20
MAX_MEMBER_BYTES = 512 << 20
SPLIT_FILES = ("train.txt", "valid.txt", "test.txt")


def download(name: str, progress: Callable[[int], None] | None = None) -> Path:
    """Download a data set of the catalogue to the cache directory, unless it is there already.

    Args:
        name: name of the data set.
        progress: callback with the number of bytes received so far.
    """
    target = catalog.cache_directory() / name
    entry = catalog.entry(name)
    return target if target.is_dir() else fetch(entry, target, progress)


def fetch(entry: CatalogEntry, target: Path, progress: Callable[[int], None] | None = None) -> Path:
    """Download, verify and unpack an archive; a failure leaves no files behind."""
    if entry.archive is None or entry.blob is None:
        raise KgflowError(
            f"{entry.name} has no address with a known checksum to download from: "
            f"put its train, valid and test files in {target}"
        )
    with tempfile.TemporaryFile() as file:
        _download(entry.archive, file, progress)
        if blob_id(file) != entry.blob:
            raise KgflowError(
                f"{entry.archive}: the checksum differs from the known one: try again, or get "
                f"{entry.name} elsewhere"
            )
        with atomic_directory(target) as temporary:
            unpack(file, temporary, entry.archive)
    return target


def _download(address: str, file: IO[bytes], progress: Callable[[int], None] | None) -> None:
    import urllib.request

    received = 0
    try:
        with urllib.request.urlopen(address, timeout=30) as response:
            while chunk := response.read(CHUNK):
                received += len(chunk)
                if received > MAX_ARCHIVE_BYTES:
                    raise KgflowError(
                        f"{address}: more than {MAX_ARCHIVE_BYTES:,} bytes: get the files elsewhere"
                    )
                file.write(chunk)
                if progress:
                    progress(received)
    except OSError as error:
        raise KgflowError(f"{address}: download failed ({error}): try again later") from None


def blob_id(file: IO[bytes]) -> str:
    """Return the git blob id of a file: SHA-1 of "blob", its size, a zero byte and its content.

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
    """Extract train.txt, valid.txt and test.txt, unless a member of the archive is unsafe."""
    file.seek(0)
    try:
        with tarfile.open(fileobj=file, mode="r:gz") as archive:
            members = archive.getmembers()
            for member in members:
                _require_safe(member, name)
            for member in members:
                _extract(archive, member, directory)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise KgflowError(f"{name}: not a valid archive ({error}): nothing was unpacked") from None
    missing = [split for split in SPLIT_FILES if not (directory / split).exists()]
    if missing:
        raise KgflowError(f"{name}: no {missing[0]} in the archive: nothing was unpacked")


def _require_safe(member: tarfile.TarInfo, name: str) -> None:
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
        raise KgflowError(f"{name}: unsafe member {member.name!r}: nothing was unpacked")
    if member.size > MAX_MEMBER_BYTES:
        raise KgflowError(f"{name}: member {member.name!r} is too large: nothing was unpacked")


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, directory: Path) -> None:
    base = PurePosixPath(member.name).name
    content = archive.extractfile(member) if base in SPLIT_FILES else None
    if content is not None:
        with (directory / base).open("xb") as out:
            shutil.copyfileobj(content, out)
