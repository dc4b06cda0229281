"""1-vs-all: the paper's loss."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kgflow.data import QueryIndex
from kgflow.errors import KgflowError
from kgflow.kernels import (
    BLOCK,
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
    gradient: Annotated[
        Literal["exact", "sampled"],
        Field(description="Gradient of the scores: exact, or an unbiased sample of it."),
    ] = "exact"
    confidence: Annotated[
        Literal["ignore", "weight", "soft-label", "regression"],
        Field(description="Use of confidences of triples: weights, labels, or none."),
    ] = "weight"

    def build(self, model: Model, index: QueryIndex) -> "OneVsAll":
        """Create the loss."""
        return OneVsAll(
            model,
            weighted(index, self.confidence),
            self.margin,
            self.dropout,
            GRADIENTS[self.gradient](),
            confidence=CONFIDENCES[self.confidence](),
            query_dropout=self.query_dropout,
        )


class OneVsAll(AllEntities):
    r"""Binary cross entropy of every triple against every entity, grouped by (h, r).

    .. math:: \ell(h, r, t) = \sum_{t'} \log(1 + \exp(-y_{t'} (\gamma + f(h, r, t'))))

    with :math:`y_t = 1` and -1 elsewhere; the mean over the triples of the batch. A query with n
    true tails is scored once: its n triples together cost :math:`n \sum_{t'}
    \mathrm{softplus}(s_{t'}) - \sum_t s_t`.

    Args:
        model: Model to train.
        index: Training queries.
        margin: The paper's γ.
        dropout: Dropout probability of head embeddings.
        score_gradient: Gradient of the scores, exact by default.
        block: Entities per block.
        confidence: Meaning of the confidences of triples; weights by default.
        query_dropout: Dropout probability of query vectors.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.
    """

    def __init__(
        self,
        model: Model,
        index: QueryIndex,
        margin: float,
        dropout: float = 0.0,
        score_gradient: ScoreGradient | None = None,
        block: int = BLOCK,
        confidence: Confidence = WEIGHTED,
        query_dropout: float = 0.0,
    ) -> None:
        super().__init__(model, index, margin, dropout, query_dropout)
        self.score_gradient, self.block, self.confidence = score_gradient, block, confidence

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """Return c of queries and y, e of their triples, divided by the batch size."""
        return triple_targets(self.index, rows, self.model.entity.weight, self.confidence)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        """Return the kernel: one sigmoid between three matrix products."""
        if self.model.interaction is None:
            return LogisticKernel(keys, self.score_gradient, self.block)
        if self.score_gradient is not None and not isinstance(self.score_gradient, ExactGradient):
            raise KgflowError(
                f"{self.model.name} does not score by an inner product:"
                " train it with training.loss.gradient=exact"
            )
        return PairwiseLogistic(keys, self.model.interaction)
