"""kgflow train."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperOption

from kgflow.cli.options import (
    DATA_HELP,
    Device,
    FileOptions,
    Json,
    open_data,
    option,
    option_groups,
    parse_setting,
)
from kgflow.cli.output import print_note
from kgflow.cli.training_output import show_plan, show_training, summary
from kgflow.config import ModelSettings, expand, merge, read_toml
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.runs.start import Plan
    from kgflow.training import Callback

FLAGS = {
    "model": "model.name",
    "dim": "model.dim",
    "epochs": "training.epochs",
    "batch_size": "training.batch_size",
    "lr": "training.optimizer.lr",
    "seed": "seed",
}
"""Settings that have a flag of their own."""


class TrainCommand(TyperCommand):
    """A command that takes the help of its flags from the settings and the presets."""

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Fill in the descriptions and defaults of settings, and the presets."""
        from kgflow.config import PRESETS, entries

        found = {entry.key: entry for entry in reversed(list(entries()))}
        for parameter in self.params:
            entry = found.get(FLAGS.get(str(parameter.name), ""))
            if entry is not None and isinstance(parameter, TyperOption):
                default = entry.default if entry.key == "seed" else "by the preset"
                parameter.help = f"{entry.description} Default: {default}."
            elif parameter.name == "preset" and isinstance(parameter, TyperOption):
                found_presets = " ".join(f"{name}: {text}" for name, text in PRESETS.items())
                parameter.help = (
                    f"Complete settings; other flags change single ones. {found_presets}"
                )
        super().format_help(ctx, formatter)


@dataclass(frozen=True)
class SettingOptions:
    """Settings of the experiment; help of the flags is that of the settings."""

    panel: ClassVar[str] = "Settings"

    preset: str | None = option(None)
    time_limit: str | None = option(
        None,
        "Time for everything, such as 10m: several recipes compete by their validation MRR, and"
        " the best gets the remaining time.",
    )
    config: Path | None = option(None, "Experiment file (TOML); flags override it.")
    model: str | None = option(None)
    dim: int | None = option(None)
    epochs: int | None = option(None)
    batch_size: int | None = option(None)
    lr: float | None = option(None)
    seed: int | None = option(None)
    set: list[str] | None = option(
        None, "Any other setting (repeatable); `kgflow settings` lists all.", metavar="KEY=VALUE"
    )

    def values(self, data: str | None) -> dict[str, Any]:
        """Return the nested settings of the file, changed by the flags."""
        if data is None and self.config is None:
            raise KgflowError("give DATA to train on, --config FILE, or --resume RUN")
        given = _given(self)
        changes = dict(map(parse_setting, self.set or ()))
        changes |= {key: given[flag] for flag, key in FLAGS.items() if flag in given}
        changes |= {} if data is None else {"data": data}
        if self.config is None:
            return expand(changes)
        found = merge(read_toml(self.config), expand(changes))
        # A file is a complete experiment: what it leaves out has the defaults of its model.
        default = {} if self.preset else {"model": {"name": ModelSettings().name}}
        return merge(default, found)

    @property
    def source(self) -> str:
        """Where the settings come from, for error messages."""
        return "command line" if self.config is None else str(self.config)


@dataclass(frozen=True)
class OutputOptions:
    """Directory of the run."""

    panel: ClassVar[str] = "Output"

    out: Path | None = option(None, "Run directory. Default: runs/DATA-MODEL-DATE.")
    force: bool = option(False, "Replace an existing run.")
    track: list[str] | None = option(
        None,
        "Tracker: tensorboard, mlflow or wandb, if need be with =DIRECTORY, =URI or =PROJECT"
        " (repeatable).",
        metavar="NAME[=PLACE]",
    )

    def callbacks(self) -> list["Callback"]:
        """Return the trackers."""
        from kgflow.training import make_tracker

        return [make_tracker(text) for text in self.track or ()]


@option_groups
def train(
    settings: SettingOptions,
    files: FileOptions,
    output: OutputOptions,
    data: Annotated[str | None, typer.Argument(metavar="DATA", help=DATA_HELP)] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Resume an interrupted run from its last checkpoint."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the settings, time and memory; train nothing.")
    ] = False,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Train a model, keep its best epoch, evaluate it and calibrate its probabilities.

    Without a model, the preset auto chooses the settings by the size and density of the graph.

    Example: kgflow train facts.csv --columns subject,predicate,object --time-limit 10m
    """
    from kgflow.cli.progress import ProgressBar, stop_signals

    began = time.monotonic()
    if resume is not None:
        given = {"DATA": data, "dry_run": dry_run or None}
        _check_resume(given | _given(settings) | _given(files) | _given(output))
        from kgflow.runs.start import resume as continue_run

        with stop_signals() as requested, ProgressBar() as bar:
            callbacks = [bar, *output.callbacks()]
            run = continue_run(resume, device, callbacks, lambda: bool(requested))
        show_training(run, json)
        return
    plan = _plan(settings, files, output, data, device)
    if dry_run:
        show_plan(plan, json)
        return
    print_note(f"note: {summary(plan)}")
    with stop_signals() as requested, ProgressBar() as bar:
        run = plan.start(
            output.out,
            output.force,
            device,
            [bar, *output.callbacks()],
            lambda: bool(requested),
            began,
        )
    show_training(run, json)


def _plan(
    settings: SettingOptions,
    files: FileOptions,
    output: OutputOptions,
    data: str | None,
    device: str,
) -> "Plan":
    """Load the data, and choose the settings; what is wrong with them is found before."""
    values, preset = settings.values(data), settings.preset
    if "data" not in values:
        raise KgflowError(f"{settings.source}: 'data' is missing")
    if values.get("model") and preset is None:
        from kgflow.runs.build import complete

        complete(values, settings.source)
    if output.out is not None:
        from kgflow.runs.store import check_free

        check_free(output.out, output.force)
    limit = None
    if settings.time_limit is not None:
        from kgflow.runs.start import seconds_of

        limit = seconds_of(settings.time_limit)
    triples = open_data(str(values["data"]), files)
    from kgflow.runs.start import plan

    return plan(values, triples, preset, limit, device, settings.source)


def _given(options: SettingOptions | FileOptions | OutputOptions) -> dict[str, Any]:
    """Return the options that were given, by name."""
    return {k: v for k, v in asdict(options).items() if v is not None and v is not False}


def _check_resume(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value is not None and name != "track":
            flag = name if name == "DATA" else f"--{name.replace('_', '-')}"
            raise KgflowError(f"{flag} cannot be combined with --resume: a run keeps its settings")
