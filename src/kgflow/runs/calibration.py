"""A run's calibration: learned from its validation facts, kept beside its model."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from kgflow.data import Dataset, QueryIndex, Triples
from kgflow.errors import KgflowError
from kgflow.io import file_digest, write_atomic
from kgflow.models import Model
from kgflow.uncertainty import Calibration, CandidateScores, calibrate, score_candidates

CALIBRATION, MODEL = "calibration.json", "model.safetensors"

MOST = 2000
"""Facts whose candidates are counted: more would cost minutes and change little."""


def read_calibration(directory: Path, margin: float) -> Calibration:
    """The calibration of a run; where there is none, the loss's own meaning of scores."""
    path = directory / CALIBRATION
    try:
        found = Calibration.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Calibration(margin=margin)
    except (ValidationError, OSError) as error:
        reason = str(error.errors()[0]["msg"] if isinstance(error, ValidationError) else error)
        raise KgflowError(f"{path} is damaged ({reason}): {_remedy(directory)}") from None
    if found.margin != margin or found.model != digest(directory):
        raise KgflowError(f"{path} is of another model than the run's: {_remedy(directory)}")
    return found


def write_calibration(directory: Path, found: Calibration) -> None:
    """Keep a calibration with its run."""
    write_atomic(directory / CALIBRATION, found.model_dump_json(indent=1).encode())


def learn(
    model: Model,
    data: Dataset,
    known: QueryIndex,
    choosing: Triples,
    margin: float,
    seed: int,
    directory: Path,
    progress: Callable[[float], None] = lambda share: None,
) -> Calibration:
    """Learn the calibration of a model from facts that it was not trained on.

    Args:
        model: what scores.
        data: the names.
        known: the queries of all known facts.
        choosing: what to learn from.
        margin: of the loss.
        seed: of what is drawn.
        directory: the run's, for the digest of its model.
        progress: called with the share of the work that is done.
    """
    census = count(model, data, known, choosing, seed, progress)
    return calibrate(census, margin, seed, digest(directory))


def count(
    model: Model,
    data: Dataset,
    known: QueryIndex,
    facts: Triples,
    seed: int,
    progress: Callable[[float], None] = lambda share: None,
) -> CandidateScores:
    """The candidates of facts, of `MOST` of them drawn where there are more."""
    if len(facts) > MOST:
        facts = facts.take(np.random.default_rng(seed).permutation(len(facts))[:MOST])
    return score_candidates(model, data.index(facts), known, seed, progress)


def digest(directory: Path) -> str:
    """A hash of the model that a run holds."""
    return file_digest(directory / MODEL)


def _remedy(directory: Path) -> str:
    return f"run kgflow calibrate {directory}"
