"""Binary cross entropy over all entities: 1-vs-all, the loss of the paper, and KvsAll."""

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
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
from kgflow.training.batches import Batch
from kgflow.training.losses.all_entities import AllEntities, triple_targets
from kgflow.training.losses.base import MarginSettings
from kgflow.training.losses.confidence import (
    CONFIDENCES,
    Confidence,
    WeightSettings,
    as_weights,
    weighted,
)

GRADIENTS: dict[str, type[ScoreGradient]] = {"exact": ExactGradient, "sampled": SampledGradient}


class OneVsAllSettings(MarginSettings):
    """Settings of the 1-vs-all loss."""

    name: Literal["one-vs-all"] = "one-vs-all"
    gradient: Literal["exact", "sampled"] = Field(
        default="exact", description="Gradient by the scores: exact, or unbiased from a sample."
    )
    confidence: Literal["ignore", "weight", "soft-label", "regression"] = Field(
        default="weight", description="Use of confidences of triples: as weights, labels, or none."
    )

    def build(self, model: Model, index: QueryIndex) -> "OneVsAll":
        return OneVsAll(
            model,
            weighted(index, self.confidence),
            self.margin,
            self.dropout,
            self.query_dropout,
            score_gradient=GRADIENTS[self.gradient](),
            confidence=CONFIDENCES[self.confidence],
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
    confidence: Confidence = as_weights

    def targets(self, batch: Batch) -> Targets:
        return triple_targets(self.index, batch, self.model.entity.weight, self.confidence)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        if self.model.interaction is None:
            return LogisticKernel(keys, self.score_gradient, self.block)
        if self.score_gradient is not None and not isinstance(self.score_gradient, ExactGradient):
            raise KgflowError(
                f"{self.model.name} does not score by an inner product:"
                " train it with training.loss.gradient=exact"
            )
        return PairwiseLogistic(keys, self.model.interaction)


class KvsAllSettings(WeightSettings, MarginSettings):
    """Settings of the KvsAll loss."""

    name: Literal["kvsall"] = "kvsall"
    label_smoothing: Annotated[float, Field(ge=0, lt=1, description="Label smoothing ε.")] = 0.0

    def build(self, model: Model, index: QueryIndex) -> "KvsAll":
        index = weighted(index, self.confidence)
        dropout = (self.dropout, self.query_dropout)
        return KvsAll(model, index, self.margin, *dropout, label_smoothing=self.label_smoothing)


@dataclass(eq=False)
class KvsAll(AllEntities):
    r"""Binary cross entropy of a query with all its tails at once, with label smoothing.

    .. math:: \ell(h, r) = \sum_{t'} \mathrm{softplus}(s_{t'}) - z_{t'} s_{t'}, \quad
              z = (1 - \epsilon) y + \epsilon / E, \quad s = \gamma + f(h, r, t')

    with y = 1 for true tails and 0 elsewhere; the mean over the queries of the batch. A query with
    many tails counts as much as one with few; the confidence of a fact is its y.

    Args:
        label_smoothing: ε.

    Reference:
        Dettmers, Minervini, Stenetorp, Riedel: Convolutional 2D Knowledge Graph Embeddings,
        AAAI 2018.
    """

    label_smoothing: float = 0.0

    def targets(self, batch: Batch) -> Targets:
        """Return c = 1 per query and y = 1 - ε per fact, divided by the number of queries.

        A query of which a batch holds k of n facts counts k / n, with all its tails as labels.
        """
        batch, share = batch.with_all_tails(self.index)
        share /= share.sum()
        labels = (1 - self.label_smoothing) * batch.weights() * share[batch.row]
        c, y = (torch.from_numpy(x).to(self.model.entity.weight) for x in (share, labels))
        return Targets(c, self.tensor(batch.row), self.tensor(batch.tail), y)

    def kernel(self, keys: KeyEncoder) -> LossKernel:
        """Return the 1-vs-all kernel with the smallest label ε / E."""
        floor = self.label_smoothing / self.index.entities
        if self.model.interaction is None:
            return LogisticKernel(keys, ExactGradient(floor), self.block)
        return PairwiseLogistic(keys, self.model.interaction, floor)
