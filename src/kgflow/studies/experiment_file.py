"""An experiment in a file, and what it says of itself."""

from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from kgflow.config import Experiment, read
from kgflow.runs.training import settle


@dataclass(frozen=True)
class ExperimentFile:
    r"""A file as `kgflow train --config` takes it.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "mine.toml"
        >>> _ = path.write_text("# NFE-1 with x0 at its\n# usual.\ndata = 'umls'\n")
        >>> ExperimentFile(path).description
        'NFE-1 with x0 at its usual'
        >>> ExperimentFile(path).settled(seed=3)["training"]["seed"]
        3
    """

    path: Path

    @cached_property
    def experiment(self) -> Experiment:
        """What it holds."""
        return read(Experiment, self.path)

    @property
    def description(self) -> str:
        """Its first comment, up to a line that is none or empty; its name, if it has no comment."""
        return comment(self.path)

    def settled(self, seed: int, dim: int | None = None) -> dict[str, Any]:
        """All settings of a run of it, as its config.toml has them."""
        values = {"model": {}, "training": {}} | self.experiment.model_dump(exclude_unset=True)
        values["training"] = values["training"] | {"seed": seed}
        values["model"] = values["model"] | ({} if dim is None else {"dim": dim})
        return settle(values, str(self.path)).model_dump()


def comment(path: Path) -> str:
    """The first comment of a file, up to a line that is none or empty; its name, if it has none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = takewhile(lambda line: line.startswith("#") and line.strip("# "), lines)
    return " ".join(line.strip("# ") for line in found).removesuffix(".") or path.stem
