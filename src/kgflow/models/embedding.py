"""An embedding table: one row of named parts for every entity or relation."""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

START = 0.1
"""Numbers begin uniform in [-START, START], where a model has no other wish."""


class Embedding(nn.Module):
    r"""Rows of parameters, each row a concatenation of named parts.

    Rows start uniform in [-0.1, 0.1]. Behind its parts a row may hold one number more, its bias.

    Args:
        rows: how many entities or relations.
        parts: name and width of each part, in order.
        spared: parts that must not be zero, which dropout leaves alone.

    Example:
        >>> table = Embedding(3, {"mu": 2, "sigma": 2})
        >>> table.weight.shape
        torch.Size([3, 4])
        >>> mu, sigma = table.split(table(torch.tensor([0, 2])))
        >>> mu.shape
        torch.Size([2, 2])
    """

    def __init__(self, rows: int, parts: Mapping[str, int], spared: Collection[str] = ()) -> None:
        super().__init__()
        self.parts, self.spared = dict(parts), spared
        # Kept apart from the weight, which may be made anew whenever it is asked for.
        self.rows, self.has_bias = rows, False
        self.width = sum(self.parts.values())
        self.weight = nn.Parameter(torch.empty(rows, self.width).uniform_(-START, START))

    def add_bias(self) -> None:
        """Give every row a bias of zero."""
        zeros = self.weight.new_zeros(len(self), 1)
        self.weight = nn.Parameter(torch.cat([self.weight.detach(), zeros], dim=1))
        self.has_bias = True

    def plain(self, rows: Tensor) -> Tensor:
        """Rows without their bias."""
        return rows[..., : self.width]

    def bias(self, rows: Tensor) -> Tensor:
        """The bias of rows ``(..., w)``, ``(...)``: zero where they have none."""
        return rows[..., self.width :].sum(-1)

    def forward(self, ids: Tensor) -> Tensor:
        """The rows of ``ids`` ``(...)``, of shape ``(..., width)``."""
        return nn.functional.embedding(ids, self.weight)

    def split(self, rows: Tensor) -> tuple[Tensor, ...]:
        """The parts of some rows, each ``(..., width of the part)``."""
        return self.plain(rows).split(list(self.parts.values()), dim=-1)

    def drop(self, rows: Tensor, share: float) -> Tensor:
        """Rows with a random share of their numbers at zero and the rest larger in turn.

        The `spared` parts stay as they are.
        """
        if not share or not self.spared:
            return dropout(rows, share)
        parts = zip(self.parts, self.split(rows), strict=True)
        dropped = [x if k in self.spared else dropout(x, share) for k, x in parts]
        return torch.cat([*dropped, rows[..., self.width :]], dim=-1)

    def __len__(self) -> int:
        return self.rows

    def extra_repr(self) -> str:
        """What `print(model)` shows."""
        parts = self.parts | ({"bias": 1} if self.has_bias else {})
        return f"{len(self)} rows, {', '.join(f'{k}: {v}' for k, v in parts.items())}"
