"""Which entities a model is sure of."""

from typing import TYPE_CHECKING

from kgflow.errors import KgflowError
from kgflow.run import Run

if TYPE_CHECKING:
    import polars as pl


def entity_uncertainty(run: Run) -> "pl.DataFrame":
    """Every entity with its entropy change and its degree in training, most certain first.

    Columns: entity (label or name), type, uncertainty (:math:`H(f_e(x_0)) - H(x_0)` in nats),
    degree.
    """
    import numpy as np
    import polars as pl

    entropy = run.predictor.entropy["entity"]
    if entropy is None:
        name = run.config.model.name
        raise KgflowError(f"{name} knows no uncertainty: its x0 is a point, or discrete")
    data, ends = run.data, np.concatenate([run.data.train.h, run.data.train.t])
    frame = pl.DataFrame(
        {
            "entity": [data.label(i) for i in range(len(data.entities))],
            "type": [", ".join(data.types.get(name, ())) for name in data.entities],
            "uncertainty": entropy,
            "degree": np.bincount(ends, minlength=len(data.entities)),
        }
    )
    return frame.sort("uncertainty")
