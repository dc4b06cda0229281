"""Models with a random x0 that can be chosen, and shrunk as in Proposition 5."""

import math

from kgflow.errors import KgflowError
from kgflow.flows import Normal, Scaled, Variable
from kgflow.models.base import FlowModel


class UncertainModel(FlowModel):
    r"""A flow model of :math:`x_k = x_0 / k`.

    Args:
        entities: how many entities.
        relations: how many relations, with their inverse_relations.
        dim: n.
        x0: the random variable that all functions act on.
        uncertainty: the paper's 1/k² (Proposition 5, Table 2): 1 leaves x0 as it is, 0 is the
            Dirac limit, in which the scales no longer count.
    """

    def __init__(
        self,
        entities: int,
        relations: int,
        dim: int,
        x0: Variable = Normal(),  # noqa: B008  (it has no state)
        uncertainty: float = 1.0,
    ) -> None:
        super().__init__(entities, relations, dim)
        if not 0 <= uncertainty < math.inf:
            raise KgflowError(f"uncertainty is 1/k², 0 or more: {uncertainty} is not")
        self.x0 = x0 if uncertainty == 1 else Scaled(x0, math.sqrt(uncertainty))
