"""Loss kernels as functions that autograd can differentiate."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from kgflow.kernels.blocks import BLOCK
from kgflow.kernels.entities import EncodeKeys, Interaction
from kgflow.kernels.keys import AutogradKeys
from kgflow.kernels.loss_kernel import LossKernel, Targets, WholeGradient
from kgflow.kernels.matrix_product import LogisticKernel
from kgflow.kernels.pairwise import PairwiseLogistic


def one_vs_all(
    Q: Tensor,
    a: Tensor,
    table: Tensor,
    encode: EncodeKeys,
    targets: Targets,
    interaction: Interaction | None = None,
    block: int = BLOCK,
) -> Tensor:
    """Compute the logistic loss of each query against every entity (see `LogisticKernel`).

    Args:
        Q: query vectors, ``(B, m)``.
        a: bias terms of the queries, margin included, ``(B,)``.
        table: entity embeddings, ``(E, w)``.
        encode: function from embeddings to keys, without parameters of its own.
        targets: c, y and e.
        interaction: interaction of Q and K if it is not the matrix product.
        block: entities at a time.

    Returns:
        Scalar loss, differentiable once with respect to Q, a and table.

    Example:
        >>> Q, a, K = torch.zeros(1, 2), torch.zeros(1), torch.zeros(3, 2)
        >>> true = Targets(torch.ones(1), torch.tensor([0]), torch.tensor([2]), torch.ones(1))
        >>> one_vs_all(Q, a, K, lambda x: (x, x.sum(-1)), true)  # 3 log 2
        tensor(2.0794)
    """
    keys = AutogradKeys(encode)
    if interaction is None:
        return differentiable_loss(Q, a, table, LogisticKernel(keys, block=block), targets)
    return differentiable_loss(Q, a, table, PairwiseLogistic(keys, interaction), targets)


def differentiable_loss(
    Q: Tensor, a: Tensor, table: Tensor, kernel: LossKernel, targets: Targets
) -> Tensor:
    """Return a kernel's loss as a scalar, differentiable once with respect to Q, a and table."""
    return _KernelLoss.apply(Q, a, table, kernel, targets)  # type: ignore[no-untyped-call]


class _KernelLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        kernel: LossKernel,
        targets: Targets,
    ) -> Tensor:
        out = torch.empty_like(table)
        found = kernel(Q, a, table, targets, WholeGradient(out))
        ctx.save_for_backward(found.Q, found.a, out)
        assert found.loss is not None
        return found.loss.to(Q.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        grad_Q, grad_a, grad_table = ctx.saved_tensors
        return grad * grad_Q, grad * grad_a, grad * grad_table, None, None
