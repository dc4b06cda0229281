"""Relations that have no inverse_relations of their own."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from kgflow.errors import KgflowError
from kgflow.models.backwards import reads_inverse
from kgflow.models.base import Model


def mirror(model: Model) -> None:
    r"""Make every reciprocal relation the relation itself, read backwards.

    .. math:: f(t, r^{-1}, h) = f(h, r, t)

    Half of the rows are left to be learned, and a fact has one score, whichever of its ends is
    asked for: this is training without reciprocal relations. The second half of the table, which
    all else reads as before, is computed by the model's `mirrored`.

    Args:
        model: its relations are followed by as many inverse_relations.

    Example:
        >>> from kgflow.models import build
        >>> model = build("complex", entities=3, relations=2, dim=2)
        >>> mirror(model)
        >>> h, r, t = torch.tensor([[0], [0], [2]])
        >>> torch.allclose(model.score(h, r, t), model.score(t, r + 1, h))
        True
    """
    table = model.relation
    if len(table) % 2:
        raise KgflowError(f"{len(table)} relations are no relations with their inverse_relations")
    if model.inverse_relation(table.weight[:1].detach()) is None or not reads_inverse(model):
        raise KgflowError(
            f"{model.name} cannot read its relations backwards: leave inverse_relations to it"
        )
    parametrize.register_parametrization(table, "weight", _Mirror(model.inverse_relation))


class _Mirror(nn.Module):
    """Rows to themselves and their mirror images, ``(R, v)`` to ``(2R, v)``."""

    def __init__(self, inverse_relation: Callable[[Tensor], Tensor | None]) -> None:
        super().__init__()
        self.inverse_relation = inverse_relation

    def forward(self, rows: Tensor) -> Tensor:
        found = self.inverse_relation(rows)
        assert found is not None
        return torch.cat([rows, found])

    def right_inverse(self, weight: Tensor) -> Tensor:
        return weight[: len(weight) // 2]
