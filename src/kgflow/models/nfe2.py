"""NFE-2: two-piece linear flows under the Wasserstein distance."""

from typing import ClassVar

from torch import Tensor

from kgflow.flows import Affine, PaperWasserstein, SquaredWasserstein, TwoPiece
from kgflow.models.card import Card
from kgflow.models.uncertain import UncertainModel


def increasing(mu: Tensor, sigma_1: Tensor, sigma_2: Tensor) -> TwoPiece:
    """|σ₁| x + μ on the left of 0, |σ₂| x + μ on its right: an entity's function in both forms."""
    return TwoPiece(mu, sigma_1.abs(), sigma_2.abs())


class NFE2(UncertainModel):
    r"""Two-piece flows, *oriented*: the true squared Wasserstein distance for all parameters.

    Entity scales enter as absolute values, so every entity function increases, and the sign of
    :math:`r_\sigma` alone decides whether the left and the right half of the image swap.

    .. math:: f(h, r, t) = -\|m\|^2 - \tfrac12 \|d_1\|^2 - \tfrac12 \|d_2\|^2 - c\, m^T (d_2 - d_1)

    with :math:`m = r_\sigma h_\mu + r_\mu - t_\mu`, the differences :math:`d_1, d_2` of the lower
    and upper scales, and :math:`c = \mathbb E|x_0|`: :math:`\sqrt{2/\pi}` for a normal x0 (Eq. 12),
    :math:`\sqrt{3/4}` for a uniform one (Eq. 11).

    Rows: entity μ, σ₁, σ₂ and relation μ, σ, each ``(n,)``.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        x0: normal (Eq. 12), uniform (Eq. 11) or another.
        uncertainty: 1/k²; the squared scales carry 1/k², the cross term 1/k.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.

    Example:
        >>> NFE2(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 12])
    """

    name = "nfe-2"
    entity_parts: ClassVar = ("mu", "sigma_1", "sigma_2")
    relation_parts: ClassVar = ("mu", "sigma")
    f_relation = Affine
    f_entity = staticmethod(increasing)
    D = SquaredWasserstein()
    card: ClassVar = Card(
        x0="𝒩(0, I)",
        f_entity="|e_σ₁| ⊙ x + e_μ, x ≤ 0; |e_σ₂| ⊙ x + e_μ, x > 0",
        f_relation="r_σ ⊙ x + r_μ",
        D="-W₂²",
        entity="3 * n",
        relation="2 * n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2023,
    )


class NFE2Paper(UncertainModel):
    r"""Two-piece flows with Eq. 11 and Eq. 12 as the paper prints them.

    .. math:: f(h, r, t) = -\|m\|^2 - \tfrac12 \||r_\sigma h_{\sigma_1}| - |t_{\sigma_1}|\|^2
              - \tfrac12 \||r_\sigma h_{\sigma_2}| - |t_{\sigma_2}|\|^2 - c\, m^T (
              |r_\sigma h_{\sigma_2}| - |r_\sigma h_{\sigma_1}| + |t_{\sigma_1}| - |t_{\sigma_2}|)

    A Wasserstein distance where :math:`r_\sigma \ge 0`; where :math:`r_\sigma < 0` it pairs the
    left half of one distribution with the right half of the other. Rows and arguments as `NFE2`.

    Example:
        >>> NFE2Paper(entities=3, relations=2, dim=4).relation.weight.shape
        torch.Size([2, 8])
    """

    name = "nfe-2-paper"
    entity_parts: ClassVar = ("mu", "sigma_1", "sigma_2")
    relation_parts: ClassVar = ("mu", "sigma")
    f_relation = Affine
    f_entity = staticmethod(increasing)
    D = PaperWasserstein()
    card: ClassVar = Card(
        x0="𝒩(0, I)",
        f_entity="|e_σ₁| ⊙ x + e_μ, x ≤ 0; |e_σ₂| ⊙ x + e_μ, x > 0",
        f_relation="r_σ ⊙ x + r_μ",
        D="Eq. 12 as printed",
        entity="3 * n",
        relation="2 * n",
        symmetry=False,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2023,
    )
