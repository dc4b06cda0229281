"""kgflow train."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from kgflow.cli.output import Device, Json, print_note, show_json
from kgflow.cli.source import DATA_HELP, ColumnsText, Labels, Types, open_data
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

SETTINGS = "Settings"


class TrainCommand(TyperCommand):
    """A command that takes the help of its flags from the settings, when help is asked for."""

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Fill in the descriptions and defaults of settings."""
        from kgflow.config import entries

        found = {entry.key: entry for entry in reversed(list(entries()))}
        for parameter in self.params:
            entry = found.get(FLAGS.get(str(parameter.name), ""))
            if entry is not None and isinstance(parameter, TyperOption):
                parameter.help = f"{entry.description} Default: {entry.default}."
        super().format_help(ctx, formatter)


def _setting() -> Any:  # noqa: ANN401
    return typer.Option(rich_help_panel=SETTINGS)


def train(
    data: Annotated[str | None, typer.Argument(metavar="DATA", help=DATA_HELP)] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Experiment file (TOML); flags override it.", rich_help_panel=SETTINGS),
    ] = None,
    model: Annotated[str | None, _setting()] = None,
    dim: Annotated[int | None, _setting()] = None,
    epochs: Annotated[int | None, _setting()] = None,
    batch_size: Annotated[int | None, _setting()] = None,
    lr: Annotated[float | None, _setting()] = None,
    loss: Annotated[str | None, _setting()] = None,
    margin: Annotated[float | None, _setting()] = None,
    seed: Annotated[int | None, _setting()] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any other setting; repeatable. `kgflow settings` lists all.",
            rich_help_panel=SETTINGS,
        ),
    ] = None,
    columns: ColumnsText = None,
    labels: Labels = None,
    types: Types = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Run directory. Default: runs/<data>-<model>-<date>."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run.")] = False,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Resume an interrupted run from its last checkpoint."),
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Directory for TensorBoard event files.")
    ] = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Train a model, keep its best epoch, evaluate it and calibrate its probabilities.

    Example: kgflow train world --model nfe-1 --dim 64 --set training.loss.dropout=0.2
    """
    given = {k: v for k, v in locals().items() if v is not None and v is not False}
    if resume is not None:
        _only(given, "resume", "device", "tensorboard", "json")
        _report(_resume(resume, device, tensorboard), json)
        return
    experiment = _experiment(data, config, given)
    if out is not None:
        from kgflow.runs.store import check_free

        check_free(out, force)
    triples = open_data(experiment.data, columns, labels, types)
    from kgflow.cli.progress import ProgressBar, stop_signals
    from kgflow.runs.training import run_experiment

    with stop_signals() as asked, ProgressBar(experiment.training.epochs) as bar:
        callbacks = [bar, *_trackers(tensorboard)]
        run = run_experiment(
            experiment, triples, out, force, device, callbacks, lambda: bool(asked)
        )
    _report(run, json)


def _only(given: dict[str, Any], *allowed: str) -> None:
    for name in given.keys() - set(allowed):
        flag = "DATA" if name == "data" else f"--{name.strip('_').replace('_', '-')}"
        raise KgflowError(f"{flag} cannot be combined with --resume: a run keeps its settings")


def _experiment(data: str | None, config: Path | None, given: dict[str, Any]) -> Experiment:
    if data is None and config is None:
        raise KgflowError("give DATA to train on, --config FILE, or --resume RUN")
    from kgflow.runs.build import complete

    changes = dict(map(parse_setting, given.get("set_", [])))
    changes |= {key: given[flag] for flag, key in FLAGS.items() if flag in given}
    changes |= {} if data is None else {"data": data}
    if config is None:
        return complete(expand(changes), "command line")
    return complete(merge(read_toml(config), expand(changes)), str(config))


def parse_setting(text: str) -> tuple[str, Any]:
    """Parse KEY=VALUE; the value is a TOML value, or else a string.

    Example:
        >>> parse_setting("training.loss.margin=2.5"), parse_setting("model.x0=uniform")
        (('training.loss.margin', 2.5), ('model.x0', 'uniform'))
    """
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise KgflowError(f"--set takes KEY=VALUE, such as training.loss.margin=2, not '{text}'")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def _trackers(tensorboard: Path | None) -> list["Callback"]:
    if tensorboard is None:
        return []
    from kgflow.training.callbacks import TensorBoard

    return [TensorBoard(tensorboard)]


def _resume(directory: Path, device: str, tensorboard: Path | None) -> "Run":
    from kgflow.cli.progress import ProgressBar, stop_signals
    from kgflow.runs.store import read_run
    from kgflow.runs.training import resume

    config, _ = read_run(directory)
    with stop_signals() as asked, ProgressBar(config.training.epochs) as bar:
        callbacks = [bar, *_trackers(tensorboard)]
        return resume(directory, device, callbacks, lambda: bool(asked))


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
