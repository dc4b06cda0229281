"""Models: named combinations of x0, f and D, one file per family."""

from importlib import import_module
from pkgutil import iter_modules

from kgflow.models.base import MODELS, Model
from kgflow.models.card import Card, Variant
from kgflow.models.embedding import Embedding
from kgflow.models.entropy import (
    TripleEntropy,
    composed_entropy,
    entity_entropy,
    entity_flow,
    relation_entropy,
    triple_entropy,
)
from kgflow.models.flow_model import FlowModel
from kgflow.models.options import ModelOptions
from kgflow.models.registry import build, model_class, variant, variants
from kgflow.models.wrappers import Biased, Bidirectional, Ensemble

# A model registers itself when its module is imported.
for _module in sorted(found.name for found in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = [
    "MODELS",
    "Biased",
    "Bidirectional",
    "Card",
    "Embedding",
    "Ensemble",
    "FlowModel",
    "Model",
    "ModelOptions",
    "TripleEntropy",
    "Variant",
    "build",
    "composed_entropy",
    "entity_entropy",
    "entity_flow",
    "model_class",
    "relation_entropy",
    "triple_entropy",
    "variant",
    "variants",
]
