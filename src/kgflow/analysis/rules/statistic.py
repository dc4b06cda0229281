"""The paper's statistics of Figures 3 to 6: how far from exact a rule is in each coordinate."""

from dataclasses import dataclass

import torch
from torch import Tensor

from kgflow.analysis.rules.rule import Rule, reverse
from kgflow.errors import KgflowError
from kgflow.flows import Affine, Function, Linear
from kgflow.models import FlowModel, Model


@dataclass(frozen=True)
class Statistic:
    r"""Two relations in turn against a third, or against the identity.

    .. math:: |\sigma_2 \sigma_1 - \sigma_3|, \quad |\sigma_2 \mu_1 + \mu_2 - \mu_3|

    of each coordinate, with σ₃ = 1 and μ₃ = 0 for the identity: symmetry is r, r against it, the
    inverse r, s.

    Args:
        first: a relation or reciprocal.
        second: what is applied to the first one's value.
        third: what both together shall be, None for the identity.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, Figures 3 to 6.
    """

    first: int
    second: int
    third: int | None = None

    @classmethod
    def of(cls, rule: Rule) -> "Statistic":
        """That of a rule; an implication is compared as an inverse of its body's reciprocal.

        Example:
            >>> Statistic.of(Rule((5, ), 2, relations=3))
            Statistic(first=2, second=2, third=None)
        """
        if len(rule.body) == 2:
            return cls(*rule.body, rule.head)
        return cls(reverse(rule.body[0], rule.relations), rule.head)

    @torch.no_grad()
    def gaps(self, model: Model) -> tuple[Tensor, Tensor]:
        """Of the scales and of the shifts, ``(n,)`` each."""
        f, g = (_function(model, d) for d in (self.first, self.second))
        both, other = g @ f, _function(model, self.third) if self.third is not None else IDENTITY
        assert isinstance(both, Linear)
        assert isinstance(other, Linear)
        shape = torch.broadcast_shapes(f.shape, g.shape)
        return (both.sigma - other.sigma).abs().expand(shape), (both.mu - other.mu).abs().expand(
            shape
        )

    def others(self, model: Model) -> list["Statistic"]:
        """The same with other relations in the place that the rule singles out."""
        R = len(model.relation.weight) // 2
        if self.third is not None:
            return [Statistic(self.first, self.second, d) for d in range(R) if d != self.third]
        if self.first == self.second:
            return [Statistic(d, d) for d in range(R) if d != self.first]
        mine = (self.first, self.second)
        return [Statistic(self.first, d) for d in range(2 * R) if d not in mine]


IDENTITY = Affine(torch.zeros(()), torch.ones(()))


def _function(model: Model, d: int) -> Function:
    base = model.base
    if isinstance(base, FlowModel):
        f = base.f_relation(*base.relation.split(base.relation.weight.detach().cpu()[d]))
        if isinstance(f, Linear):
            return f
    raise KgflowError(f"{model.name} has no histograms of rules: its relations are not σ x + μ")
