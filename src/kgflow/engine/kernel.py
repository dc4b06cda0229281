"""The 1-vs-all loss: one pass over the entities gives its value and its gradient."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus

from kgflow.engine.blocks import BLOCK, Lower, blocks


class Targets(NamedTuple):
    """What is true of a batch: a number c per query and a sparse y.

    c ``(B,)``; row, column ``(P,)`` are positions in the (batch x entities) matrix, y ``(P,)``.
    """

    c: Tensor
    row: Tensor
    column: Tensor
    y: Tensor


def one_vs_all(
    Q: Tensor, a: Tensor, table: Tensor, lower: Lower, targets: Targets, block: int = BLOCK
) -> Tensor:
    r"""The loss of each query against every entity, without a (batch x entities) matrix.

    .. math:: \sum_i c_i \sum_j \mathrm{softplus}(s_{ij}) - \sum_{ij} y_{ij} s_{ij},
              \quad S = QK^T + a + b

    With c the number of true tails and y = 1 on them it is the sum, over these triples, of the
    paper's loss. The gradient by S is :math:`c\,\sigma(S) - y`; it is formed block by block in the
    forward pass, when S is at hand.

    Args:
        Q: ``(B, m)``.
        a: ``(B,)``; the margin belongs here.
        table: entity rows, ``(E, w)``.
        lower: how rows become keys; it may hold no parameters but these rows.
        targets: c and y.
        block: entities at a time.

    Returns:
        The loss, a scalar; it can be differentiated once, by Q, a and table.

    Example:
        >>> Q, a, K = torch.zeros(1, 2), torch.zeros(1), torch.zeros(3, 2)
        >>> true = Targets(torch.ones(1), torch.tensor([0]), torch.tensor([2]), torch.ones(1))
        >>> one_vs_all(Q, a, K, lambda rows: (rows, rows.sum(-1)), true)  # 3 log 2
        tensor(2.0794)
    """
    return _OneVsAll.apply(Q, a, table, lower, targets, block)  # type: ignore[no-untyped-call]


class _OneVsAll(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        lower: Lower,
        targets: Targets,
        block: int,
    ) -> Tensor:
        loss = Q.new_zeros((), dtype=torch.float64)
        grad_Q, grad_a, grad_table = (
            torch.zeros_like(Q),
            torch.zeros_like(a),
            torch.empty_like(table),
        )
        c, row, column, y = _by_column(targets)
        for low, high in blocks(len(table), block):
            with torch.enable_grad():
                rows = table[low:high].detach().requires_grad_()
                K, b = lower(rows)
            S = torch.addmm(b, Q, K.detach().T).add_(a[:, None])
            here = slice(*torch.searchsorted(column, torch.tensor([low, high]).to(column)).tolist())
            true = (row[here], column[here] - low)
            loss += (c * softplus(S).sum(1)).sum() - (y[here] * S[true]).sum()
            G = S.sigmoid_().mul_(c[:, None])
            G.index_put_(true, -y[here], accumulate=True)
            grad_Q.addmm_(G, K.detach())
            grad_a += G.sum(1)
            grad_table[low:high] = _pull_back(rows, (K, G.T @ Q), (b, G.sum(0)))
        ctx.save_for_backward(grad_Q, grad_a, grad_table)
        return loss.to(Q.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        grad_Q, grad_a, grad_table = ctx.saved_tensors
        return grad * grad_Q, grad * grad_a, grad * grad_table, None, None, None


def _pull_back(rows: Tensor, *pairs: tuple[Tensor, Tensor]) -> Tensor:
    # A model may have a b that depends on nothing.
    outputs, gradients = zip(*(pair for pair in pairs if pair[0].requires_grad), strict=True)
    return torch.autograd.grad(outputs, rows, gradients)[0]


def _by_column(targets: Targets) -> Targets:
    order = torch.argsort(targets.column, stable=True)
    return Targets(targets.c, *(part[order] for part in targets[1:]))
