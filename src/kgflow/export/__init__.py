"""Export of a run's embeddings, key vectors and predicted triples to formats of other programs."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from pydantic import ValidationError

from kgflow.errors import KgflowError, suggest
from kgflow.export.base import FORMATS, DirectoryFormat, ExportFormat, FileFormat
from kgflow.runs.run import Run

__all__ = ["FORMATS", "DirectoryFormat", "ExportFormat", "FileFormat", "export", "make_format"]

for _module in iter_modules(__path__):  # each module registers its formats
    import_module(f"{__name__}.{_module.name}")


def export(run: Run, format: str, out: str | Path, **options: Any) -> Path | str:  # noqa: A002, ANN401
    """Write a run in an export format, completely or not at all, and return the place.

    Args:
        run: run to export.
        format: name of an export format, a key of `FORMATS`.
        out: file, or for some formats a new or empty directory, or the address of an endpoint.
        options: options of that format, such as ``k`` of "ntriples".
    """
    return make_format(format, **options).write(run, out)


def make_format(name: str, **options: Any) -> ExportFormat:  # noqa: ANN401
    """Return the export format of that name with these options.

    Example:
        >>> make_format("ntriples", k="5").k
        5
    """
    if name not in FORMATS:
        known = ", ".join(sorted(FORMATS))
        raise KgflowError(f"unknown format '{name}'{suggest(name, FORMATS)}: use one of {known}")
    try:
        return FORMATS[name](**options)
    except ValidationError as error:
        first, known = error.errors()[0], ", ".join(FORMATS[name].model_fields) or "none"
        option = ".".join(map(str, first["loc"]))
        raise KgflowError(
            f"format {name}, option '{option}': {first['msg'].lower()}; its options are: {known}"
        ) from None
