"""QuatE: relations as rotations of quaternions."""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import normalize

from kgflow.flows import Keys, Query
from kgflow.models.base import Model
from kgflow.models.card import Card


class QuatE(Model):
    r"""Hamilton product with the relation's quaternions, scaled to length 1; inner product.

    .. math:: f(h, r, t) = \sum_i \Big\langle h_i \otimes \frac{r_i}{|r_i|}, t_i \Big\rangle

    Rows: entity and relation 1, i, j, k, each ``(n/4,)``.

    Reference:
        Zhang et al.: Quaternion Knowledge Graph Embeddings, NeurIPS 2019.

    Example:
        >>> QuatE(entities=3, relations=2, dim=8).entity.weight.shape
        torch.Size([3, 8])
    """

    name = "quate"
    multiple: ClassVar = 4
    share: ClassVar = 4
    entity_parts: ClassVar = ("1", "i", "j", "k")
    relation_parts: ClassVar = ("1", "i", "j", "k")
    settings: ClassVar = {"margin": -4.0, "epochs": 30, "decay": 0.95}
    card: ClassVar = Card(
        x0="1 ∈ ℍⁿᐟ⁴",
        f_entity="x ⊗ e",
        f_relation="x ⊗ r, |r| = 1",
        D="⟨·, ·⟩",
        entity="n",
        relation="n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2019,
    )

    def encode_query(self, h: Tensor, r: Tensor) -> Query:
        """Q = h ⊗ r/|r|, a = 0."""
        unit = normalize(r.unflatten(-1, (4, -1)), dim=-2)
        return Query(hamilton(h.unflatten(-1, (4, -1)), unit).flatten(-2), h.new_zeros(len(h)))

    def encode_keys(self, t: Tensor) -> Keys:
        """K = t, b = 0."""
        return Keys(t, t.new_zeros(len(t)))

    def inverse_relation(self, r: Tensor) -> Tensor:
        """The conjugates."""
        real, *imaginary = self.relation.split(r)
        return torch.cat([real, *(-part for part in imaginary)], dim=-1)


def hamilton(p: Tensor, q: Tensor) -> Tensor:
    r"""The product :math:`p \otimes q` of quaternions, each ``(..., 4, m)``.

    Example:
        >>> i, j = torch.eye(4)[[1, 2], :, None]
        >>> hamilton(i, j).flatten()  # k
        tensor([0., 0., 0., 1.])
    """
    (a, b, c, d), (w, x, y, z) = p.unbind(-2), q.unbind(-2)
    parts = (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )
    return torch.stack(parts, dim=-2)
