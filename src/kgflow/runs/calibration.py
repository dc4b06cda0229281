"""Calibration file of a run."""

from pathlib import Path

import numpy as np
from pydantic import ValidationError

from kgflow.data import Triples
from kgflow.errors import KgflowError
from kgflow.io import file_digest, write_atomic
from kgflow.uncertainty import Calibration

CALIBRATION, MODEL = "calibration.json", "model.safetensors"

MAX_TRIPLES = 2000
"""Largest number of triples to calibrate on: more take minutes and change little."""


def read_calibration(directory: Path, margin: float) -> Calibration:
    """Read the calibration of a run; without a file, probabilities are those of the loss."""
    path = directory / CALIBRATION
    remedy = f"run kgflow calibrate {directory}"
    try:
        found = Calibration.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Calibration(margin=margin)
    except (ValidationError, OSError) as error:
        reason = str(error.errors()[0]["msg"] if isinstance(error, ValidationError) else error)
        raise KgflowError(f"{path} is damaged ({reason}): {remedy}") from None
    if found.margin != margin or found.model != model_digest(directory):
        raise KgflowError(f"{path} was fitted to scores of another model: {remedy}")
    return found


def write_calibration(directory: Path, found: Calibration) -> None:
    """Write the calibration of a run."""
    write_atomic(directory / CALIBRATION, found.model_dump_json(indent=1).encode())


def model_digest(directory: Path) -> str:
    """Return a hash of the model file of a run."""
    return file_digest(directory / MODEL)


def sample_triples(triples: Triples, seed: int) -> Triples:
    """Sample `MAX_TRIPLES` triples where there are more."""
    if len(triples) <= MAX_TRIPLES:
        return triples
    return triples.take(np.random.default_rng(seed).permutation(len(triples))[:MAX_TRIPLES])
