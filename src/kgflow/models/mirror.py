"""Relations that have no reciprocals of their own."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from kgflow.errors import KgflowError
from kgflow.models.model import Model
from kgflow.models.table import Table


def mirror(model: Model) -> None:
    r"""Make every reciprocal relation the relation itself, read backwards.

    .. math:: f(t, r^{-1}, h) = f(h, r, t)

    Half of the rows are left to be learned, and a fact has one score, whichever of its ends is
    asked for: this is training without reciprocal relations. The second half of the table, which
    all else reads as before, is computed by the model's `mirrored`.

    Args:
        model: its relations are followed by as many reciprocals.

    Example:
        >>> from kgflow.models import build
        >>> model = build("complex", entities=3, relations=2, dim=2)
        >>> mirror(model)
        >>> h, r, t = torch.tensor([[0], [0], [2]])
        >>> bool(model.score(h, r, t) == model.score(t, r + 1, h))
        True
    """
    table = model.relation
    if len(table) % 2:
        raise KgflowError(f"{len(table)} relations are no relations with their reciprocals")
    if not _reads_backwards(model):
        raise KgflowError(
            f"{model.name} cannot read its relations backwards: leave reciprocals to it"
        )
    parametrize.register_parametrization(table, "weight", _Mirror(model.mirrored))


@torch.no_grad()
def _reads_backwards(model: Model) -> bool:
    """Whether both ends of a fact get one score: tried on random rows, not only declared."""
    generator, rows = torch.Generator().manual_seed(0), 8

    def drawn(table: Table) -> Tensor:
        return torch.randn(rows, table.width, generator=generator).to(table.weight)

    h, r, t = drawn(model.entity), drawn(model.relation), drawn(model.entity)
    back = model.mirrored(r)
    if back is None:
        return False
    found = []
    for head, relation, tail in ((h, r, t), (t, back, h)):
        query, keys = model.lower_query(head, relation), model.lower_keys(tail)
        found.append(model.pairwise(query.Q, keys.K) + query.a + keys.b)
    return torch.allclose(found[0], found[1], rtol=1e-3, atol=1e-3)


class _Mirror(nn.Module):
    """Rows to themselves and their mirror images, ``(R, v)`` to ``(2R, v)``."""

    def __init__(self, mirrored: Callable[[Tensor], Tensor | None]) -> None:
        super().__init__()
        self.mirrored = mirrored

    def forward(self, rows: Tensor) -> Tensor:
        found = self.mirrored(rows)
        assert found is not None
        return torch.cat([rows, found])

    def right_inverse(self, weight: Tensor) -> Tensor:
        return weight[: len(weight) // 2]
