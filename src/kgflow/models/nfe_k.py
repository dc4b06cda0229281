"""NFE-K: spline flows under the Wasserstein distance, the paper's Discussion in closed form."""

from typing import ClassVar

from torch import Tensor

from kgflow.errors import KgflowError
from kgflow.flows import Affine, Basis, Normal, Spline, SquaredWasserstein, Variable
from kgflow.models.card import Card
from kgflow.models.uncertain import UncertainModel


class SplineModel(UncertainModel):
    r"""Monotone splines with K scales for entities, linear functions for relations.

    .. math:: f(h, r, t) = -\sum_i \int_0^1 (F_i^{-1}(z) - G_i^{-1}(z))^2 dz, \qquad
              f_e(x) = e_\mu + \sum_{k=1}^K |e_{\sigma_k}| \varphi_k(x)

    with F and G the distributions of :math:`f_r \circ f_h(x_0)` and :math:`f_t(x_0)`. The rising
    functions :math:`\varphi_k` (see `Basis`) are the same for all, so the distance is a quadratic
    form of differences of μ and scales, whose matrix is integrated once. A negative
    :math:`r_\sigma` mirrors the image: the scales change places, first with last.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        x0: the initial variable; its quantiles are the knots.
        uncertainty: the paper's 1/k² (Proposition 5): the knots shrink with x0/k.
        pieces: K, how many functions a flow is put together from.
    """

    degree: ClassVar[int]
    f_relation = Affine
    D = SquaredWasserstein()

    def __init__(
        self,
        entities: int,
        relations: int,
        dim: int,
        x0: Variable = Normal(),  # noqa: B008  (it has no state)
        uncertainty: float = 1.0,
        pieces: int = 4,
    ) -> None:
        if pieces < 1:
            raise KgflowError(f"a flow has 1 piece or more: {pieces} is not")
        self.pieces = pieces  # before the tables are made, whose width it decides
        super().__init__(entities, relations, dim, x0, uncertainty)
        assert isinstance(self.x0, Variable)
        self.basis = Basis.over(self.x0, self.degree, pieces)

    def entity_sizes(self, dim: int) -> dict[str, int]:
        """One μ and K scales."""
        return {"mu": dim, "sigma": self.pieces * dim}

    def f_entity(self, mu: Tensor, sigma: Tensor) -> Spline:
        """The spline that rises with these scales, whatever their signs."""
        return Spline(self.basis, mu, sigma.abs().chunk(self.pieces, dim=-1))


def _row(kind: str) -> Card:
    return Card(
        x0="𝒩(0, I)",
        f_entity=f"e_μ + Σₖ |e_σₖ| ⊙ φₖ(x), piecewise {kind}",
        f_relation="r_σ ⊙ x + r_μ",
        D="-W₂²",
        entity="5 * n",
        relation="2 * n",
        symmetry=True,
        antisymmetry=True,
        inverse=True,
        composition=True,
        year=2023,
    )


class NFEK(SplineModel):
    r"""K-piece linear flows: a scale for each of K equally likely pieces of x0.

    With one piece it is NFE-1, with two it is NFE-2, oriented. `SplineModel` has the formula.

    Rows: entity μ ``(n,)`` and σ ``(K n,)``, all n first scales first; relation μ, σ, each
    ``(n,)``.

    Example:
        >>> NFEK(entities=3, relations=2, dim=4, pieces=3).entity.weight.shape
        torch.Size([3, 16])
    """

    name = "nfe-k"
    degree: ClassVar = 1
    entity_parts: ClassVar = ("mu", "sigma")
    relation_parts: ClassVar = ("mu", "sigma")
    card: ClassVar = _row("linear")


class NFEKQuadratic(SplineModel):
    r"""Quadratic spline flows: scales at K knots, the slope in between interpolated.

    The knots cut x0 into K + 1 equally likely pieces; beyond the outer ones f is linear. With one
    scale it is NFE-1. `SplineModel` has the formula; rows as `NFEK`.

    Example:
        >>> NFEKQuadratic(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 20])
    """

    name = "nfe-k-quadratic"
    degree: ClassVar = 2
    entity_parts: ClassVar = ("mu", "sigma")
    relation_parts: ClassVar = ("mu", "sigma")
    card: ClassVar = _row("quadratic")


class NFEKCubic(SplineModel):
    r"""Cubic spline flows: the slope is a smooth combination of K parabolic bumps.

    The knots cut x0 into K equally likely pieces; beyond the outer ones f is linear. With one
    scale it is NFE-1, with two it is quadratic. `SplineModel` has the formula; rows as `NFEK`.

    Example:
        >>> NFEKCubic(entities=3, relations=2, dim=4).entity.weight.shape
        torch.Size([3, 20])
    """

    name = "nfe-k-cubic"
    degree: ClassVar = 3
    entity_parts: ClassVar = ("mu", "sigma")
    relation_parts: ClassVar = ("mu", "sigma")
    card: ClassVar = _row("cubic")
