"""How well a model ranks: scores of all entities, filtered ranks and their metrics."""

from kgflow.evaluation.answers import best_answers
from kgflow.evaluation.evaluation import GROUPS, Evaluation
from kgflow.evaluation.metrics import Metrics, metrics
from kgflow.evaluation.ranking import POLICIES, Ranking, rank

__all__ = [
    "GROUPS",
    "POLICIES",
    "Evaluation",
    "Metrics",
    "Ranking",
    "best_answers",
    "metrics",
    "rank",
]
