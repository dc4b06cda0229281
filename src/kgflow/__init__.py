"""kgflow: knowledge graph embedding by normalizing flows.

Example:
    >>> import kgflow
    >>> kgflow.load("world").name
    'world'
    >>> run = kgflow.train("world", model="nfe-1", dim=128, epochs=50)  # doctest: +SKIP
    >>> run.predict(head="France", relation="borders", k=5)  # doctest: +SKIP
"""

from importlib import import_module
from typing import Any

_HOME = {
    "Client": "kgflow.serving.client",
    "Dataset": "kgflow.data",
    "Experiment": "kgflow.config",
    "FlowModel": "kgflow.models",
    "KgflowError": "kgflow.errors",
    "MODELS": "kgflow.models",
    "Model": "kgflow.models",
    "Run": "kgflow.runs.run",
    "describe": "kgflow.data",
    "ensemble": "kgflow.runs.ensemble",
    "load": "kgflow.data",
    "resume": "kgflow.runs.training",
    "train": "kgflow.runs.training",
}

__all__ = [*_HOME, "open"]


def open(directory: str, device: str = "cpu") -> Any:  # noqa: A001, ANN401
    """A saved run, ready to evaluate and predict; see `kgflow.Run`."""
    from kgflow.runs.run import Run

    return Run.open(directory, device)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    # Names are resolved when they are used (PEP 562), so that `kgflow --help` loads no torch.
    if name not in _HOME:
        raise AttributeError(f"module 'kgflow' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
