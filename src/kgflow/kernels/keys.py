"""Encoding of entity embeddings as keys, with the backward pass from keys to embeddings."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from kgflow.kernels.entities import EncodeKeys


class KeyEncoder(ABC):
    """Map from embeddings ``(N, w)`` to K ``(N, m)`` and b ``(N,)``, with its backward pass."""

    @abstractmethod
    def width(self, x: Tensor) -> int:
        """Return the number m of columns of the keys of embeddings x ``(N, w)``."""

    @abstractmethod
    def forward(self, x: Tensor, K: Tensor, b: Tensor) -> None:
        """Write the keys of embeddings x to K and b."""

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys K and b of embeddings x."""
        K, b = x.new_empty(len(x), self.width(x)), x.new_empty(len(x))
        self.forward(x, K, b)
        return K, b

    @abstractmethod
    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        """Write the gradient with respect to the last `forward`'s embeddings to out ``(N, w)``.

        grad_K may be overwritten.
        """


class AutogradKeys(KeyEncoder):
    """Any encoding, differentiated by autograd.

    Args:
        encode_keys: function from embeddings to K and b.
    """

    def __init__(self, encode_keys: EncodeKeys) -> None:
        self.encode_keys = encode_keys

    def width(self, x: Tensor) -> int:
        return self.encode_keys(x[:1])[0].shape[1]

    def forward(self, x: Tensor, K: Tensor, b: Tensor) -> None:
        with torch.enable_grad():
            self.x = x.detach().requires_grad_()
            self.keys = self.encode_keys(self.x)
        K.copy_(self.keys[0].detach())
        b.copy_(self.keys[1].detach())

    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        pairs = zip(self.keys, (grad_K, grad_b), strict=True)
        # Some models have a constant b.
        outputs, gradients = zip(*(p for p in pairs if p[0].requires_grad), strict=True)
        out.copy_(torch.autograd.grad(outputs, self.x, gradients)[0])


class IdentityKeys(KeyEncoder):
    """Embeddings that are the keys themselves, with b = 0: inner products."""

    def width(self, x: Tensor) -> int:
        return x.shape[1]

    def forward(self, x: Tensor, K: Tensor, b: Tensor) -> None:
        K.copy_(x)
        b.zero_()

    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        out.copy_(grad_K)


class BiasedKeys(KeyEncoder):
    """Keys of another encoder plus an entity bias, the last column of the embeddings.

    Args:
        keys: encoder of the other columns.
    """

    def __init__(self, keys: KeyEncoder) -> None:
        self.keys = keys

    def width(self, x: Tensor) -> int:
        return self.keys.width(x[:, :-1])

    def forward(self, x: Tensor, K: Tensor, b: Tensor) -> None:
        self.keys.forward(x[:, :-1], K, b)
        b.add_(x[:, -1])

    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        self.keys.backward(grad_K, grad_b, out[:, :-1])
        out[:, -1] = grad_b


class WassersteinKeys(KeyEncoder):
    r"""Keys of squared Wasserstein distances, without intermediate tensors.

    .. math:: K_j = \sum_i L_{ij} c_i, \quad c_i = x_i \text{ or } |x_i|, \quad b = -\|K\|^2

    The same K with b = 0 serves inner products of flows.

    Args:
        absolute: for each part of an embedding, whether it enters by its absolute value.
        factor: L, the lower triangular Cholesky factor of the Gram matrix.
        distance: whether b is -|K|², or zero.
    """

    def __init__(
        self, absolute: Sequence[bool], factor: Sequence[Sequence[float]], distance: bool = True
    ) -> None:
        self.absolute, self.factor = tuple(absolute), [list(row) for row in factor]
        self.distance = distance
        size = range(len(self.absolute))
        # NFE-1 and the point models have the identity as L.
        self.identity = all(self.factor[i][j] == (i == j) for i in size for j in size)

    def width(self, x: Tensor) -> int:
        return x.shape[1]

    def forward(self, x: Tensor, K: Tensor, b: Tensor) -> None:
        self.x, self.K = x, K
        for key, part, absolute in self._parts(K):
            torch.abs(part, out=key) if absolute else key.copy_(part)
        if not self.identity:
            self._multiply(K, transposed=False)
        if self.distance:
            torch.square(torch.linalg.vector_norm(K, dim=1), out=b).neg_()
        else:
            b.zero_()

    def backward(self, grad_K: Tensor, grad_b: Tensor, out: Tensor) -> None:
        """Write L (grad_K - 2 K grad_b), times the signs where absolute values were taken."""
        if self.distance:
            torch.addcmul(grad_K, self.K, grad_b[:, None], value=-2, out=out)
        else:
            out.copy_(grad_K)
        if not self.identity:
            self._multiply(out, transposed=True)
        # grad_K is not needed any more: its memory holds the signs.
        signs = grad_K.chunk(len(self.absolute), dim=1)
        for (grad, part, absolute), sign in zip(self._parts(out), signs, strict=True):
            if absolute:
                grad.mul_(torch.sign(part, out=sign))

    def _parts(self, keys: Tensor) -> Iterable[tuple[Tensor, Tensor, bool]]:
        count = len(self.absolute)
        return zip(keys.chunk(count, dim=1), self.x.chunk(count, dim=1), self.absolute, strict=True)

    def _multiply(self, x: Tensor, transposed: bool) -> None:
        # In place: L is triangular, so every product needs only parts not yet overwritten.
        parts, L = x.chunk(len(self.absolute), dim=1), self.factor
        for j in reversed(range(len(parts))) if transposed else range(len(parts)):
            parts[j].mul_(L[j][j])
            for i in range(j) if transposed else range(j + 1, len(parts)):
                parts[j].add_(parts[i], alpha=L[j][i] if transposed else L[i][j])
