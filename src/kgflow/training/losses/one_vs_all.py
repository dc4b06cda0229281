"""1-vs-all: the paper's loss."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kgflow.data import QueryIndex
from kgflow.errors import KgflowError
from kgflow.kernels import (
    ExactGradient,
    KeyEncoder,
    LogisticKernel,
    LossKernel,
    PairwiseLogistic,
    SampledGradient,
    ScoreGradient,
    Targets,
)
from kgflow.models import Model
from kgflow.training.losses.all_entities import AllEntities, triple_targets
from kgflow.training.losses.base import MarginSettings
from kgflow.training.losses.confidence import CONFIDENCES, WEIGHTED, Confidence, weighted

GRADIENTS: dict[str, type[ScoreGradient]] = {"exact": ExactGradient, "sampled": SampledGradient}


class OneVsAllSettings(MarginSettings):
    """Settings of the 1-vs-all loss."""

    name: Literal["one-vs-all"] = "one-vs-all"
    gradient: Literal["exact", "sampled"] = Field(
        default="exact", description="Gradient of the scores: exact, or an unbiased sample of it."
    )
    confidence: Literal["ignore", "weight", "soft-label", "regression"] = Field(
        default="weight", description="Use of confidences of triples: weights, labels, or none."
    )

    def build(self, model: Model, index: QueryIndex) -> "OneVsAll":
        return OneVsAll(
            model,
            weighted(index, self.confidence),
            self.margin,
            self.dropout,
            self.query_dropout,
            score_gradient=GRADIENTS[self.gradient](),
            confidence=CONFIDENCES[self.confidence](),
        )


@dataclass(eq=False)
class OneVsAll(AllEntities):
    r"""Binary cross entropy of every triple against every entity, grouped by (h, r).

    .. math:: \ell(h, r, t) = \sum_{t'} \log(1 + \exp(-y_{t'} (\gamma + f(h, r, t'))))

    with :math:`y_t = 1` and -1 elsewhere; the mean over the triples of the batch. A query with n
    true tails is scored once: its n triples together cost :math:`n \sum_{t'}
    \mathrm{softplus}(s_{t'}) - \sum_t s_t`.

    Args:
        score_gradient: Gradient of the scores, exact by default.
        confidence: Meaning of the confidences of triples; weights by default.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.
    """

    score_gradient: ScoreGradient | None = None
    confidence: Confidence = WEIGHTED

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        return triple_targets(self.index, rows, self.model.entity.weight, self.confidence)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        if self.model.interaction is None:
            return LogisticKernel(keys, self.score_gradient, self.block)
        if self.score_gradient is not None and not isinstance(self.score_gradient, ExactGradient):
            raise KgflowError(
                f"{self.model.name} does not score by an inner product:"
                " train it with training.loss.gradient=exact"
            )
        return PairwiseLogistic(keys, self.model.interaction)
