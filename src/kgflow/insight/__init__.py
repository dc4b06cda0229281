"""What a model learned, for people to see."""

from kgflow.insight.certainty import entity_uncertainty
from kgflow.insight.plots import overview

__all__ = ["entity_uncertainty", "overview"]
