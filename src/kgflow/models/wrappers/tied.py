"""Tied inverse relations: training without embeddings of their own for inverse relations."""

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from kgflow.errors import KgflowError
from kgflow.models.base import Model
from kgflow.models.protocols import InvertibleRelations


def tie_inverse_relations(model: Model) -> None:
    r"""Compute the embeddings of inverse relations from those of the relations.

    .. math:: f(t, r^{-1}, h) = f(h, r, t)

    Half of the relation embeddings remain as parameters, and a triple has the same score in both
    directions. The relation table keeps its size: its second half is computed on access.

    Args:
        model: model whose relations are followed by their inverse relations.

    Example:
        >>> from kgflow.models import build
        >>> model = build("complex", entities=3, relations=2, dim=2)
        >>> tie_inverse_relations(model)
        >>> h, r, t = torch.tensor([[0], [0], [2]])
        >>> torch.allclose(model.score(h, r, t), model.score(t, r + 1, h))
        True
    """
    table, base = model.relation, model.base
    if len(table) % 2:
        raise KgflowError(f"{len(table)} relations: inverse relations need an even number")
    if not isinstance(base, InvertibleRelations):
        raise KgflowError(
            f"{model.name} cannot compute inverse relations: leave 'inverse_relations' on"
        )
    parametrize.register_parametrization(table, "weight", _TiedInverse(base))


class _TiedInverse(nn.Module):
    """Append the inverse relations to relation embeddings, ``(R, v)`` to ``(2R, v)``."""

    def __init__(self, model: InvertibleRelations) -> None:
        super().__init__()
        # The bound method, since assigning the model would register it as a submodule.
        self.inverse_relation = model.inverse_relation

    def forward(self, r: Tensor) -> Tensor:
        return torch.cat([r, self.inverse_relation(r)])

    def right_inverse(self, weight: Tensor) -> Tensor:
        return weight[: len(weight) // 2]
