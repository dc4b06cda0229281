"""kgflow train."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgflow.cli.output import Device, Json, say, show_json
from kgflow.cli.source import DATA_HELP, ColumnsText, Labels, Strict, Types, open_data
from kgflow.config import Experiment, ModelConfig, TrainingConfig, read
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from kgflow.runs.run import Run
    from kgflow.training import Callback

FLAGS = ("bias", "inverse_relations", "bidirectional")
"""Settings of a model that are true or false: false is an answer, too."""


def _setting(name: str) -> Any:  # noqa: ANN401
    """An option for a field of the configuration, with its description and its default."""
    section = TrainingConfig if name in TrainingConfig.model_fields else ModelConfig
    field = section.model_fields[name]
    return typer.Option(help=f"{str(field.description).capitalize()} [{field.default}].")


def _flag(name: str) -> Any:  # noqa: ANN401
    """The same for a field that is true or false."""
    described, words = str(ModelConfig.model_fields[name].description), name.replace("_", "-")
    return typer.Option(f"--{words}/--no-{words}", help=f"{described.capitalize()}.")


def train(
    data: Annotated[str | None, typer.Argument(metavar="DATA", help=DATA_HELP)] = None,
    config: Annotated[
        Path | None, typer.Option(help="Config file in TOML; flags have precedence.")
    ] = None,
    resume: Annotated[Path | None, typer.Option(metavar="RUN", help="Go on with a run.")] = None,
    model: Annotated[str | None, typer.Option(help="The model [nfe-1].")] = None,
    dim: Annotated[int | None, _setting("dim")] = None,
    bias: Annotated[bool | None, _flag("bias")] = None,
    inverse_relations: Annotated[bool | None, _flag("inverse_relations")] = None,
    bidirectional: Annotated[bool | None, _flag("bidirectional")] = None,
    start: Annotated[float | None, _setting("start")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Of this model only, as key=value: x0=uniform.")
    ] = None,
    epochs: Annotated[int | None, _setting("epochs")] = None,
    batch_size: Annotated[int | None, _setting("batch_size")] = None,
    lr: Annotated[float | None, _setting("lr")] = None,
    decay: Annotated[float | None, _setting("decay")] = None,
    margin: Annotated[float | None, _setting("margin")] = None,
    dropout: Annotated[float | None, _setting("dropout")] = None,
    average: Annotated[float | None, _setting("average")] = None,
    backward: Annotated[str | None, _setting("backward")] = None,
    confidence: Annotated[str | None, _setting("confidence")] = None,
    seed: Annotated[int | None, _setting("seed")] = None,
    patience: Annotated[int | None, _setting("patience")] = None,
    eval_every: Annotated[int | None, _setting("eval_every")] = None,
    held_out: Annotated[float | None, _setting("held_out")] = None,
    loss: Annotated[str | None, _setting("loss")] = None,
    smoothing: Annotated[float | None, _setting("smoothing")] = None,
    negatives: Annotated[int | None, _setting("negatives")] = None,
    corruption: Annotated[str | None, _setting("corruption")] = None,
    adversarial: Annotated[float | None, _setting("adversarial")] = None,
    popularity: Annotated[float | None, _setting("popularity")] = None,
    query_dropout: Annotated[float | None, _setting("query_dropout")] = None,
    regularizer: Annotated[str | None, _setting("regularizer")] = None,
    penalty: Annotated[float | None, _setting("penalty")] = None,
    relation_weight: Annotated[float | None, _setting("relation_weight")] = None,
    optimizer: Annotated[str | None, _setting("optimizer")] = None,
    schedule: Annotated[str | None, _setting("schedule")] = None,
    warmup: Annotated[float | None, _setting("warmup")] = None,
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
    given = {k: v for k, v in locals().items() if v is not None and (v is not False or k in FLAGS)}
    if resume is not None:
        _only(given, "resume", "device", "tensorboard", "json")
        _report(_resume(resume, device, tensorboard), json)
        return
    experiment = _experiment(data, config, given)
    if out is not None:
        from kgflow.runs.store import check_free

        check_free(out, force)
    facts = open_data(experiment.data, columns, labels, types, strict)
    from kgflow.cli.progress import ProgressBar, stopping
    from kgflow.runs.training import run_experiment

    with stopping() as asked, ProgressBar(experiment.training.epochs) as bar:
        told = [bar, *_trackers(tensorboard)]
        run = run_experiment(experiment, facts, out, force, device, told, lambda: bool(asked))
    _report(run, json)


def _only(given: dict[str, Any], *allowed: str) -> None:
    for name in given.keys() - set(allowed):
        flag = "DATA" if name == "data" else f"--{name.replace('_', '-')}"
        raise KgflowError(f"{flag} does not go with --resume: a run goes on as it began")


def _experiment(data: str | None, config: Path | None, given: dict[str, Any]) -> Experiment:
    if data is None and config is None:
        raise KgflowError("give DATA to train on, --config FILE, or --resume RUN")
    values: dict[str, Any] = {"model": {}, "training": {}}
    if config:
        values |= read(Experiment, config).model_dump(exclude_unset=True)
    values["training"] |= {k: v for k, v in given.items() if k in TrainingConfig.model_fields}
    names = {"model": "name", "dim": "dim", "start": "start"} | {flag: flag for flag in FLAGS}
    values["model"] |= {names[k]: v for k, v in given.items() if k in names}
    chosen = dict(map(_pair, given.get("option", [])))
    values["model"]["options"] = values["model"].get("options", {}) | chosen
    values["data"] = data or values["data"]
    from kgflow.runs.training import settle

    return settle(values, "command line")


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise KgflowError(f"--option wants key=value, such as x0=uniform, not '{text}'")
    return key, value


def _trackers(tensorboard: Path | None) -> list["Callback"]:
    if tensorboard is None:
        return []
    from kgflow.training.tensorboard import TensorBoard

    return [TensorBoard(tensorboard)]


def _resume(directory: Path, device: str, tensorboard: Path | None) -> "Run":
    from kgflow.cli.progress import ProgressBar, stopping
    from kgflow.runs.store import read_run
    from kgflow.runs.training import resume

    config, _ = read_run(directory)
    with stopping() as asked, ProgressBar(config.training.epochs) as bar:
        told = [bar, *_trackers(tensorboard)]
        return resume(directory, device, told, lambda: bool(asked))


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
    say(f"{name}, n = {dim}: {width} numbers per entity; best epoch {run.best_epoch}")
    if metrics:
        from kgflow.cli.evaluate import show

        show(metrics)
    print(f"run saved in {run.directory}")
