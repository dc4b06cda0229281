"""The losses over all entities of models that are no matrix product."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.kernels.blocks import blocks
from kgflow.kernels.entities import TILE, Interaction
from kgflow.kernels.kernel import Gradients, Targets, also, by_column
from kgflow.kernels.keys import KeyMap
from kgflow.kernels.sink import Sink


class Pairwise(ABC):
    r"""A loss of scores :math:`s_{ij} = g(q_i, k_j) + a_i + b_j`.

    A few entities at a time meet all queries of the batch under autograd, are differentiated at
    once and forgotten, so that memory stays bounded.

    Args:
        keys: how rows become keys, and back.
        interaction: g, of all queries and some keys.
    """

    def __init__(self, keys: KeyMap, interaction: Interaction) -> None:
        self.keys, self.interaction = keys, interaction

    @abstractmethod
    def begin(self, scores: Iterator[Tensor]) -> None:
        """A batch begins; its scores ``(B, N)``, block by block, for who needs them before."""

    @abstractmethod
    def cost(self, S: Tensor) -> Tensor:
        """What a block's scores ``(B, N)`` add to the loss of each query, ``(B,)``."""

    @abstractmethod
    def slope(self, S: Tensor) -> Tensor:
        """The derivative of the loss by a block's scores, ``(B, N)``; may overwrite them."""

    @torch.no_grad()
    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        targets: Targets,
        sink: Sink,
        value: bool = True,
    ) -> Gradients:
        """One pass; the arguments are those of `Kernel`."""
        loss = Q.new_zeros((), dtype=torch.float64) if value else None
        targets = by_column(targets)
        size = self._size(Q, table)
        edges = torch.arange(0, len(table) + size, size, device=Q.device)
        bounds = torch.searchsorted(targets.column, edges).tolist()
        grad_Q, grad_a = torch.zeros_like(Q), torch.zeros_like(a)
        query = Q.detach().requires_grad_()
        self.begin(self._scores(Q, a, table))
        for number, (low, high) in enumerate(blocks(len(table), size)):
            K, b = self._keys(table[low:high])
            K.requires_grad_()
            with torch.enable_grad():
                met = self.interaction(query, K)
            S = met.detach() + a[:, None] + b
            here = slice(bounds[number], bounds[number + 1])
            true, y = (targets.row[here], targets.column[here] - low), targets.y[here]
            if loss is not None:
                loss += (self.cost(S) * targets.c).sum() - (S[true] * y).sum()
            if targets.e is not None:
                extra, y = also(S[true], y, targets.e[here])
                loss = loss if loss is None else loss + extra
            G = self.slope(S).mul_(targets.c[:, None])
            G.index_put_(true, -y, accumulate=True)
            by_Q, by_K = torch.autograd.grad(met, (query, K), G)
            grad_Q += by_Q
            grad_a += G.sum(1)
            self.keys.backward(by_K, G.sum(0), sink.room(low, high))
            sink.done(low, high)
        return Gradients(loss, grad_Q, grad_a)

    def _size(self, Q: Tensor, table: Tensor) -> int:
        return max(1, TILE // max(1, len(Q) * max(self.keys.width(table), Q.shape[1])))

    def _keys(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        K, b = rows.new_empty(len(rows), self.keys.width(rows)), rows.new_empty(len(rows))
        self.keys.forward(rows, K, b)
        return K, b

    def _scores(self, Q: Tensor, a: Tensor, table: Tensor) -> Iterator[Tensor]:
        for low, high in blocks(len(table), self._size(Q, table)):
            K, b = self._keys(table[low:high])
            yield self.interaction(Q, K) + a[:, None] + b


class PairwiseKernel(Pairwise):
    """What `Kernel` computes, for models that are no matrix product.

    Args:
        keys: how rows become keys, and back.
        interaction: g, of all queries and some keys.
        floor: what y has everywhere, as a share of c.
    """

    def __init__(self, keys: KeyMap, interaction: Interaction, floor: float = 0.0) -> None:
        super().__init__(keys, interaction)
        self.floor = floor

    def begin(self, scores: Iterator[Tensor]) -> None:
        """Nothing is needed before."""

    def cost(self, S: Tensor) -> Tensor:
        """Softplus."""
        cost = softplus(S).sum(1)
        return cost - self.floor * S.sum(1) if self.floor else cost

    def slope(self, S: Tensor) -> Tensor:
        """The logistic function."""
        slope = S.sigmoid_()
        return slope.sub_(self.floor) if self.floor else slope


class PairwiseSoftmax(Pairwise):
    """What `SoftmaxKernel` computes, for models that are no matrix product; scores twice."""

    def begin(self, scores: Iterator[Tensor]) -> None:
        """Sum the exponentials of all scores."""
        self.log_sum = torch.stack([S.logsumexp(1) for S in scores]).logsumexp(0)
        self.counted = False

    def cost(self, S: Tensor) -> Tensor:
        """The logarithm of the sum, with the first block."""
        first, self.counted = not self.counted, True
        return self.log_sum if first else torch.zeros_like(self.log_sum)

    def slope(self, S: Tensor) -> Tensor:
        """The softmax."""
        return S.sub_(self.log_sum[:, None]).exp_()
