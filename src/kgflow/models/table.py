"""An embedding table: one row of named parts for every entity or relation."""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout


class Table(nn.Module):
    r"""Rows of parameters, each row a concatenation of named parts.

    Rows start uniform in [-0.1, 0.1].

    Args:
        rows: how many entities or relations.
        parts: name and width of each part, in order.
        spared: parts that must not be zero, which dropout leaves alone.

    Example:
        >>> table = Table(3, {"mu": 2, "sigma": 2})
        >>> table.weight.shape
        torch.Size([3, 4])
        >>> mu, sigma = table.split(table(torch.tensor([0, 2])))
        >>> mu.shape
        torch.Size([2, 2])
    """

    def __init__(self, rows: int, parts: Mapping[str, int], spared: Collection[str] = ()) -> None:
        super().__init__()
        self.parts, self.spared = dict(parts), spared
        self.weight = nn.Parameter(torch.empty(rows, sum(self.parts.values())).uniform_(-0.1, 0.1))

    def forward(self, ids: Tensor) -> Tensor:
        """The rows of ``ids`` ``(...)``, of shape ``(..., width)``."""
        return nn.functional.embedding(ids, self.weight)

    def split(self, rows: Tensor) -> tuple[Tensor, ...]:
        """The parts of some rows, each ``(..., width of the part)``."""
        return rows.split(list(self.parts.values()), dim=-1)

    def drop(self, rows: Tensor, share: float) -> Tensor:
        """Rows with a random share of their numbers at zero and the rest larger in turn.

        The `spared` parts stay as they are.
        """
        if not share or not self.spared:
            return dropout(rows, share)
        parts = zip(self.parts, self.split(rows), strict=True)
        return torch.cat([x if k in self.spared else dropout(x, share) for k, x in parts], dim=-1)

    def __len__(self) -> int:
        return self.weight.shape[0]

    def extra_repr(self) -> str:
        """What `print(model)` shows."""
        return f"{len(self)} rows, {', '.join(f'{k}: {v}' for k, v in self.parts.items())}"
