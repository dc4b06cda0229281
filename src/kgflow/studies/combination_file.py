"""Which runs are combined, in a file."""

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kgflow.errors import KgflowError
from kgflow.studies.experiment_file import ExperimentFile, comment


@dataclass(frozen=True)
class CombinationFile:
    """A list of runs, each an experiment of the same graph and a seed, as ``name:seed``.

    Args:
        path: ``<graph>/<name>.toml``.
        experiments: where the experiments are, ``<graph>/<name>.toml``.
    """

    path: Path
    experiments: Path

    @property
    def graph(self) -> str:
        """The name of its data."""
        return self.path.parent.name

    @property
    def description(self) -> str:
        """Its first comment."""
        return comment(self.path)

    @cached_property
    def runs(self) -> list[tuple[ExperimentFile, int]]:
        """The experiments and their seeds."""
        try:
            found = tomllib.loads(self.path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise KgflowError(f"{self.path} is not TOML: {error}") from None
        said = found.get("runs")
        if set(found) != {"runs"} or not isinstance(said, list) or len(said) < 2:
            raise KgflowError(f"{self.path} wants a list 'runs' of two or more, and nothing else")
        return [self._run(str(text)) for text in said]

    def _run(self, text: str) -> tuple[ExperimentFile, int]:
        name, _, seed = text.partition(":")
        path = self.experiments / self.graph / f"{name}.toml"
        if not seed.isdecimal() or not path.is_file():
            raise KgflowError(
                f"{self.path}: '{text}' is no run: give the name of a file in {path.parent} and a"
                " seed, as name:0"
            )
        return ExperimentFile(path), int(seed)
