"""The models: named combinations of x0, f and D, one file each."""

from importlib import import_module
from pkgutil import iter_modules

from kgflow.models.base import MODELS, FlowModel, Model, PairwiseModel
from kgflow.models.card import Card
from kgflow.models.distance import is_distance
from kgflow.models.embedding import Embedding
from kgflow.models.entropy import (
    TripleEntropy,
    composed_entropy,
    entity_entropy,
    entity_flow,
    relation_entropy,
    triple_entropy,
)
from kgflow.models.mean import Mean
from kgflow.models.registry import build, model_class, options

# A model is known once its file is read: so a new file is all that a new model needs.
for _module in sorted(found.name for found in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = [
    "MODELS",
    "Card",
    "Embedding",
    "FlowModel",
    "Mean",
    "Model",
    "PairwiseModel",
    "TripleEntropy",
    "build",
    "composed_entropy",
    "entity_entropy",
    "entity_flow",
    "is_distance",
    "model_class",
    "options",
    "relation_entropy",
    "triple_entropy",
]
