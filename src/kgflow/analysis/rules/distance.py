"""Distances between relations as functions, and deviations of rules from equality."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from kgflow.analysis.rules.rule import Rule, inverse
from kgflow.errors import KgflowError
from kgflow.evaluation import Progress, no_progress
from kgflow.flows import (
    Affine,
    Flow,
    Function,
    InnerProduct,
    Linear,
    MobiusRing,
    TorusChord,
    TorusNorm,
    Variable,
)
from kgflow.flows.points import on_circles
from kgflow.models import FlowModel, Model

MAX_ENTITIES = 2048
"""Number of sampled entities."""

MAX_POINTS = 8
"""Number of sample points for functions that are not linear."""


class RelationDistance:
    r"""Distance between the two sides of a rule as functions, averaged over the model's entities.

    .. math:: d(f, g) = \mathbb E\,|f(x) - g(x)|^2 \,/\, \overline{\mathbb E\,|f_r(x) - f_s(x)|^2}

    where x has the distribution of the entity embeddings and the denominator is the mean over all
    pairs of relations r ≠ s. 0 means the same function, 1 the mean distance of two relations. For
    linear functions the two points mean ± standard deviation of each coordinate give the
    expectation exactly; other functions are compared at random entities. On a torus, values are
    compared as angles.

    The two sides of a `Rule` are its body and its head: f of the inverse relation and :math:`f_r`
    for symmetry, :math:`f_{s'} \circ f_s` and :math:`f_r` for a composition.

    Args:
        model: model whose relations are functions and whose similarity is a distance; see `of`.
    """

    def __init__(self, model: FlowModel) -> None:
        self.chart = _chart(model)
        parts = model.relation.split(model.relation.weight.detach())
        self.f = model.f_relation(*parts)
        self.points = _points(model, self.f)
        self.values = self.f.forward(self.points[:, None])
        self.images = self._image(self.values)

    @classmethod
    @torch.no_grad()
    def of(cls, model: Model) -> "RelationDistance | None":
        """Return None for models without relation functions, or with inner product similarity."""
        base = model.base
        if not isinstance(base, FlowModel) or isinstance(base.D, InnerProduct):
            return None
        return cls(base)

    @cached_property
    def mean_distance(self) -> float:
        """Mean squared distance of two relations."""
        count = len(self.images)
        centered = self.images - self.images.mean(0)
        # Over ordered pairs of different relations, |x - y|² sums to 2 n Σ|x - mean|².
        # The lower bound avoids 0 / 0 where all relations are the same function.
        return max(float(2 * centered.square().sum() / max(1, count - 1)), 1e-30)

    def distance(self, rule: Rule) -> float:
        """Return the distance between the body and the head of a rule."""
        first, *second = rule.body
        body = self.after(first)[second[0]] if second else self.images[first]
        return float((body - self.images[rule.head]).square().sum()) / self.mean_distance

    def closure(self, rule: Rule) -> float:
        r"""Return the distance between :math:`f_r \circ f_s` and the identity (Figures 3 to 5).

        r is the head of the rule and s the relation of its body, without inversion; r = s for
        symmetry.
        """
        half = len(self.images) // 2
        s = (rule.body[0] + half) % (2 * half)
        gap = (self.after(s)[rule.head] - self.identity).square().sum()
        return float(gap) / self.mean_distance

    @cached_property
    def identity(self) -> Tensor:
        """Image of the identity function, ``(m,)``."""
        return self._image(self.points[:, None])[0]

    def near_identity(self, below: float = 0.1) -> Tensor:
        """Return whether each relation is nearly the identity, ``(2R,)``."""
        return (self.images - self.identity).square().sum(1) < below * self.mean_distance

    def after(self, first: int) -> Tensor:
        """Return the images of all relations composed with a first one, ``(2R, m)``."""
        return self._image(self.f.forward(self.values[:, first][:, None]))

    def nearest(
        self, heads: int, progress: Progress = no_progress
    ) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Yield each first relation with the nearest of the first `heads` relations as head.

        Heads and distances are ``(2R,)``, for all second relations: one matrix product per first
        relation instead of a loop over all triples of relations.
        """
        to, count = self.images[:heads], len(self.images)
        length = to.square().sum(1)
        for first in range(count):
            composed = self.after(first)
            gap = torch.addmm(length[None], composed, to.T, alpha=-2)
            least, head = gap.min(1)
            distance = (least + composed.square().sum(1)).clamp(min=0) / self.mean_distance
            yield first, head, distance
            progress((first + 1) / count)

    def _image(self, values: Tensor) -> Tensor:
        # (S, N, n) to (N, S n): the mean over points becomes a plain sum.
        charted = self.chart(values).movedim(0, 1).flatten(1)
        return charted / math.sqrt(len(values))


