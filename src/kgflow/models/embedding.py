"""Embedding table with named parts."""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

INIT_SCALE = 0.1
"""Embeddings are initialized uniformly in [-INIT_SCALE, INIT_SCALE] unless the model differs."""


class Embedding(nn.Module):
    r"""Embedding table; every embedding is a concatenation of named parts.

    An embedding may have a bias as one more column behind its parts.

    Args:
        count: number of entities or relations.
        parts: name and width of each part, in order.
        no_dropout: parts that must not be zero, to which dropout is not applied.

    Example:
        >>> table = Embedding(3, {"mu": 2, "sigma": 2})
        >>> table.weight.shape
        torch.Size([3, 4])
        >>> mu, sigma = table.split(table(torch.tensor([0, 2])))
        >>> mu.shape
        torch.Size([2, 2])
    """

    def __init__(
        self, count: int, parts: Mapping[str, int], no_dropout: Collection[str] = ()
    ) -> None:
        super().__init__()
        self.parts, self.no_dropout = dict(parts), no_dropout
        # Stored apart from the weight, which may be computed on every access (tied relations).
        self.count, self.has_bias = count, False
        self.width = sum(self.parts.values())
        weight = torch.empty(count, self.width).uniform_(-INIT_SCALE, INIT_SCALE)
        self.weight = nn.Parameter(weight)

    def add_bias(self) -> None:
        """Add a bias column, initialized to zero."""
        zeros = self.weight.new_zeros(len(self), 1)
        self.weight = nn.Parameter(torch.cat([self.weight.detach(), zeros], dim=1))
        self.has_bias = True

    def without_bias(self, x: Tensor) -> Tensor:
        """Return embeddings without their bias column, ``(..., width)``."""
        return x[..., : self.width]

    def bias(self, x: Tensor) -> Tensor:
        """Return the bias of embeddings ``(..., w)``, ``(...)``; zero if there is no column."""
        return x[..., self.width :].sum(-1)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the embeddings ``(..., w)`` of ids ``(...)``."""
        return nn.functional.embedding(ids, self.weight)

    def split(self, x: Tensor) -> tuple[Tensor, ...]:
        """Split embeddings into their parts, each ``(..., width of the part)``."""
        return self.without_bias(x).split(list(self.parts.values()), dim=-1)

    def drop(self, x: Tensor, p: float) -> Tensor:
        """Apply dropout with probability p to embeddings, except to the `no_dropout` parts."""
        if not p or not self.no_dropout:
            return dropout(x, p)
        parts = zip(self.parts, self.split(x), strict=True)
        dropped = [part if k in self.no_dropout else dropout(part, p) for k, part in parts]
        return torch.cat([*dropped, x[..., self.width :]], dim=-1)

    def __len__(self) -> int:
        return self.count

    def extra_repr(self) -> str:
        parts = self.parts | ({"bias": 1} if self.has_bias else {})
        return f"{len(self)}, {', '.join(f'{k}: {v}' for k, v in parts.items())}"
