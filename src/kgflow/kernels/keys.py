"""How entity rows become keys, and how a gradient by the keys becomes one by the rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from kgflow.kernels.entities import Lower


class KeyMap(ABC):
    """The map from rows ``(N, w)`` to K ``(N, m)`` and b ``(N,)``, with its backward pass."""

    @abstractmethod
    def width(self, rows: Tensor) -> int:
        """The number m of columns that these rows' keys have."""

    @abstractmethod
    def forward(self, rows: Tensor, K: Tensor, b: Tensor) -> None:
        """Write K and b."""

    @abstractmethod
    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        """Write the gradient by the rows of the last `forward` to `out` ``(N, w)``.

        grad_K may be overwritten.
        """


class AutogradKeys(KeyMap):
    """Any lowering, differentiated by autograd.

    Args:
        lower: rows to K and b.
    """

    def __init__(self, lower: Lower) -> None:
        self.lower = lower

    def width(self, rows: Tensor) -> int:
        """As the lowering gives it."""
        return self.lower(rows[:1])[0].shape[1]

    def forward(self, rows: Tensor, K: Tensor, b: Tensor) -> None:
        """Write K and b."""
        with torch.enable_grad():
            self.rows = rows.detach().requires_grad_()
            self.found = self.lower(self.rows)
        K.copy_(self.found[0].detach())
        b.copy_(self.found[1].detach())

    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        """Write the gradient by the rows."""
        pairs = zip(self.found, (grad_K, grad_b), strict=True)
        # A model may have a b that depends on nothing.
        outputs, gradients = zip(*(p for p in pairs if p[0].requires_grad), strict=True)
        out.copy_(torch.autograd.grad(outputs, self.rows, gradients)[0])


class RowKeys(KeyMap):
    """Inner products: the rows are the keys, and b is zero."""

    def width(self, rows: Tensor) -> int:
        """That of the rows."""
        return rows.shape[1]

    def forward(self, rows: Tensor, K: Tensor, b: Tensor) -> None:
        """Copy the rows."""
        K.copy_(rows)
        b.zero_()

    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        """Copy the gradient."""
        out.copy_(grad_K)


class BiasedKeys(KeyMap):
    """Another map of all but the last number of a row, which is added to b.

    Args:
        keys: the other map.
    """

    def __init__(self, keys: KeyMap) -> None:
        self.keys = keys

    def width(self, rows: Tensor) -> int:
        """That of the other map."""
        return self.keys.width(rows[:, :-1])

    def forward(self, rows: Tensor, K: Tensor, b: Tensor) -> None:
        """Write K and b, and add the bias."""
        self.keys.forward(rows[:, :-1], K, b)
        b.add_(rows[:, -1])

    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        """By the bias it is that by b."""
        self.keys.backward(grad_K, grad_b, out[:, :-1])
        out[:, -1] = grad_b


class FoldedKeys(KeyMap):
    r"""Squared Wasserstein distances: K = Lᵀ(folded parts), b = -|K|², in few passes.

    .. math:: K_j = \sum_i L_{ij} c_i, \quad c_i = x_i \text{ or } |x_i|, \quad b = -\|K\|^2

    For inner products of flows b is zero.

    Args:
        folded: for each part of a row, whether it enters as its absolute value.
        factor: L, the lower triangular factor of the Gram matrix.
        distance: whether b is -|K|², or zero.
    """

    def __init__(
        self, folded: Sequence[bool], factor: Sequence[Sequence[float]], distance: bool = True
    ) -> None:
        self.folded, self.factor = tuple(folded), [list(row) for row in factor]
        self.distance = distance
        size = range(len(self.folded))
        # NFE-1 and the point models have the identity: nothing is mixed, only folded.
        self.plain = all(self.factor[i][j] == (i == j) for i in size for j in size)

    def width(self, rows: Tensor) -> int:
        """That of the rows."""
        return rows.shape[1]

    def forward(self, rows: Tensor, K: Tensor, b: Tensor) -> None:
        """Fold, mix, and take the norm."""
        self.rows, self.K = rows, K
        for part, x, folded in self._parts(K):
            torch.abs(x, out=part) if folded else part.copy_(x)
        if not self.plain:
            self._mix(K, transposed=False)
        if self.distance:
            torch.square(torch.linalg.vector_norm(K, dim=1), out=b).neg_()
        else:
            b.zero_()

    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        """By b it is -2K or nothing, by K what L and the signs make of it."""
        if self.distance:
            torch.addcmul(grad_K, self.K, grad_b[:, None], value=-2, out=out)
        else:
            out.copy_(grad_K)
        if not self.plain:
            self._mix(out, transposed=True)
        # The gradient by K has served, and gives its room to the signs.
        spare = grad_K.chunk(len(self.folded), dim=1)
        for (part, x, folded), sign in zip(self._parts(out), spare, strict=True):
            if folded:
                part.mul_(torch.sign(x, out=sign))

    def _parts(self, x: Tensor) -> Iterable[tuple[Tensor, Tensor, bool]]:
        count = len(self.folded)
        return zip(x.chunk(count, dim=1), self.rows.chunk(count, dim=1), self.folded, strict=True)

    def _mix(self, x: Tensor, transposed: bool) -> None:
        # In place: L is triangular, so the parts not yet overwritten are all that is needed.
        parts, L = x.chunk(len(self.folded), dim=1), self.factor
        for j in reversed(range(len(parts))) if transposed else range(len(parts)):
            parts[j].mul_(L[j][j])
            for i in range(j) if transposed else range(j + 1, len(parts)):
                parts[j].add_(parts[i], alpha=L[j][i] if transposed else L[i][j])
