"""A kernel's loss as a function that autograd knows."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from kgflow.kernels.blocks import BLOCK
from kgflow.kernels.entities import Interaction, Lower
from kgflow.kernels.kernel import Kernel, Pass, Targets
from kgflow.kernels.keys import AutogradKeys
from kgflow.kernels.pairwise import PairwiseKernel
from kgflow.kernels.sink import Stored


def one_vs_all(
    Q: Tensor,
    a: Tensor,
    table: Tensor,
    lower: Lower,
    targets: Targets,
    interaction: Interaction | None = None,
    block: int = BLOCK,
) -> Tensor:
    """The loss of each query against every entity.

    Args:
        Q: ``(B, m)``.
        a: ``(B,)``; the margin belongs here.
        table: entity rows, ``(E, w)``.
        lower: how rows become keys; it may hold no parameters but these rows.
        targets: c and y.
        interaction: how queries meet keys, if not by the matrix product.
        block: entities at a time.

    Returns:
        The loss, a scalar; it can be differentiated once, by Q, a and table.

    Example:
        >>> Q, a, K = torch.zeros(1, 2), torch.zeros(1), torch.zeros(3, 2)
        >>> true = Targets(torch.ones(1), torch.tensor([0]), torch.tensor([2]), torch.ones(1))
        >>> one_vs_all(Q, a, K, lambda rows: (rows, rows.sum(-1)), true)  # 3 log 2
        tensor(2.0794)
    """
    keys = AutogradKeys(lower)
    kernel = Kernel(keys, block=block) if interaction is None else PairwiseKernel(keys, interaction)
    return differentiable(Q, a, table, kernel, targets)


def differentiable(Q: Tensor, a: Tensor, table: Tensor, kernel: Pass, targets: Targets) -> Tensor:
    """What a kernel computes, as a scalar that can be differentiated once, by Q, a and table."""
    return _Differentiable.apply(Q, a, table, kernel, targets)  # type: ignore[no-untyped-call]


class _Differentiable(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        kernel: Pass,
        targets: Targets,
    ) -> Tensor:
        out = torch.empty_like(table)
        found = kernel(Q, a, table, targets, Stored(out))
        ctx.save_for_backward(found.Q, found.a, out)
        assert found.loss is not None
        return found.loss.to(Q.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        grad_Q, grad_a, grad_table = ctx.saved_tensors
        return grad * grad_Q, grad * grad_a, grad * grad_table, None, None
