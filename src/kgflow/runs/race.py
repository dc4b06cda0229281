"""Several trainings for one run: the best recipe by successive halving, and an ensemble."""

import math
import shutil
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from kgflow.config import dump
from kgflow.data import Dataset
from kgflow.evaluation import rank
from kgflow.io import write_atomic
from kgflow.models import Ensemble, Model
from kgflow.runs.ensemble import ensemble
from kgflow.runs.presets import Candidate
from kgflow.runs.race_state import RaceState, Trial, read_race, with_epochs
from kgflow.runs.run import Run
from kgflow.runs.store import CONFIG, RACE, check_free, install_run, read_run, run_config
from kgflow.runs.training import Session, end_training, evaluate_and_calibrate
from kgflow.training import Callback, Diverged, Interrupted, Record

FOLDER = "race"
RACE_SHARE = 0.35
"""Share of the time that the race may take; the winner gets the rest."""
GAIN = 0.001
"""Validation MRR that a further member of an ensemble must add."""
LONGEST = 4
"""Largest factor by which a time limit extends the epochs of a recipe."""


class Race:
    """Trains some recipes in turn, the better ones longer, and makes one run of the best.

    With a time limit, all recipes are trained for the same time, then the better half of them for
    twice as long, and so on (successive halving); the last one gets the remaining time. Without
    one, each recipe is trained to its end. Then the models whose mean has the highest validation
    MRR become an ensemble, or the best one alone becomes the run. The state is stored after every
    epoch, so that an interrupted race continues with the time that was left.

    Args:
        directory: Run directory; while the race goes on, it holds the run of each recipe.
        data: Data set.
        state: State of the race.
        device: Torch device.

    Reference:
        Jamieson, Talwalkar: Non-stochastic Best Arm Identification and Hyperparameter
        Optimization, AISTATS 2016.
    """

    def __init__(self, directory: Path, data: Dataset, state: RaceState, device: str) -> None:
        self.directory, self.data, self.state, self.device = directory, data, state, device
        self.callbacks: Sequence[Callback] = ()
        self.stop: Callable[[], bool] = lambda: False
        self.began = time.monotonic() - state.spent

    @classmethod
    def new(
        cls,
        directory: Path,
        data: Dataset,
        candidates: Sequence[Candidate],
        state: RaceState,
        device: str = "cpu",
        force: bool = False,
    ) -> "Race":
        """Create the directory of a race, with an untrained run for every recipe."""
        check_free(directory, force)
        shutil.rmtree(directory, ignore_errors=True)
        race = cls(directory, data, state, device)
        for candidate in candidates:
            place, experiment = race.place(candidate.name), candidate.experiment
            Session.new(experiment, data, place, device=device, preset=candidate.preset)
        race.save()
        return race

    @classmethod
    def reopen(cls, directory: Path, device: str = "cpu") -> "Race":
        """Open an interrupted race."""
        state = read_race(directory)
        _, data = read_run(directory / FOLDER / state.trials[0].name)
        return cls(directory, data, state, device)

    def run(
        self, callbacks: Sequence[Callback] = (), stop: Callable[[], bool] = lambda: False
    ) -> Run:
        """Run the race to its end, and return the run that it made."""
        self.callbacks, self.stop = callbacks, stop
        # Calibration needs them; now they cost none of the time that is kept for the end.
        for module in ("scipy.optimize", "sklearn.isotonic", "sklearn.linear_model"):
            import_module(module)
        try:
            if self.state.limit is None:
                for trial in self.state.trials:
                    self._train(trial.name)
            else:
                self._halve(self.state.limit - self.state.reserve)
        except Interrupted:
            self.save()
            raise Interrupted(
                f"interrupted and saved: resume with kgflow train --resume {self.directory}"
            ) from None
        if not self.state.best:
            raise Diverged(f"no recipe could be trained: {self.state.trials[0].note}")
        return end_training(self._install(), callbacks)

    def place(self, name: str) -> Path:
        """Return the run directory of a recipe."""
        return self.directory / FOLDER / name

    @property
    def spent(self) -> float:
        """Seconds since the beginning, without interruptions."""
        return time.monotonic() - self.began

    @property
    def _left(self) -> float | None:
        """Seconds until the limit, if there is one."""
        return None if self.state.limit is None else self.state.limit - self.spent

    def save(self) -> None:
        """Store the state."""
        self.state = self.state.model_copy(update={"spent": self.spent})
        write_atomic(self.directory / RACE, self.state.model_dump_json(indent=1).encode())

    def trial(self, name: str) -> Trial:
        """Return the state of a recipe."""
        return next(trial for trial in self.state.trials if trial.name == name)

    def _halve(self, budget: float) -> None:
        """Train the better half again and again; the last recipe gets the remaining time."""
        rounds = math.ceil(math.log2(len(self.state.trials)))
        for done in range(rounds):
            names = self.state.survivors(done)
            for name in names:
                if self.trial(name).slices <= done:
                    self._train(name, RACE_SHARE * budget / rounds / len(names))
        order = self.state.best if rounds else self.state.trials
        for trial in order:
            while not self.trial(trial.name).finished:
                seconds = budget - self.spent
                if seconds < max(self.state.validation, budget / 20):
                    return
                self._train(trial.name, seconds, last=True)

    def _train(self, name: str, seconds: float | None = None, last: bool = False) -> None:
        """Train a recipe for some time, or to its end; in the last part, as long as it improves."""
        trial, began = self.trial(name), time.monotonic()
        if trial.finished:
            return
        if last and seconds is not None:
            self._extend(trial, seconds)
        session = Session.reopen(self.place(name), self.device)
        trainer, watch = session.trainer, _Watch(self, trial, began)
        for callback in self.callbacks:
            callback.on_training(name, trainer.settings.epochs, self._left)
        deadline = None
        if seconds is not None:
            # In the race, the time to read a checkpoint is not the recipe's.
            start = began if last else time.monotonic()
            deadline = start + max(seconds - self.state.validation, seconds / 2)
        note = ""
        try:
            session.fit((watch, *self.callbacks), self.stop, deadline)
        except Diverged as error:
            note = str(error)
        longest = LONGEST * trial.planned if seconds is not None else trial.planned
        over = trainer.progress.done or trainer.progress.epoch >= longest
        watch.update(slices=trial.slices + 1, finished=over or bool(note), note=note)

    def _extend(self, trial: Trial, seconds: float) -> None:
        """Let the epochs and what depends on them fit the time left."""
        place = self.place(trial.name)
        config, data = read_run(place)
        each = trial.seconds / trial.epochs if trial.epochs else self.state.epoch
        epochs = trial.epochs + max(1, int(seconds / each))
        experiment = with_epochs(config, min(epochs, LONGEST * trial.planned))
        write_atomic(place / CONFIG, dump(run_config(experiment, data, config.run.preset)))

    def _install(self) -> Run:
        """Make a run of the best recipe, or of an ensemble, and remove the others."""
        chosen = self._members()
        self.save()
        state = (self.directory / RACE).read_bytes()
        if len(chosen) > 1:
            places = [self.place(name) for name in chosen]
            ensemble(places, self.directory, force=True, device=self.device)
            write_atomic(self.directory / RACE, state)
        else:
            best = self.place(chosen[0])
            evaluate_and_calibrate(Run.open(best, self.device))
            write_atomic(best / RACE, state)
            install_run(best, self.directory)
        return Run.open(self.directory, self.device)

    def _members(self) -> list[str]:
        """Return the recipes whose mean scores are best, beginning with the best one."""
        trials = self.state.best
        chosen, highest = [trials[0].name], trials[0].mrr
        for trial in trials[1:]:
            # An ensemble takes the embeddings of its models over, so they are read again.
            runs = [Run.open(self.place(name), self.device) for name in (*chosen, trial.name)]
            if self._late or any(run.model.interaction is not None for run in runs):
                break
            found = self._mrr(Ensemble([run.model for run in runs]), runs[0])
            if found > highest + GAIN:
                chosen, highest = [*chosen, trial.name], found
        return chosen

    @property
    def _late(self) -> bool:
        """Whether only the time for the evaluation of one more ensemble is left."""
        limit = self.state.limit
        return limit is not None and self.spent > limit - self.state.reserve / 2

    def _mrr(self, model: Model, run: Run) -> float:
        queries, known = self.data.index(run.validation.selection), self.data.queries()
        return float(rank(model.eval(), queries, known).metrics()["realistic"].to_dict()["mrr"])


class _Watch(Callback):
    """Stores the state of a race after every epoch of a trial."""

    def __init__(self, race: Race, trial: Trial, began: float) -> None:
        self.race, self.trial, self.began, self.before = race, trial, began, trial.seconds

    def update(self, **values: Any) -> None:  # noqa: ANN401
        """Change the results of the trial, and store the state."""
        seconds = self.before + time.monotonic() - self.began
        self.trial = self.trial.model_copy(update={"seconds": seconds, **values})
        state, new = self.race.state, self.trial
        trials = [new if trial.name == new.name else trial for trial in state.trials]
        self.race.state = state.model_copy(update={"trials": trials})
        self.race.save()

    def on_epoch(self, record: Record) -> None:
        mrr = max(self.trial.mrr, record.get("mrr", -1.0))
        self.update(epochs=int(record["epoch"]), mrr=mrr)
