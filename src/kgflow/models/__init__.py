"""The models: named combinations of x0, f and D."""

from kgflow.models.ablations import NFE1Mu, NFE1Sigma, NFEPoint
from kgflow.models.catalog import MODELS, build, model_class, options
from kgflow.models.distmult import DistMult
from kgflow.models.model import FlowModel, Model
from kgflow.models.nfe1 import NFE1
from kgflow.models.nfe2 import NFE2, NFE2Paper
from kgflow.models.nfe3 import NFE3, NFE3Softplus
from kgflow.models.table import Table
from kgflow.models.transe import TransE

__all__ = [
    "MODELS",
    "NFE1",
    "NFE2",
    "NFE3",
    "DistMult",
    "FlowModel",
    "Model",
    "NFE1Mu",
    "NFE1Sigma",
    "NFE2Paper",
    "NFE3Softplus",
    "NFEPoint",
    "Table",
    "TransE",
    "build",
    "model_class",
    "options",
]
