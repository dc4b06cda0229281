"""Spline flows under the Wasserstein distance: NFE-2 (two pieces) and NFE-K (K pieces)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import Field
from torch import Tensor

from kgflow.flows import (
    Affine,
    Basis,
    PaperWasserstein,
    Similarity,
    Spline,
    SquaredWasserstein,
    TwoPiece,
)
from kgflow.models.card import ALL_PATTERNS, Card, Variant
from kgflow.models.flow_model import RandomFlowModel
from kgflow.models.options import Option, RandomVariableOptions

FORMS: Mapping[str, Similarity] = {"oriented": SquaredWasserstein(), "paper": PaperWasserstein()}

NFE2_CARD = Card(
    x0="𝒩(0, I)",
    f_entity="|e_σ₁| ⊙ x + e_μ, x ≤ 0; |e_σ₂| ⊙ x + e_μ, x > 0",
    f_relation="r_σ ⊙ x + r_μ",
    D="-W₂²",
    entity="3*n",
    relation="2*n",
    year=2023,
)


def increasing(mu: Tensor, sigma_1: Tensor, sigma_2: Tensor) -> TwoPiece:
    """Return the increasing function |σ₁| x + μ for x ≤ 0 and |σ₂| x + μ for x > 0."""
    return TwoPiece(mu, sigma_1.abs(), sigma_2.abs())


class NFE2(RandomFlowModel):
    r"""Two-piece linear flows under the squared Wasserstein distance.

    Entity scales enter as absolute values, so every entity function increases, and the sign of
    :math:`r_\sigma` alone decides whether the left and the right half of the image swap. The
    oriented form is the true distance for all parameters:

    .. math:: f(h, r, t) = -\|m\|^2 - \tfrac12 \|d_1\|^2 - \tfrac12 \|d_2\|^2 - c\, m^T (d_2 - d_1)

    with :math:`m = r_\sigma h_\mu + r_\mu - t_\mu`, the differences :math:`d_1, d_2` of the lower
    and upper scales, and :math:`c = \mathbb E|x_0|`: :math:`\sqrt{2/\pi}` for a normal x0 (Eq. 12),
    :math:`\sqrt{3/4}` for a uniform one (Eq. 11). The paper's form is Eq. 11 and Eq. 12 as printed:

    .. math:: f(h, r, t) = -\|m\|^2 - \tfrac12 \||r_\sigma h_{\sigma_1}| - |t_{\sigma_1}|\|^2
              - \tfrac12 \||r_\sigma h_{\sigma_2}| - |t_{\sigma_2}|\|^2 - c\, m^T (
              |r_\sigma h_{\sigma_2}| - |r_\sigma h_{\sigma_1}| + |t_{\sigma_1}| - |t_{\sigma_2}|)

    the same where :math:`r_\sigma \ge 0`; where :math:`r_\sigma < 0` it compares the left half of
    one distribution with the right half of the other.

    Embeddings: entity μ, σ₁, σ₂ and relation μ, σ, each ``(n,)``.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023.

    Example:
        >>> NFE2(entities=3, relations=2, dim=4, form="paper").entity.weight.shape
        torch.Size([3, 12])
    """

    class Options(RandomVariableOptions):
        """Options of NFE-2."""

        form: Literal["oriented", "paper"] = Field(
            "oriented",
            description="Distance for negative relation scales: true, or by the paper's formula.",
        )

    options: Options
    name = "nfe-2"
    entity_parts = ("mu", "sigma_1", "sigma_2")
    relation_parts = ("mu", "sigma")
    f_relation = Affine
    f_entity = staticmethod(increasing)
    card = NFE2_CARD
    variants = (
        Variant(
            {"form": "paper"},
            replace(NFE2_CARD, D="Eq. 12 as printed", patterns=ALL_PATTERNS - {"symmetry"}),
        ),
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.D = FORMS[self.options.form]


PIECEWISE = "e_μ + Σₖ |e_σₖ| ⊙ φₖ(x), piecewise"
NFEK_CARD = replace(NFE2_CARD, f_entity=f"{PIECEWISE} linear", entity="5*n")


class NFEK(RandomFlowModel):
    r"""Monotone spline flows with K scales, under the squared Wasserstein distance.

    .. math:: f(h, r, t) = -\sum_i \int_0^1 (F_i^{-1}(z) - G_i^{-1}(z))^2 dz, \qquad
              f_e(x) = e_\mu + \sum_{k=1}^K |e_{\sigma_k}| \varphi_k(x)

    with F and G the distributions of :math:`f_r \circ f_h(x_0)` and :math:`f_t(x_0)`, and linear
    relation functions. The increasing functions :math:`\varphi_k` (see `Basis`) are the same for
    all entities, so the distance is a quadratic form in the differences of μ and scales, whose
    matrix is integrated once. A negative :math:`r_\sigma` reverses the order of the scales.

    - degree 1: a scale for each of K equally likely pieces of x0. With one piece it is NFE-1, with
      two it is NFE-2.
    - degree 2: slopes at K knots that divide x0 into K + 1 equally likely pieces, interpolated
      linearly in between. With one scale it is NFE-1.
    - degree 3: the slope is a combination of K quadratic B-splines over K equally likely pieces.
      With one scale it is NFE-1, with two it is quadratic.

    Beyond the outer knots f is linear; the knots are quantiles of x0 / k.

    Embeddings: entity μ ``(n,)`` and σ ``(K n,)``, all n first scales first; relation μ, σ, each
    ``(n,)``.

    Example:
        >>> NFEK(entities=3, relations=2, dim=4, pieces=3).entity.weight.shape
        torch.Size([3, 16])
    """

    class Options(RandomVariableOptions):
        """Options of NFE-K."""

        pieces: int = Field(4, ge=1, description="Number K of scales of a spline.")
        degree: int = Field(1, ge=1, le=3, description="Degree of the splines: 1, 2 or 3.")

    options: Options
    name = "nfe-k"
    entity_parts = ("mu", "sigma")
    relation_parts = ("mu", "sigma")
    f_relation = Affine
    D = SquaredWasserstein()
    card = NFEK_CARD
    variants = (
        Variant({"degree": 2}, replace(NFEK_CARD, f_entity=f"{PIECEWISE} quadratic")),
        Variant({"degree": 3}, replace(NFEK_CARD, f_entity=f"{PIECEWISE} cubic")),
    )

    def __init__(self, entities: int, relations: int, dim: int, **options: Option) -> None:
        super().__init__(entities, relations, dim, **options)
        self.basis = Basis.over(self.options.variable(), self.options.degree, self.options.pieces)

    def entity_sizes(self, dim: int) -> dict[str, int]:
        return {"mu": dim, "sigma": self.options.pieces * dim}

    def f_entity(self, mu: Tensor, sigma: Tensor) -> Spline:
        return Spline(self.basis, mu, sigma.abs().chunk(self.options.pieces, dim=-1))
