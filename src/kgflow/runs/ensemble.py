"""Ensemble of runs: the mean of the scores of their models."""

from collections.abc import Sequence
from pathlib import Path

from kgflow.config import MEAN, Experiment, ModelConfig, Part, TrainingConfig
from kgflow.errors import KgflowError
from kgflow.models import Mean
from kgflow.runs.run import Run
from kgflow.runs.store import new_run, run_config
from kgflow.runs.training import evaluate_and_calibrate
from kgflow.training import save_model


def combine(
    runs: Sequence[str | Path], out: str | Path, force: bool = False, device: str = "cpu"
) -> Run:
    r"""Create an ensemble: a run whose scores are the mean scores of other runs of the same data.

    .. math:: f(h, r, t) = \frac1k \sum_i f_i(h, r, t)

    Models of different seeds or kinds make different errors. The new run contains all its models,
    is evaluated and calibrated, and predicts, serves, exports and reports like any other. It has no
    entropy and cannot be trained. Its margin is the mean margin, so that its logits are mean
    logits.

    Prediction sets need all runs to have held out the same validation triples, as they have where
    `held_out` and `seed` are the same.

    Args:
        runs: Run directories, at least two.
        out: Directory of the new run.
        force: Whether an existing run is replaced.
        device: Device of the model, such as "cpu" or "cuda".

    Example:
        >>> import kgflow, tempfile
        >>> place = Path(tempfile.mkdtemp())
        >>> for name in ("nfe-1", "distmult"):
        ...     _ = kgflow.train("world", model=name, dim=4, epochs=1, out=place / name)
        >>> run = combine([place / "nfe-1", place / "distmult"], place / "both")
        >>> run.predict(head="France", relation="borders", k=3).shape[0]
        3
    """
    _check_distinct(runs)
    opened = [Run.open(directory, device) for directory in runs]
    _check_compatible(opened)
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
        (draft / "history.jsonl").touch()  # without epochs, as an ensemble is not trained
        evaluate_and_calibrate(Run(draft, config, data, mean.eval()))
    return Run.open(directory, device)


def _check_distinct(runs: Sequence[str | Path]) -> None:
    if len(runs) < 2:
        raise KgflowError("give two runs or more to combine")
    for i, run in enumerate(runs):
        if Path(run).resolve() in [Path(other).resolve() for other in runs[:i]]:
            raise KgflowError(f"{run} is given twice: combine different runs")


def _check_compatible(runs: Sequence[Run]) -> None:
    first = runs[0]
    for run in runs:
        if run.config.model.parts:
            raise KgflowError(
                f"{run.directory} is an ensemble already: give the runs it consists of"
            )
        if run.config.run.data_digest != first.config.run.data_digest:
            raise KgflowError(
                f"{run.directory} was trained on other facts than {first.directory}: combine runs"
                " of the same data"
            )
        if run.model.interaction is not None:
            raise KgflowError(
                f"{run.directory} has model {run.model.name}, which is no matrix product and cannot"
                " be combined: leave it out"
            )


def _training(runs: Sequence[Run]) -> TrainingConfig:
    """Return the first run's settings, with the mean margin, and held_out only if all agree."""
    settings = [run.config.training for run in runs]
    held_out = {(x.held_out, x.seed) for x in settings}
    return settings[0].model_copy(
        update={
            "margin": sum(x.margin for x in settings) / len(settings),
            "held_out": settings[0].held_out if len(held_out) == 1 else 0.0,
        }
    )
