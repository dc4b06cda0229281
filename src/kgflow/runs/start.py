"""Starts trainings: with given settings, with a preset, or within a time limit."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgflow.config import expand
from kgflow.data import Dataset, load
from kgflow.errors import KgflowError
from kgflow.runs.forecast import Forecast, measure
from kgflow.runs.presets import Candidate, candidates
from kgflow.runs.race import RACE_SHARE, Race
from kgflow.runs.race_state import RaceState, Trial
from kgflow.runs.run import Run
from kgflow.runs.store import is_unfinished
from kgflow.runs.training import default_directory, run_experiment
from kgflow.runs.training import resume as resume_training
from kgflow.training import Callback

UNITS = {"s": 1, "m": 60, "h": 3600}
LONG, SHORT = 2.5, 0.7
"""Factors of the time of preset auto from which best fits a time limit, and below which fast."""
SAFETY = 1.5
"""Factor of the expected time of the end: a machine may be slower by then."""
WRITING = 3.0
"""Seconds for files and models at the end, besides evaluation and calibration."""
FITTING, MANY_FACTS = 8.0, 500
"""Seconds to fit probabilities at the end, and the validation facts from which it takes as long."""


def seconds_of(time_limit: str | float | None) -> float | None:
    """Return a time limit in seconds.

    Example:
        >>> seconds_of("90s"), seconds_of("10m"), seconds_of("1h30m"), seconds_of(60)
        (90.0, 600.0, 5400.0, 60.0)
        >>> seconds_of("soon")
        Traceback (most recent call last):
        kgflow.errors.KgflowError: the time limit is 'soon': give a time such as 90s, 10m or 1h30m
    """
    if time_limit is None:
        return None
    text = f"{time_limit}s" if isinstance(time_limit, int | float) else time_limit.strip().lower()
    parts = re.findall(r"([0-9]+(?:\.[0-9]+)?)([smh])", text)
    if not parts or "".join(map("".join, parts)) != text:
        raise KgflowError(
            f"the time limit is {time_limit!r}: give a time such as 90s, 10m or 1h30m"
        )
    return sum(float(number) * UNITS[unit] for number, unit in parts)


@dataclass(frozen=True)
class Plan:
    """What a training will do.

    Args:
        data: Data set.
        candidates: One experiment, or several that take part in a race or an ensemble.
        forecast: Time and memory that the first one needs.
        limit: Seconds for everything, or None.
    """

    data: Dataset
    candidates: list[Candidate]
    forecast: Forecast
    limit: float | None = None

    def start(
        self,
        out: str | Path | None = None,
        force: bool = False,
        device: str = "cpu",
        callbacks: Sequence[Callback] = (),
        stop: Callable[[], bool] = lambda: False,
        began: float | None = None,
    ) -> Run:
        """Train, and return the run; a time limit counts from `began` of `time.monotonic`."""
        _, experiment, preset = self.candidates[0]
        if len(self.candidates) == 1 and self.limit is None:
            return run_experiment(
                experiment, self.data, out, force, device, callbacks, stop, preset
            )
        directory = Path(out) if out is not None else default_directory(experiment)
        spent = 0.0 if began is None else time.monotonic() - began
        state = self.race_state(spent)
        taking_part = self.candidates[: len(state.trials)]
        race = Race.new(directory, self.data, taking_part, state, device, force)
        return race.run(callbacks, stop)

    def race_state(self, spent: float) -> RaceState:
        """Return the state of a race with as many recipes as the time allows."""
        found, number = self.forecast, len(self.candidates)
        fitting = FITTING * min(1, len(self.data.valid) / MANY_FACTS)
        reserve = 2 * SAFETY * found.final_seconds + WRITING + fitting
        if self.limit is not None:
            budget = self.limit - spent - reserve
            if budget < found.epoch_seconds / 10:
                raise KgflowError(
                    f"the time limit is too short: the evaluation at the end needs about"
                    f" {reserve + spent:.0f} s"
                )
            each = 2 * (found.epoch_seconds + found.validation_seconds)
            number = max(1, min(number, int(RACE_SHARE * budget / each)))
        return RaceState(
            limit=self.limit,
            reserve=reserve,
            validation=found.validation_seconds,
            epoch=found.epoch_seconds,
            spent=spent,
            trials=[
                Trial(name=candidate.name, planned=candidate.experiment.training.epochs)
                for candidate in self.candidates[:number]
            ],
        )


def plan(
    values: Mapping[str, Any],
    data: Dataset,
    preset: str | None = None,
    limit: float | None = None,
    device: str = "cpu",
    source: str = "train",
) -> Plan:
    """Choose the recipes for a graph, and forecast their time and memory.

    Args:
        values: Nested settings that override those of the preset.
        data: Data set to train on.
        preset: Name of the preset; None for auto, or for given settings of the model.
        limit: Seconds for everything, or None.
        device: Torch device.
        source: Where the settings come from, for error messages.
    """
    race = limit is not None and len(data.valid) > 0
    chosen = candidates(values, preset, data, source, race and preset is not None)
    found = measure(chosen[0].experiment, data, device)
    if race and limit is not None and preset is None and chosen[0].preset:
        ratio = (1 - RACE_SHARE) * limit / max(1e-9, found.seconds)
        preset = "best" if ratio >= LONG else "auto" if ratio >= SHORT else "fast"
        chosen = candidates(values, preset, data, source, race=True)
        if preset != "auto":
            found = measure(chosen[0].experiment, data, device)
    made = Plan(data, chosen, found, limit)
    made.race_state(0.0)  # refuses a time limit that is too short, before anything is written
    return made


def train(
    data: object,
    model: str | None = None,
    dim: int | None = None,
    *,
    preset: str | None = None,
    time_limit: str | float | None = None,
    epochs: int | None = None,
    lr: float | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    force: bool = False,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
) -> Run:
    """Train a model, keep its best epoch, evaluate it and calibrate it.

    Without a model, the preset "auto" chooses all settings by the size and density of the graph.

    Args:
        data: Data set, or what `kgflow.load` takes.
        model: Model name; its own defaults then replace the preset, if none is named.
        dim: Embedding dimension, the paper's n.
        preset: "auto", "fast", "best" or "paper"; single settings override those of the preset.
        time_limit: Time for everything, such as "10m": the best of several recipes is found by
            their validation MRR, and gets the remaining time.
        epochs: Number of training epochs.
        lr: Learning rate.
        seed: Random seed.
        settings: Further settings by key, nested or dotted: ``{"training.loss.margin": 2.0}``;
            `kgflow settings` lists all.
        out: Run directory; ``runs/<data>-<model>-<date>`` if not given.
        force: Replace an existing run.
        device: Torch device: "cpu", "cuda", …
        callbacks: Callbacks for batches and epochs.
    """
    began, limit = time.monotonic(), seconds_of(time_limit)
    dataset = data if isinstance(data, Dataset) else load(data)
    arguments = {
        "model.name": model,
        "model.dim": dim,
        "training.epochs": epochs,
        "training.optimizer.lr": lr,
        "seed": seed,
    }
    given = {k: v for k, v in arguments.items() if v is not None}
    given["data"] = str(data) if isinstance(data, str | Path) else dataset.name
    values = expand({**(settings or {}), **given})
    chosen = plan(values, dataset, preset, limit, device)
    return chosen.start(out, force, device, callbacks, began=began)


def resume(
    directory: str | Path,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Resume an interrupted run from its last checkpoint, or an interrupted race."""
    if is_unfinished(Path(directory)):
        return Race.reopen(Path(directory), device).run(callbacks, stop)
    return resume_training(directory, device, callbacks, stop)
