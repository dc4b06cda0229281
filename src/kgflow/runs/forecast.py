"""Time and memory that a training will need, from its sizes and a few timed batches."""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from kgflow.config import Experiment
from kgflow.data import Dataset, split_validation
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.runs.build import sized_model
from kgflow.runs.run import MAX_TRIPLES
from kgflow.runs.training import initial_model, make_trainer
from kgflow.training import Batch

BASE_MEMORY = 500e6
"""Bytes of the program and its libraries, and of the scores of a batch."""
BYTES_PER_FACT = 400
"""Bytes per fact of all splits and their indexes."""
WRITTEN_PER_SECOND = 300e6
"""Bytes per second of checkpoints, a cautious guess."""
OPTIMIZER_STATES = {"adagrad": 1, "adam": 3}
"""Tensors of the size of the parameters that an optimizer and its gradient need."""
TIMED_SECONDS = 2.0
"""Seconds after which no further batch is timed."""
TIMED_STEPS = 4
TIMED_QUERIES = 128
"""Validation facts that are ranked to measure the time of a query."""
CALIBRATION = 3
"""Cost of a query in calibration, in validation queries."""

T = TypeVar("T")


@dataclass(frozen=True)
class Work:
    """Amount of work of a training, in steps whose time can be measured.

    Args:
        epochs: Largest number of epochs.
        batches: Batches of an epoch.
        validations: Number of validations.
        queries: Queries of a validation.
        final_queries: Queries of the evaluation and the calibration at the end.
        parameters: Number of parameters.
        copies: Tensors of the size of all parameters that training keeps.
        facts: Facts of all splits.
    """

    epochs: int
    batches: int
    validations: int
    queries: int
    final_queries: int
    parameters: int
    copies: int
    facts: int

    @classmethod
    def of(cls, experiment: Experiment, data: Dataset) -> "Work":
        """Count the work of an experiment."""
        training, train = experiment.training, data.queries("train")
        selection, _ = split_validation(data.valid, training.conformal_fraction, experiment.seed)
        evaluated = 2 * (len(data.valid) + len(data.test))
        calibrated = 2 * CALIBRATION * min(MAX_TRIPLES, len(selection))
        return cls(
            epochs=training.epochs,
            batches=max(1, round(len(train.tails) / training.batch_size)),
            validations=-(-training.epochs // training.validate_every) if len(selection) else 0,
            queries=2 * len(selection),
            final_queries=evaluated + calibrated,
            parameters=parameters(experiment, data),
            copies=1 + OPTIMIZER_STATES.get(training.optimizer.name, 3) + bool(training.ema_decay),
            facts=len(data.train) + len(data.valid) + len(data.test),
        )

    @property
    def memory(self) -> int:
        """Expected bytes of memory: all copies, and once more while a checkpoint is written."""
        return int(BASE_MEMORY + BYTES_PER_FACT * self.facts + 8 * self.copies * self.parameters)


def parameters(experiment: Experiment, data: Dataset) -> int:
    """Return the number of parameters of a model, from those of tiny ones.

    Example:
        >>> from kgflow.data import load
        >>> parameters(Experiment(data="world"), load("world"))
        333056
    """
    least, entity, relations = (
        sum(x.numel() for x in sized_model(experiment.model, *size).parameters())
        for size in ((2, 2), (3, 2), (2, 4))
    )
    more = (len(data.entities) - 2) * (entity - least)
    return least + more + (len(data.relations) - 1) * (relations - least)


@dataclass(frozen=True)
class Timings:
    """Measured seconds of a batch and of a validation query."""

    batch: float
    query: float


@dataclass(frozen=True)
class Forecast:
    """Expected time and memory of a training.

    Args:
        epochs: Largest number of epochs.
        epoch_seconds: Seconds of an epoch with its checkpoint.
        validation_seconds: Seconds of a validation.
        final_seconds: Seconds of the evaluation and the calibration at the end.
        seconds: Seconds of the whole training, if it does not stop early.
        memory: Bytes of memory at the most.
        available: Bytes of memory that are free.
    """

    epochs: int
    epoch_seconds: float
    validation_seconds: float
    final_seconds: float
    seconds: float
    memory: int
    available: int

    @property
    def fits(self) -> bool:
        """Whether the memory suffices."""
        return self.memory <= self.available

    def to_dict(self) -> dict[str, Any]:
        """Return the values for JSON."""
        return vars(self) | {"fits": self.fits}


def forecast(work: Work, timings: Timings, available: int) -> Forecast:
    """Return the expected time and memory of some work.

    Example:
        >>> work = Work(10, 100, 5, 1000, 4000, parameters=10**6, copies=3, facts=10**5)
        >>> found = forecast(work, Timings(batch=0.1, query=0.001), available=2**30)
        >>> round(found.seconds), found.memory, found.fits
        (109, 564000000, True)
    """
    checkpoint = 4 * work.copies * work.parameters / WRITTEN_PER_SECOND
    epoch = work.batches * timings.batch + checkpoint
    validation, final = work.queries * timings.query, work.final_queries * timings.query
    seconds = work.epochs * epoch + work.validations * validation + final
    return Forecast(work.epochs, epoch, validation, final, seconds, work.memory, available)


def measure(experiment: Experiment, data: Dataset, device: str = "cpu") -> Forecast:
    """Time a few batches and validation queries of an experiment, and forecast the rest.

    Raises:
        KgflowError: The memory does not suffice; the message names a dimension that fits.
    """
    work = Work.of(experiment, data)
    available = available_memory()
    check_memory(experiment, work, available)
    model = initial_model(experiment, data, device)
    with TemporaryDirectory() as directory:
        trainer = make_trainer(Path(directory), experiment, data, model)
        model.train()
        index = trainer.loss.index
        batch = _seconds(lambda facts: trainer.step(Batch.of_facts(index, facts)), trainer.order())
    model.eval()
    sample = data.valid.take(slice(0, TIMED_QUERIES))
    known = data.queries()
    query = _seconds(lambda facts: rank(model, data.index(facts), known), [sample] * 2)
    return forecast(work, Timings(batch, query / max(1, 2 * len(sample))), available)


def check_memory(experiment: Experiment, work: Work, available: int) -> None:
    """Refuse an experiment that does not fit into the memory.

    Raises:
        KgflowError: It does not fit; the message names a dimension that would.
    """
    if work.memory <= available:
        return
    dim, free = experiment.model.dim, available - BASE_MEMORY - BYTES_PER_FACT * work.facts
    smaller = int(dim * free / (8 * work.copies * work.parameters)) // 8 * 8
    remedy = f"--dim {smaller} would fit" if smaller >= 8 else "no dimension would fit"
    raise KgflowError(
        f"{data_size(work.memory)} of memory are needed and {data_size(available)} are free:"
        f" {remedy}, or try --preset fast"
    )


def data_size(size: float) -> str:
    """Return a number of bytes for people.

    Example:
        >>> data_size(1.25e9), data_size(3e7)
        ('1.2 GB', '30 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def available_memory() -> int:
    """Return the bytes of memory that a new process can use."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return int(next(x.split()[1] for x in lines if x.startswith("MemAvailable"))) * 1024
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _seconds(action: Callable[[T], object], values: Iterable[T]) -> float:
    """Return the median seconds of an action; the first, which warms up, does not count."""
    began, found = time.perf_counter(), list[float]()
    for value in values:
        start = time.perf_counter()
        action(value)
        found.append(time.perf_counter() - start)
        if len(found) > TIMED_STEPS or time.perf_counter() - began > TIMED_SECONDS:
            break
    return median(found[1:] or found)
