"""A run's vectors and facts in the formats of others."""

from pathlib import Path

from kgflow.errors import KgflowError, suggest
from kgflow.export.faiss import FaissFolder
from kgflow.export.format import Format
from kgflow.export.npz import Npz
from kgflow.export.parquet import Parquet
from kgflow.export.projector import Projector
from kgflow.export.rdf import FactFormat, NTriples, ReifiedNTriples
from kgflow.export.word2vec import Word2Vec
from kgflow.runs.run import Run

__all__ = ["FORMATS", "FaissFolder", "Format", "NTriples", "Npz", "Parquet", "Projector",
           "ReifiedNTriples", "Word2Vec", "export"]  # fmt: skip

FORMATS: dict[str, type[Format]] = {
    kind.name: kind
    for kind in (Parquet, Npz, Word2Vec, Projector, NTriples, ReifiedNTriples, FaissFolder)
}


def export(run: Run, to: str, out: str | Path, k: int | None = None) -> Path:
    """Write a run in a format, whole or not at all.

    Args:
        run: what is exported.
        to: the name of a format.
        out: a file, or for some formats a directory that is new or empty.
        k: how many facts, for the formats that hold facts.
    """
    if to not in FORMATS:
        known = ", ".join(FORMATS)
        raise KgflowError(f"unknown format '{to}'{suggest(to, FORMATS)}: give one of {known}")
    kind = FORMATS[to]
    if k is None:
        return kind().write(run, Path(out))
    if not issubclass(kind, FactFormat):
        raise KgflowError(f"{to} holds vectors, not facts: leave out -k")
    return kind(k).write(run, Path(out))
