"""Arrays of numpy."""

from pathlib import Path

import numpy as np

from kgflow.export.format import FileFormat, names, parts
from kgflow.runs.run import Run


class Npz(FileFormat):
    """One .npz without pickle: entity.names, relation.names, and entity.mu and so on."""

    name = "npz"
    about = "arrays of numpy, rows as trained"

    def fill(self, run: Run, file: Path) -> None:
        """Names and parts of both tables."""
        arrays = {
            f"{kind}.{part}": rows
            for kind in ("entity", "relation")
            for part, rows in parts(run, kind).items()
        }
        told = {f"{kind}.names": np.array(names(run, kind)) for kind in ("entity", "relation")}
        with file.open("wb") as out:
            np.savez(out, allow_pickle=False, **told, **arrays)
