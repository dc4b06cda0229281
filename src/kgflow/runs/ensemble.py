"""Several runs as one: answers scored by the mean of their models."""

from collections.abc import Sequence
from pathlib import Path

from kgflow.config import MEAN, Experiment, ModelConfig, Part, TrainingConfig
from kgflow.errors import KgflowError
from kgflow.models import Ensemble
from kgflow.runs.run import Run
from kgflow.runs.store import new_run, run_config
from kgflow.runs.training import evaluate_and_calibrate
from kgflow.training import save_model


def combine(
    runs: Sequence[str | Path], out: str | Path, force: bool = False, device: str = "cpu"
) -> Run:
    r"""A run whose scores are the means of those of other runs of the same data.

    .. math:: f(h, r, t) = \frac1k \sum_i f_i(h, r, t)

    Models that were trained apart, by other seeds or of other kinds, err in different places. The
    new run holds all it needs, is evaluated and calibrated, and is asked, served, exported and
    reported on like any other. It knows no uncertainty and cannot be trained. Its γ is the mean of
    theirs, so that its logit is the mean of their logits.

    Answer sets can promise their coverage only if all runs held the same validation facts out of
    their choices, as they do where `held_out` and `seed` are the same.

    Args:
        runs: two run directories or more.
        out: the new one.
        force: replace a run that is there.
        device: "cpu", "cuda", …

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
    config, mean = run_config(experiment, data), Ensemble([run.model for run in opened])
    with new_run(directory, config, data, force) as draft:
        save_model(draft / "model.safetensors", mean)
        (draft / "history.jsonl").touch()  # of no epochs: it is not trained
        evaluate_and_calibrate(Run(draft, config, data, mean.eval()))
    return Run.open(directory, device)


def _check_distinct(runs: Sequence[str | Path]) -> None:
    if len(runs) < 2:
        raise KgflowError("give two runs or more to combine")
    for place, run in enumerate(runs):
        if Path(run).resolve() in [Path(other).resolve() for other in runs[:place]]:
            raise KgflowError(f"{run} is given twice: combine different runs")


def _check(runs: Sequence[Run]) -> None:
    first = runs[0]
    for run in runs:
        if run.config.model.parts:
            raise KgflowError(f"{run.directory} is a combination already: give the runs it is of")
        if run.config.run.data_digest != first.config.run.data_digest:
            raise KgflowError(
                f"{run.directory} was trained on other facts than {first.directory}: combine runs"
                " of the same data"
            )
        if run.model.interaction is not None:
            raise KgflowError(
                f"{run.directory} is of {run.model.name}, which is no matrix product and cannot be"
                " combined: leave it out"
            )


def _training(runs: Sequence[Run]) -> TrainingConfig:
    """The first run's, with the mean margin, and what was held out only if all did so."""
    said = [run.config.training for run in runs]
    held = {(x.held_out, x.seed) for x in said}
    return said[0].model_copy(
        update={
            "margin": sum(x.margin for x in said) / len(said),
            "held_out": said[0].held_out if len(held) == 1 else 0.0,
        }
    )
