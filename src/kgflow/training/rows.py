"""Some rows of a table, and the gradient by them."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import embedding

Lookup = Callable[[Tensor], Tensor]
"""Ids ``(...)`` to rows ``(..., w)``: a whole table, or the `Rows` that are needed of it."""


class Rows:
    """The rows of some ids as a leaf of autograd, so that no gradient of the whole table is made.

    Args:
        table: all rows, ``(E, w)``.
        ids: those that will be asked for.

    Example:
        >>> rows = Rows(torch.eye(5), torch.tensor([3, 1, 3]))
        >>> rows(torch.tensor([3, 3])).sum().backward()
        >>> rows.ids, rows.grad[:, 0]
        (tensor([1, 3]), tensor([0., 2.]))
    """

    def __init__(self, table: Tensor, ids: Tensor) -> None:
        self.ids = ids.unique()
        self.leaf = table.detach()[self.ids].requires_grad_()

    def __call__(self, ids: Tensor) -> Tensor:
        """The rows of these ids ``(...)``, ``(..., w)``."""
        return embedding(torch.searchsorted(self.ids, ids), self.leaf)

    @property
    def grad(self) -> Tensor:
        """The gradient by the rows of `ids`."""
        return torch.zeros_like(self.leaf) if self.leaf.grad is None else self.leaf.grad
