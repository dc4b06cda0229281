"""The search for good settings."""

from kgflow.tuning.hyperband import HyperbandProtocol
from kgflow.tuning.paper import PaperProtocol
from kgflow.tuning.protocol import Protocol
from kgflow.tuning.search import Search, Tried, best_experiment, tune
from kgflow.tuning.tpe import TpeProtocol

PROTOCOLS: dict[str, type[Protocol]] = {
    "paper": PaperProtocol,
    "tpe": TpeProtocol,
    "hyperband": HyperbandProtocol,
}

__all__ = [
    "PROTOCOLS",
    "HyperbandProtocol",
    "PaperProtocol",
    "Protocol",
    "Search",
    "TpeProtocol",
    "Tried",
    "best_experiment",
    "tune",
]
