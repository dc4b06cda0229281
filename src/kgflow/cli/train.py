"""kgflow train."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgflow.cli.output import Device, Json, say, show_json
from kgflow.cli.source import DATA_HELP, ColumnsText, Labels, Strict, Types, open_data
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.config import Experiment
    from kgflow.run import Run
    from kgflow.training import Callback


def train(
    data: Annotated[str | None, typer.Argument(metavar="DATA", help=DATA_HELP)] = None,
    config: Annotated[Path | None, typer.Option(help="An experiment file; flags win.")] = None,
    resume: Annotated[Path | None, typer.Option(metavar="RUN", help="Go on with a run.")] = None,
    model: Annotated[str | None, typer.Option(help="The model [nfe-1].")] = None,
    dim: Annotated[int | None, typer.Option(help="The paper's n, the size of each part.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Of this model only, as key=value: x0=uniform.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training facts.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Facts in a batch.")] = None,
    lr: Annotated[float | None, typer.Option(help="Adam's learning rate.")] = None,
    decay: Annotated[float | None, typer.Option(help="The rate's factor per epoch.")] = None,
    margin: Annotated[float | None, typer.Option(help="The margin of the loss.")] = None,
    dropout: Annotated[float | None, typer.Option(help="Share of a head left out.")] = None,
    average: Annotated[float | None, typer.Option(help="Weight averaging over epochs.")] = None,
    backward: Annotated[str | None, typer.Option(help="dense, or sparse (sampled).")] = None,
    seed: Annotated[int | None, typer.Option(help="Of start and order of batches.")] = None,
    patience: Annotated[int | None, typer.Option(help="Validations without gain.")] = None,
    eval_every: Annotated[int | None, typer.Option(help="Epochs between validations.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run directory.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is there.")] = False,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Write TensorBoard's files to this directory.")
    ] = None,
    columns: ColumnsText = None,
    labels: Labels = None,
    types: Types = None,
    strict: Strict = False,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Train a model, keep its best epoch, and evaluate it.

    Example: kgflow train umls --model nfe-1 --dim 128 --out runs/umls
    """
    if resume is not None:
        _report(_resume(resume, device, tensorboard), json)
        return
    flags: dict[str, dict[str, Any]] = {
        "model": {"name": model, "dim": dim, "options": dict(map(_pair, option or [])) or None},
        "training": {
            "epochs": epochs,
            "batch_size": batch_size,
            "lr": lr,
            "decay": decay,
            "margin": margin,
            "dropout": dropout,
            "average": average,
            "backward": backward,
            "seed": seed,
            "patience": patience,
            "eval_every": eval_every,
        },
    }
    experiment = _experiment(data, config, flags)
    if out is not None:
        from kgflow.store import check_free

        check_free(out, force)
    facts = open_data(experiment.data, columns, labels, types, strict)
    from kgflow.cli.progress import ProgressBar, stopping
    from kgflow.run import run_experiment

    with stopping() as asked, ProgressBar(experiment.training.epochs) as bar:
        told = [bar, *_trackers(tensorboard)]
        run = run_experiment(experiment, facts, out, force, device, told, lambda: bool(asked))
    _report(run, json)


def _trackers(tensorboard: Path | None) -> list["Callback"]:
    if tensorboard is None:
        return []
    from kgflow.training.tensorboard import TensorBoard

    return [TensorBoard(tensorboard)]


def _experiment(
    data: str | None, config: Path | None, flags: dict[str, dict[str, Any]]
) -> "Experiment":
    from kgflow.config import Experiment, parse, read

    if data is None and config is None:
        raise KgflowError("give DATA to train on, --config FILE, or --resume RUN")
    values = read(Experiment, config).model_dump() if config else {"model": {}, "training": {}}
    for section, chosen in flags.items():
        values[section] |= {k: v for k, v in chosen.items() if v is not None}
    values["data"] = data or values["data"]
    return parse(Experiment, values, "command line")


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise KgflowError(f"--option wants key=value, such as x0=uniform, not '{text}'")
    return key, value


def _resume(directory: Path, device: str, tensorboard: Path | None) -> "Run":
    from kgflow.cli.progress import ProgressBar, stopping
    from kgflow.run import resume
    from kgflow.store import read_run

    config, _ = read_run(directory)
    with stopping() as asked, ProgressBar(config.training.epochs) as bar:
        return resume(directory, device, [bar, *_trackers(tensorboard)], lambda: bool(asked))


def _report(run: "Run", json: bool) -> None:
    history, metrics = run.history, run.metrics
    best = max(history, key=lambda record: record.get("mrr", record["epoch"]))
    width = run.model.entity.weight.shape[1]
    if json:
        summary = {"run": run.directory, "model": run.config.model.model_dump()}
        summary |= {"floats_per_entity": width, "epochs": len(history)}
        summary |= {"best_epoch": best["epoch"], "seconds": sum(r["seconds"] for r in history)}
        show_json(summary | metrics)
        return
    name, dim = run.config.model.name, run.config.model.dim
    say(f"{name}, n = {dim}: {width} numbers per entity; best epoch {best['epoch']:.0f}")
    if metrics:
        from kgflow.cli.evaluate import show

        show(metrics)
    print(f"run saved in {run.directory}")
