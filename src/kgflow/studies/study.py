"""Experiments that make one page."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from kgflow.errors import KgflowError
from kgflow.kept import origin
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
    varies: ClassVar[tuple[str, ...]] = ()
    """Which options it has a choice of: scale, seeds."""
    keeps: ClassVar[bool] = False
    """Whether small files of its runs, without weights, are enough to show them."""

    def __init__(self, directory: Path, pictures: Path, options: Options = DEFAULT) -> None:
        fixed = [name for name in ("scale", "seeds") if name not in self.varies]
        if any(getattr(options, name) != getattr(DEFAULT, name) for name in fixed):
            ones = " and ".join(f"one {name.removesuffix('s')}" for name in fixed)
            flags = " and ".join(f"--{name}" for name in fixed)
            raise KgflowError(f"{self.name} has {ones}: leave {flags} out")
        self.directory, self.pictures, self.options = directory, pictures, options

    @abstractmethod
    def plans(self, models: Sequence[str], data: Sequence[str]) -> list[Plan]:
        """The experiments, only of these models and data where some are named."""

    @abstractmethod
    def show(self, results: Sequence[Result]) -> Shown:
        """Measure the runs that were not skipped, and tell."""

    def page(self, shown: Shown, results: Sequence[Result], chosen: str = "") -> str:
        """A whole page: what it is, what came out, by which commands, when and where.

        `chosen` is what a user typed beside the options to choose models and data.
        Where numbers are those of the training, as in what can be kept, so is the provenance.
        """
        commands = folded([r.plan for r in results if not r.skipped])
        trained = "\n".join(f"    {command}" for command in commands)
        printed = f"Printed by `kgflow reproduce {self.name}{chosen}{self.options.words}`"
        head = f"# {self.title}\n\n{printed}: {self.about}"
        where = origins(results) if self.keeps else provenance()
        return f"{head}\n\n{shown.text}\n\nTrained by\n\n{trained}\n\n{where}\n"


def folded(plans: Sequence[Plan]) -> list[str]:
    """Their commands; those that differ in the model alone are told once, with MODEL in its place.

    Example:
        >>> words = [("train", "umls", "--model", name) for name in ("nfe-1", "transe")]
        >>> folded([Plan("umls", "nfe-1", words[0]), Plan("umls", "transe", words[1])])
        ['kgflow train umls --model MODEL']
        >>> folded([Plan("umls", "nfe-1", words[0])])
        ['kgflow train umls --model nfe-1']
    """
    commands: dict[str, list[str]] = {}
    for plan in plans:
        kind = plan.command.replace(f"--model {plan.model}", "--model MODEL")
        commands.setdefault(kind, []).append(plan.command)
    return [kind if len(set(same)) > 1 else same[0] for kind, same in commands.items()]


def origins(results: Sequence[Result]) -> str:
    """When, from which commit and on what machine each run comes; once, if all come from one."""
    runs: dict[str, list[str]] = {}
    for place in (result.place for result in results if result.place is not None):
        said = origin(place) or f"not noted, shown {provenance()}"
        runs.setdefault(said, []).append(f"`{place.name}`")
    if len(runs) < 2:
        return next(iter(runs), provenance())
    return "\n".join(f"- {said}: {', '.join(names)}" for said, names in runs.items())


def rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Results as JSON has them."""
    from dataclasses import asdict

    return [asdict(result) | {"command": result.plan.command} for result in results]
