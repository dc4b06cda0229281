"""Experiments that make one page."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from kgflow.errors import KgflowError
from kgflow.provenance import provenance
from kgflow.reproduction import Plan, Result
from kgflow.studies.options import Options

DEFAULT = Options()


class Shown(NamedTuple):
    """What came out: for people, as Markdown, and for programs."""

    text: str
    found: dict[str, Any]


class Study(ABC):
    """Which experiments to run, and what to show of them.

    Args:
        directory: where the runs are.
        pictures: where pictures go.
        options: the scale and the seeds, of a study that varies them.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    """What the page shows; its first words go on a sentence."""
    varies: ClassVar[bool] = False
    """Whether it has other scales and more seeds than one."""

    def __init__(self, directory: Path, pictures: Path, options: Options = DEFAULT) -> None:
        if options != DEFAULT and not self.varies:
            raise KgflowError(
                f"{self.name} has one scale and one seed: leave --scale and --seeds out"
            )
        self.directory, self.pictures, self.options = directory, pictures, options

    @abstractmethod
    def plans(self, models: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """The experiments, only of these models and data where some are named."""

    @abstractmethod
    def show(self, results: Sequence[Result]) -> Shown:
        """Measure the runs that were not skipped, and tell."""

    def page(self, shown: Shown, results: Sequence[Result]) -> str:
        """A whole page: what it is, what came out, by which commands, when and where."""
        commands = [r.plan.command for r in results if not r.skipped]
        trained = "\n".join(f"    {command}" for command in commands)
        printed = f"Printed by `kgflow reproduce {self.name}{self.options.words}`"
        head = f"# {self.title}\n\n{printed}: {self.about}"
        return f"{head}\n\n{shown.text}\n\nTrained by\n\n{trained}\n\n{provenance()}\n"


def rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Results as JSON has them."""
    from dataclasses import asdict

    return [asdict(result) | {"command": result.plan.command} for result in results]
