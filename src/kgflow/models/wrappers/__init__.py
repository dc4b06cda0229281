"""Wrappers of models: entity bias, bidirectional scoring, ensembles, tied inverse relations."""

from kgflow.models.wrappers.base import Biased, Wrapper
from kgflow.models.wrappers.bidirectional import Bidirectional, tie_inverse_relations
from kgflow.models.wrappers.ensemble import Ensemble

__all__ = ["Biased", "Bidirectional", "Ensemble", "Wrapper", "tie_inverse_relations"]
