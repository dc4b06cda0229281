"""The small files of a finished run, kept without its weights and its data."""

from pathlib import Path

from kgflow.io import write_atomic
from kgflow.provenance import provenance
from kgflow.runs.store import CONFIG, METRICS

NOTE = "provenance.txt"
FILES = (CONFIG, "history.jsonl", METRICS)
"""Settings, epochs and metrics: all that a table of results is made of."""


def note(run: Path) -> None:
    """Write down when, from which commit and on what machine a training has come to its end."""
    write_atomic(run / NOTE, f"{provenance()}\n".encode())


def origin(run: Path) -> str | None:
    """What was noted when a run was trained, or else when it was first kept."""
    path = run / NOTE
    return path.read_text(encoding="utf-8", errors="replace").strip() if path.is_file() else None


def keep(run: Path, target: Path) -> None:
    """Copy the small files of a finished run; a run that is kept already stays as it is.

    Of a run that nobody noted the end of, it is noted when it was kept. Metrics come last, and go
    first where another run is replaced: without them a run does not count as finished, so that no
    reader takes a half for a whole.

    Example:
        >>> import kgflow, tempfile
        >>> place = Path(tempfile.mkdtemp())
        >>> _ = kgflow.train("world", dim=2, epochs=1, out=place / "run")
        >>> keep(place / "run", place / "kept")
        >>> sorted(path.name for path in (place / "kept").iterdir())
        ['config.toml', 'history.jsonl', 'metrics.json', 'provenance.txt']
    """
    found = {name: (run / name).read_bytes() for name in FILES}
    if all(_holds(target / name, content) for name, content in found.items()):
        return
    target.mkdir(parents=True, exist_ok=True)
    (target / METRICS).unlink(missing_ok=True)
    said = origin(run) or f"kept {provenance()}"
    write_atomic(target / NOTE, f"{said}\n".encode())
    for name, content in found.items():
        write_atomic(target / name, content)


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
