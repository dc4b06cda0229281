"""The 1-vs-all loss: one pass over the entities gives its value and its gradient."""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.kernels.blocks import BLOCK, blocks
from kgflow.kernels.buffers import Buffers
from kgflow.kernels.entities import wide_query
from kgflow.kernels.keys import KeyMap
from kgflow.kernels.pullback import Dense, Pullback
from kgflow.kernels.sink import Sink


class Targets(NamedTuple):
    """What is true of a batch: a number c per query and a sparse y, and e if it is not 0.

    c ``(B,)``; row, column ``(P,)`` are positions in the (batch x entities) matrix, y, e ``(P,)``.
    """

    c: Tensor
    row: Tensor
    column: Tensor
    y: Tensor
    e: Tensor | None = None


class Gradients(NamedTuple):
    """The loss, or None where it was not asked for, and its gradients by Q and a."""

    loss: Tensor | None
    Q: Tensor
    a: Tensor


class Pass(Protocol):
    """One pass over the entities: the loss of a batch, and its gradients."""

    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        targets: Targets,
        sink: Sink,
        value: bool = True,
    ) -> Gradients:
        """As `Kernel` says."""


class Kernel:
    r"""The loss of each query against every entity, without a (batch x entities) matrix.

    .. math:: \sum_i c_i \sum_j \mathrm{softplus}(s_{ij}) - \sum_{ij} y_{ij} s_{ij}
              + \sum_{ij} e_{ij} \mathrm{softplus}(s_{ij}), \quad S = QK^T + a + b

    with sparse y and e. With c the number of true tails and y = 1 on them it is the sum, over these
    triples, of the paper's loss. The gradient by S is :math:`(c + e)\,\sigma(S) - y`: between three
    matrix products per block of entities stands one sigmoid in place. a and b are two more columns
    of Q and K, so that their sums and gradients fall out of the same products. All buffers are used
    again.

    Args:
        keys: how rows become keys, and back.
        pullback: how the gradient by S becomes those by Q and K.
        block: entities at a time.
    """

    def __init__(self, keys: KeyMap, pullback: Pullback | None = None, block: int = BLOCK) -> None:
        self.keys, self.pullback, self.block = keys, pullback or Dense(), block
        self.buffers = Buffers()

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
        """One pass.

        Args:
            Q: ``(B, m)``.
            a: ``(B,)``; the margin belongs here.
            table: entity rows, ``(E, w)``.
            targets: c and y.
            sink: takes the gradient by the rows as tails.
            value: whether the loss itself is wanted, which costs one more look at every score.
        """
        wide = wide_query(Q, a)
        loss = Q.new_zeros((), dtype=torch.float64) if value else None
        targets = by_column(targets)
        self.pullback.begin(wide, targets.c, float(targets.y.mean()))
        edges = torch.arange(0, len(table) + self.block, self.block, device=Q.device)
        bounds = torch.searchsorted(targets.column, edges).tolist()
        for number, (low, high) in enumerate(blocks(len(table), self.block)):
            K = wide_keys(self.keys, table[low:high], self.buffers, self.block)
            S = self.buffers("S", (len(Q), self.block), Q).flatten()[: len(Q) * len(K)]
            S = torch.mm(self.pullback.query, K.T, out=S.view(len(Q), len(K)))
            here = slice(bounds[number], bounds[number + 1])
            true, y = (targets.row[here], targets.column[here] - low), targets.y[here]
            if loss is not None:
                loss += self._loss(self.pullback.logits(S), targets.c, true, y)
            if targets.e is not None:
                extra, y = also(self.pullback.at(S, true), y, targets.e[here])
                loss = loss if loss is None else loss + extra
            spare = self.buffers("grad", (self.block, K.shape[1]), K)[: len(K)]
            grad = self.pullback.block(S, K, true, y, spare)
            self.keys.backward(grad[:, :-2], grad[:, -1], sink.room(low, high))
            sink.done(low, high)
        grad_Q = self.pullback.end()
        return Gradients(loss, grad_Q[:, :-2], grad_Q[:, -2])

    def _loss(self, S: Tensor, c: Tensor, true: tuple[Tensor, Tensor], y: Tensor) -> Tensor:
        # A few rows at a time: another matrix of this size would be the largest buffer of all.
        sums = torch.cat([softplus(S[low:high]).sum(1) for low, high in blocks(len(S), 32)])
        if self.pullback.floor:
            sums -= self.pullback.floor * S.sum(1)
        return (sums * c).sum() - (S[true] * y).sum()


def wide_keys(keys: KeyMap, rows: Tensor, buffers: Buffers, block: int) -> Tensor:
    """K, a column of ones for a, and b, in a buffer for `block` rows."""
    wide = buffers("K", (block, keys.width(rows) + 2), rows)[: len(rows)]
    keys.forward(rows, wide[:, :-2], wide[:, -1])
    wide[:, -2] = 1
    return wide


def by_column(targets: Targets) -> Targets:
    """The same with their entries in the order of their columns."""
    order = torch.argsort(targets.column, stable=True)
    row, column, y = (part[order] for part in (targets.row, targets.column, targets.y))
    return Targets(targets.c, row, column, y, None if targets.e is None else targets.e[order])


def also(s: Tensor, y: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
    """The loss that e adds to scores s, each ``(P,)``, and the y that has its gradient."""
    return (softplus(s) * e).sum(), y - e * torch.sigmoid(s)
