"""Link prediction evaluation: scores of all entities, filtered ranks, ranking metrics."""

from kgflow.evaluation.metrics import Metrics, metrics
from kgflow.evaluation.ranking import GROUPS, POLICIES, Evaluation, Ranking, rank
from kgflow.evaluation.scoring import Progress, ScoredAnswers, Scorer, no_progress

__all__ = [
    "GROUPS",
    "POLICIES",
    "Evaluation",
    "Metrics",
    "Progress",
    "Ranking",
    "ScoredAnswers",
    "Scorer",
    "metrics",
    "no_progress",
    "rank",
]
