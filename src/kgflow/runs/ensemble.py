"""Ensembles: runs whose scores are the means of the scores of other runs."""

from collections.abc import Sequence
from pathlib import Path

from kgflow.config import MEAN, Experiment, ModelConfig, Part, TrainingConfig
from kgflow.errors import KgflowError
from kgflow.models import Mean
from kgflow.runs.run import Run
from kgflow.runs.store import new_run, run_config
from kgflow.runs.training import evaluate_and_calibrate
from kgflow.training import save_model


def ensemble(
    runs: Sequence[str | Path], out: str | Path, force: bool = False, device: str = "cpu"
) -> Run:
    r"""Build a run whose scores are the means of the scores of other runs on the same data.

    .. math:: f(h, r, t) = \frac1k \sum_i f_i(h, r, t)

    Models with different seeds or scoring functions make different errors. The ensemble contains
    all parameters, is evaluated and calibrated, and supports prediction, serving, export and
    reports like any other run. It has no entropies and cannot be trained. Its margin γ is the mean
    of the margins, so that its logits are the means of the logits.

    Prediction sets have a coverage guarantee only if all runs used the same calibration set, that
    is, the same `held_out` and `seed`.

    Args:
        runs: two or more run directories.
        out: directory of the new run.
        force: whether to overwrite an existing run.
        device: "cpu", "cuda", …

    Example:
        >>> import kgflow, tempfile
        >>> place = Path(tempfile.mkdtemp())
        >>> for name in ("nfe-1", "distmult"):
        ...     _ = kgflow.train("world", model=name, dim=4, epochs=1, out=place / name)
        >>> run = ensemble([place / "nfe-1", place / "distmult"], place / "both")
        >>> run.predict(head="France", relation="borders", k=3).shape[0]
        3
    """
    _check_distinct(runs)
    opened = [Run.open(directory, device) for directory in runs]
    _check(opened)
    model = ModelConfig(
        name=MEAN,
        dim=sum(run.config.model.dim for run in opened),
        parts=[
            Part(run=str(run.directory), model=run.config.model, training=run.config.training)
            for run in opened
        ],
    )
    experiment = Experiment(data=opened[0].config.data, model=model, training=_training(opened))
    directory, data = Path(out), opened[0].data
    config, mean = run_config(experiment, data), Mean([run.model for run in opened])
    with new_run(directory, config, data, force) as draft:
        save_model(draft / "model.safetensors", mean)
        (draft / "history.jsonl").touch()  # no epochs: an ensemble is not trained
        evaluate_and_calibrate(Run(draft, config, data, mean.eval()))
    return Run.open(directory, device)


def _check_distinct(runs: Sequence[str | Path]) -> None:
    if len(runs) < 2:
        raise KgflowError("an ensemble needs two runs or more: name their directories")
    for place, run in enumerate(runs):
        if Path(run).resolve() in [Path(other).resolve() for other in runs[:place]]:
            raise KgflowError(f"{run} is given twice: name different runs")


def _check(runs: Sequence[Run]) -> None:
    first = runs[0]
    for run in runs:
        if run.config.model.parts:
            raise KgflowError(f"{run.directory} is an ensemble already: name its member runs")
        if run.config.run.data_digest != first.config.run.data_digest:
            raise KgflowError(
                f"{run.directory} was trained on other facts than {first.directory}: an ensemble"
                " needs runs on the same data"
            )
        if run.model.interaction is not None:
            raise KgflowError(
                f"{run.directory} has the model {run.model.name}, which is no matrix product and"
                " cannot be part of an ensemble: leave it out"
            )


def _training(runs: Sequence[Run]) -> TrainingConfig:
    """Return the first run's settings with the mean margin; `held_out` only if all runs agree."""
    settings = [run.config.training for run in runs]
    held_out = {(x.held_out, x.seed) for x in settings}
    return settings[0].model_copy(
        update={
            "margin": sum(x.margin for x in settings) / len(settings),
            "held_out": settings[0].held_out if len(held_out) == 1 else 0.0,
        }
    )
