"""kgflow: knowledge graph embedding by normalizing flows.

Example:
    >>> import kgflow
    >>> kgflow.load("world").name
    'world'
    >>> run = kgflow.train("world")  # doctest: +SKIP
    >>> run.predict(head="France", relation="borders", k=5)  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgflow.config import Experiment
    from kgflow.data import Dataset, describe, load
    from kgflow.errors import KgflowError
    from kgflow.models import MODELS, FlowModel, Model
    from kgflow.runs.ensemble import ensemble
    from kgflow.runs.plugins import load_plugin
    from kgflow.runs.run import Run
    from kgflow.runs.run import open_run as open  # noqa: A004
    from kgflow.runs.start import resume, train
    from kgflow.serving.client import Client

__all__ = [
    "MODELS",
    "Client",
    "Dataset",
    "Experiment",
    "FlowModel",
    "KgflowError",
    "Model",
    "Run",
    "describe",
    "ensemble",
    "load",
    "load_plugin",
    "open",
    "resume",
    "train",
]

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
    "load_plugin": "kgflow.runs.plugins",
    "open": "kgflow.runs.run",
    "resume": "kgflow.runs.start",
    "train": "kgflow.runs.start",
}
"""Modules of the public names, imported when a name is first used: `import kgflow` is fast."""


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOME:
        raise AttributeError(f"module 'kgflow' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), "open_run" if name == "open" else name)


def __dir__() -> list[str]:
    return sorted(__all__)