@dataclass(frozen=True)
class Deviation:
    r"""Deviation of the composition of two relations from a third relation or the identity.

    .. math:: |\sigma_2 \sigma_1 - \sigma_3|, \quad |\sigma_2 \mu_1 + \mu_2 - \mu_3|

    in each coordinate, with σ₃ = 1 and μ₃ = 0 for the identity. Symmetry of r compares r, r with
    the identity; an inverse compares r, s with it.

    Args:
        first: id of a relation or inverse relation.
        second: id of the relation applied after the first one.
        third: id of the relation they are compared with, None for the identity.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, Figures 3 to 6.
    """

    first: int
    second: int
    third: int | None = None

    @classmethod
    def of(cls, rule: Rule) -> "Deviation":
        """Return the deviation of a rule; an implication is compared as an inverse.

        Example:
            >>> Deviation.of(Rule((5, ), 2, relations=3))
            Deviation(first=2, second=2, third=None)
        """
        if len(rule.body) == 2:
            return cls(*rule.body, rule.head)
        return cls(inverse(rule.body[0], rule.relations), rule.head)

    @torch.no_grad()
    def values(self, model: Model) -> tuple[Tensor, Tensor]:
        """Return the deviations of the scales and of the shifts, ``(n,)`` each."""
        f, g = (_function(model, d) for d in (self.first, self.second))
        composed = g @ f
        other = _function(model, self.third) if self.third is not None else IDENTITY
        assert isinstance(composed, Linear)
        assert isinstance(other, Linear)
        shape = torch.broadcast_shapes(f.shape, g.shape)
        scale, shift = (composed.sigma - other.sigma).abs(), (composed.mu - other.mu).abs()
        return scale.expand(shape), shift.expand(shape)

    def alternatives(self, model: Model) -> list["Deviation"]:
        """Return the deviations with other relations in place of the last one of the rule."""
        R = len(model.relation.weight) // 2
        if self.third is not None:
            return [Deviation(self.first, self.second, d) for d in range(R) if d != self.third]
        if self.first == self.second:
            return [Deviation(d, d) for d in range(R) if d != self.first]
        own = (self.first, self.second)
        return [Deviation(self.first, d) for d in range(2 * R) if d not in own]


IDENTITY = Affine(torch.zeros(()), torch.ones(()))


def _function(model: Model, d: int) -> Function:
    base = model.base
    if isinstance(base, FlowModel):
        f = base.f_relation(*base.relation.split(base.relation.weight.detach().cpu()[d]))
        if isinstance(f, Linear):
            return f
    raise KgflowError(f"{model.name} has no histograms of rules: its relations are not σ x + μ")


def _chart(model: FlowModel) -> Callable[[Tensor], Tensor]:
    D = model.D
    if isinstance(D, MobiusRing):
        return lambda x: on_circles(_untwist(x, D.twist))
    return on_circles if isinstance(D, TorusNorm | TorusChord) else _reals


def _reals(x: Tensor) -> Tensor:
    return torch.view_as_real(x).flatten(-2) if x.is_complex() else x


def _untwist(x: Tensor, twist: float) -> Tensor:
    # Two coordinates of the same point of the ring then differ by whole turns.
    along, around = x.chunk(2, dim=-1)
    return torch.cat([along, around + twist * along], dim=-1)


def _points(model: FlowModel, f: Function) -> Tensor:
    """Return the points at which functions are compared, ``(S, n)``."""
    generator = torch.Generator().manual_seed(0)
    weight = model.entity.weight.detach()
    sample = torch.randperm(len(weight), generator=generator)[:MAX_ENTITIES].to(weight.device)
    x = _draw(model.flow(weight[sample]), generator)
    if not isinstance(f, Linear):
        return x[:MAX_POINTS]
    mean = x.mean(0)
    std = (x - mean).abs().square().mean(0).sqrt()
    return torch.stack([mean - std, mean + std])


def _draw(flow: Flow, generator: torch.Generator) -> Tensor:
    """Draw one sample of each entity, ``(N, n)``."""
    if not isinstance(flow.x0, Variable):
        return flow.value
    z = torch.rand(flow.f.shape, generator=generator, dtype=torch.float64).clamp(min=2**-53)
    x0 = flow.x0.icdf(z).to(next(flow.f.tensors()))
    return flow.f.forward(x0)
