"""Ensemble of runs: the mean of the scores of their models."""

from collections.abc import Sequence
from pathlib import Path

from kgflow.config import ENSEMBLE, Experiment, Member, ModelSettings
from kgflow.errors import KgflowError
from kgflow.models import Ensemble
from kgflow.runs.run import Run
from kgflow.runs.store import new_run, run_config
from kgflow.runs.training import evaluate_and_calibrate
from kgflow.runs.update_log import UpdateLog, write_updates
from kgflow.training import save_model
from kgflow.training.losses.one_vs_all import OneVsAllSettings


def ensemble(
    runs: Sequence[str | Path], out: str | Path, force: bool = False, device: str = "cpu"
) -> Run:
    r"""Create an ensemble: a run whose scores are the mean scores of other runs of the same data.

    .. math:: f(h, r, t) = \frac1k \sum_i f_i(h, r, t)

    Models of different seeds or kinds make different errors. The new run contains all its models,
    is evaluated and calibrated, and predicts, serves, exports and reports like any other. It has no
    entropy and cannot be trained. Its margin is the mean margin, so that its logits are mean
    logits.

    Prediction sets need all runs to have held out the same validation triples, as they have where
    `conformal_fraction` and `seed` are the same.

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
        >>> run = ensemble([place / "nfe-1", place / "distmult"], place / "both")
        >>> run.predict(head="France", relation="borders", k=3).shape[0]
        3
    """
    _check_distinct(runs)
    opened = [Run.open(directory, device) for directory in runs]
    _check_compatible(opened)
    model = ModelSettings(
        name=ENSEMBLE,
        dim=sum(run.config.model.dim for run in opened),
        members=[
            Member(
                run=str(run.directory),
                seed=run.config.seed,
                model=run.config.model,
                training=run.config.training,
            )
            for run in opened
        ],
    )
    experiment = _experiment(opened, model)
    directory, data = Path(out), opened[0].data
    config, mean = run_config(experiment, data), Ensemble([run.model for run in opened])
    with new_run(directory, config, data, force) as draft:
        save_model(draft / "model.safetensors", mean)
        (draft / "history.jsonl").touch()  # without epochs, as an ensemble is not trained
        _write_updates(draft, opened)
        evaluate_and_calibrate(Run(draft, config, data, mean.eval()))
    return Run.open(directory, device)


def _write_updates(draft: Path, runs: Sequence[Run]) -> None:
    """Note what was fitted after training in any of the runs."""
    entities, relations = (
        tuple(sorted({i for run in runs for i in getattr(run.updates, kind)}))
        for kind in ("entities", "relations")
    )
    if entities or relations:
        log = UpdateLog(updates=runs[0].updates.updates, entities=entities, relations=relations)
        write_updates(draft, log)


def _check_distinct(runs: Sequence[str | Path]) -> None:
    if len(runs) < 2:
        raise KgflowError("an ensemble needs two runs or more: name their directories")
    for i, run in enumerate(runs):
        if Path(run).resolve() in [Path(other).resolve() for other in runs[:i]]:
            raise KgflowError(f"{run} is given twice: name different runs")


def _check_compatible(runs: Sequence[Run]) -> None:
    first = runs[0]
    for run in runs:
        if run.config.model.members:
            raise KgflowError(f"{run.directory} is an ensemble already: name its member runs")
        if run.config.run.data_digest != first.config.run.data_digest:
            raise KgflowError(
                f"{run.directory} was trained on other facts than {first.directory}: an ensemble"
                " needs runs on the same data"
            )
        if run.model.interaction is not None:
            raise KgflowError(
                f"{run.directory} has model {run.model.name}, which is no matrix product and cannot"
                " be combined: leave it out"
            )


def _experiment(runs: Sequence[Run], model: ModelSettings) -> Experiment:
    """Return the first run's settings with the mean logit offset of all.

    Validation triples count as held out only if all runs held out the same ones.
    """
    first = runs[0].config
    held_out = {(run.config.training.conformal_fraction, run.config.seed) for run in runs}
    offset = sum(run.logit_offset for run in runs) / len(runs)
    training = first.training.model_copy(
        update={
            "loss": OneVsAllSettings(margin=offset),
            "conformal_fraction": first.training.conformal_fraction if len(held_out) == 1 else 0.0,
        }
    )
    return Experiment(data=first.data, seed=first.seed, model=model, training=training)
