"""Loss kernels over all entities for interactions other than the matrix product."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.kernels.entities import TILE, Interaction, blocks
from kgflow.kernels.keys import KeyEncoder
from kgflow.kernels.loss_kernel import GradientAccumulator, Gradients, Targets, add_softplus_targets


class PairwiseKernel(ABC):
    r"""A loss of scores :math:`s_{ij} = g(q_i, k_j) + a_i + b_j`.

    The scores of all queries and a block of entities are computed under autograd, differentiated
    and released, so that memory stays bounded.

    Args:
        keys: encoder of embeddings as keys.
        interaction: g of all queries and a block of keys.
    """

    def __init__(self, keys: KeyEncoder, interaction: Interaction) -> None:
        self.keys, self.interaction = keys, interaction

    @abstractmethod
    def begin(self, scores: Iterator[Tensor]) -> None:
        """Prepare a batch; `scores` yields its S ``(B, N)`` by blocks, if they are needed."""

    @abstractmethod
    def loss(self, S: Tensor) -> Tensor:
        """Return what the scores of a block ``(B, N)`` add to the loss of each query, ``(B,)``."""

    @abstractmethod
    def derivative(self, S: Tensor) -> Tensor:
        """Return the derivative of the loss by each score of a block; S may be overwritten."""

    @torch.no_grad()
    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        targets: Targets,
        accumulator: GradientAccumulator,
        value: bool = True,
    ) -> Gradients:
        loss = Q.new_zeros((), dtype=torch.float64) if value else None
        targets, size = targets.by_column(), self._block_size(Q, table)
        bounds = targets.block_bounds(len(table), size)
        grad_Q, grad_a = torch.zeros_like(Q), torch.zeros_like(a)
        query = Q.detach().requires_grad_()
        self.begin(self._scores(Q, a, table))
        for number, (low, high) in enumerate(blocks(len(table), size)):
            K, b = self.keys.encode(table[low:high])
            K.requires_grad_()
            with torch.enable_grad():
                g = self.interaction(query, K)
            S = g.detach() + a[:, None] + b
            here = slice(bounds[number], bounds[number + 1])
            true, y = (targets.row[here], targets.column[here] - low), targets.y[here]
            if loss is not None:
                loss += (self.loss(S) * targets.c).sum() - (S[true] * y).sum()
            if targets.e is not None:
                extra, y = add_softplus_targets(S[true], y, targets.e[here])
                loss = loss if loss is None else loss + extra
            G = self.derivative(S).mul_(targets.c[:, None])
            G.index_put_(true, -y, accumulate=True)
            block_grad_Q, grad_K = torch.autograd.grad(g, (query, K), G)
            grad_Q += block_grad_Q
            grad_a += G.sum(1)
            self.keys.backward(grad_K, G.sum(0), accumulator.block_buffer(low, high))
            accumulator.finish_block(low, high)
        return Gradients(loss, grad_Q, grad_a)

    def _block_size(self, Q: Tensor, table: Tensor) -> int:
        return max(1, TILE // max(1, len(Q) * max(self.keys.width(table), Q.shape[1])))

    def _scores(self, Q: Tensor, a: Tensor, table: Tensor) -> Iterator[Tensor]:
        for low, high in blocks(len(table), self._block_size(Q, table)):
            K, b = self.keys.encode(table[low:high])
            yield self.interaction(Q, K) + a[:, None] + b


class PairwiseLogistic(PairwiseKernel):
    """Logistic loss of `LogisticKernel` for interactions other than the matrix product.

    Args:
        keys: encoder of embeddings as keys.
        interaction: g of all queries and a block of keys.
        smoothing: value that label smoothing adds to y everywhere, as a fraction of c.
    """

    def __init__(self, keys: KeyEncoder, interaction: Interaction, smoothing: float = 0.0) -> None:
        super().__init__(keys, interaction)
        self.smoothing = smoothing

    def begin(self, scores: Iterator[Tensor]) -> None:
        pass

    def loss(self, S: Tensor) -> Tensor:
        loss = softplus(S).sum(1)
        return loss - self.smoothing * S.sum(1) if self.smoothing else loss

    def derivative(self, S: Tensor) -> Tensor:
        sigmoid = S.sigmoid_()
        return sigmoid.sub_(self.smoothing) if self.smoothing else sigmoid


class PairwiseSoftmax(PairwiseKernel):
    """Cross entropy of `SoftmaxKernel` for other interactions; computes all scores twice."""

    def begin(self, scores: Iterator[Tensor]) -> None:
        self.log_sum = torch.stack([S.logsumexp(1) for S in scores]).logsumexp(0)
        self.counted = False

    def loss(self, S: Tensor) -> Tensor:
        first, self.counted = not self.counted, True
        return self.log_sum if first else torch.zeros_like(self.log_sum)

    def derivative(self, S: Tensor) -> Tensor:
        return S.sub_(self.log_sum[:, None]).exp_()
