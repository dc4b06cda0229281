"""State of a race of recipes: what was found so far, and how much time is left."""

import math
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgflow.config import Experiment, Settings, merge
from kgflow.errors import KgflowError
from kgflow.runs.recipes import ema_decay
from kgflow.runs.store import RACE


class Trial(Settings):
    """A recipe in a race: its own number of epochs, and what was found so far."""

    name: str
    planned: int
    mrr: float = -1.0
    epochs: int = 0
    seconds: float = 0.0
    slices: int = 0
    finished: bool = False
    note: str = ""


class RaceState(Settings):
    """State of a race, stored after every part of a training.

    Args:
        limit: Seconds for everything, or None without a limit.
        reserve: Seconds for the evaluation, the ensemble and the calibration at the end.
        validation: Seconds of a validation.
        epoch: Seconds of an epoch of the first recipe.
        spent: Seconds spent.
        trials: Recipes with their results, in the order of the preset.
    """

    limit: float | None = None
    reserve: float = 0.0
    validation: float = 0.0
    epoch: float = 0.0
    spent: float = 0.0
    trials: list[Trial]

    @property
    def best(self) -> list[Trial]:
        """Trials that were trained, the best first."""
        return sorted((t for t in self.trials if t.epochs), key=lambda t: -t.mrr)

    def survivors(self, rounds_done: int) -> list[str]:
        """Return the trials that take part after some rounds: the best half after each.

        Example:
            >>> found = (("a", 0.2), ("b", 0.3))
            >>> trials = [Trial(name=n, planned=9, mrr=mrr, epochs=1) for n, mrr in found]
            >>> state = RaceState(limit=60, trials=trials)
            >>> state.survivors(0), state.survivors(1)
            (['a', 'b'], ['b'])
        """
        if not rounds_done:
            return [trial.name for trial in self.trials]
        keep = math.ceil(len(self.trials) / 2**rounds_done)
        return [trial.name for trial in self.best[:keep]]


def with_epochs(experiment: Experiment, epochs: int) -> Experiment:
    """Return an experiment with other epochs, with an average and a schedule that fit them.

    Example:
        >>> fitted = with_epochs(Experiment(data="umls"), 160)
        >>> round(fitted.training.lr_schedule.decay, 4)  # half as fast as 0.98
        0.9899
    """
    old = experiment.training
    changes: dict[str, Any] = {"epochs": epochs}
    if old.ema_decay and ema_decay(epochs):
        changes["ema_decay"] = ema_decay(epochs)
    decay = getattr(old.lr_schedule, "decay", None)
    if decay is not None:
        changes["lr_schedule"] = {"decay": decay ** (old.epochs / epochs)}
    values = {key: getattr(experiment, key) for key in Experiment.model_fields}
    values["training"] = merge(old.model_dump(), changes)
    return Experiment.model_validate(values)


def read_race(directory: Path) -> RaceState:
    """Read the state of a race, or what a finished one stored in its run."""
    path = directory / RACE
    try:
        return RaceState.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise KgflowError(
            f"{path} is damaged ({str(error).splitlines()[0]}): start again"
        ) from None
