"""kgflow train."""

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
from kgflow.cli.output import print_note, show_json
from kgflow.config import Experiment, expand, merge, read_toml
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.runs.run import Run
    from kgflow.training import Callback

FLAGS = {
    "model": "model.name",
    "dim": "model.dim",
    "epochs": "training.epochs",
    "batch_size": "training.batch_size",
    "lr": "training.optimizer.lr",
    "loss": "training.loss.name",
    "margin": "training.loss.margin",
    "seed": "seed",
}
"""Settings that have a flag of their own."""


class TrainCommand(TyperCommand):
    """A command that takes the help of its flags from the settings."""

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Fill in the descriptions and defaults of settings."""
        from kgflow.config import entries

        found = {entry.key: entry for entry in reversed(list(entries()))}
        for parameter in self.params:
            entry = found.get(FLAGS.get(str(parameter.name), ""))
            if entry is not None and isinstance(parameter, TyperOption):
                parameter.help = f"{entry.description} Default: {entry.default}."
        super().format_help(ctx, formatter)


@dataclass(frozen=True)
class SettingOptions:
    """Settings of the experiment; help of the flags is that of the settings."""

    panel: ClassVar[str] = "Settings"

    config: Path | None = option(None, "Experiment file (TOML); flags override it.")
    model: str | None = option(None)
    dim: int | None = option(None)
    epochs: int | None = option(None)
    batch_size: int | None = option(None)
    lr: float | None = option(None)
    loss: str | None = option(None)
    margin: float | None = option(None)
    seed: int | None = option(None)
    set: list[str] | None = option(
        None, "Any other setting (repeatable); `kgflow settings` lists all.", metavar="KEY=VALUE"
    )

    def experiment(self, data: str | None) -> Experiment:
        """Return the experiment of the file, changed by the flags."""
        if data is None and self.config is None:
            raise KgflowError("give DATA to train on, --config FILE, or --resume RUN")
        from kgflow.runs.build import complete

        given = _given(self)
        changes = dict(map(parse_setting, self.set or ()))
        changes |= {key: given[flag] for flag, key in FLAGS.items() if flag in given}
        changes |= {} if data is None else {"data": data}
        if self.config is None:
            return complete(expand(changes), "command line")
        return complete(merge(read_toml(self.config), expand(changes)), str(self.config))


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
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Train a model, keep its best epoch, evaluate it and calibrate its probabilities.

    Example: kgflow train world --model nfe-1 --dim 64 --set training.loss.dropout=0.2
    """
    from kgflow.cli.progress import ProgressBar, stop_signals

    if resume is not None:
        given = {"DATA": data} | _given(settings) | _given(files) | _given(output)
        _check_resume(given)
        from kgflow.runs.store import read_run
        from kgflow.runs.training import resume as continue_run

        epochs = read_run(resume)[0].training.epochs
        with stop_signals() as requested, ProgressBar(epochs) as bar:
            callbacks = [bar, *output.callbacks()]
            run = continue_run(resume, device, callbacks, lambda: bool(requested))
        _report(run, json)
        return
    experiment = settings.experiment(data)
    if output.out is not None:
        from kgflow.runs.store import check_free

        check_free(output.out, output.force)
    triples = open_data(experiment.data, files)
    from kgflow.runs.training import run_experiment

    with stop_signals() as requested, ProgressBar(experiment.training.epochs) as bar:
        run = run_experiment(
            experiment,
            triples,
            output.out,
            output.force,
            device,
            [bar, *output.callbacks()],
            lambda: bool(requested),
        )
    _report(run, json)


def _given(options: SettingOptions | FileOptions | OutputOptions) -> dict[str, Any]:
    """Return the options that were given, by name."""
    return {k: v for k, v in asdict(options).items() if v is not None and v is not False}


def _check_resume(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value is not None and name != "track":
            flag = name if name == "DATA" else f"--{name.replace('_', '-')}"
            raise KgflowError(f"{flag} cannot be combined with --resume: a run keeps its settings")


def _report(run: "Run", json: bool) -> None:
    history, metrics = run.history, run.metrics
    width = run.model.entity.weight.shape[1]
    if json:
        summary = {"run": run.directory, "model": run.config.model.model_dump()}
        summary |= {"floats_per_entity": width, "epochs": len(history)}
        summary |= {"best_epoch": run.best_epoch, "seconds": sum(r["seconds"] for r in history)}
        show_json(summary | metrics)
        return
    name, dim = run.config.model.name, run.config.model.dim
    print_note(f"{name}, dim {dim}: {width} floats per entity; best epoch {run.best_epoch}")
    if metrics:
        from kgflow.cli.evaluate import show

        show(metrics)
    print(f"run saved in {run.directory}")
