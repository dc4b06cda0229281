"""Relations as functions of entities, and how far apart two such functions are."""

import math
from collections.abc import Callable, Iterator
from functools import cached_property

import torch
from torch import Tensor

from kgflow.analysis.rules.rule import Rule
from kgflow.flows import (
    Flow,
    Function,
    InnerProduct,
    Linear,
    MobiusRing,
    TorusChord,
    TorusNorm,
    Variable,
)
from kgflow.models import FlowModel, Model

SAMPLE = 2048
"""Entities whose values are looked at."""

POINTS = 8
"""Of these, entities that functions which are not linear are compared at."""


class Geometry:
    r"""How different a rule's two sides are as functions, over the model's own entities.

    .. math:: d(f, g) = \mathbb E\,|f(x) - g(x)|^2 \,/\, \overline{\mathbb E\,|f_r(x) - f_s(x)|^2}

    with x spread as the values of entities are, and below the line the mean over all two relations
    r ≠ s: 0 is the same function, 1 as different as any two relations. For linear functions the two
    points mean ± standard deviation of each coordinate give the expectation exactly; others are
    compared at entities drawn at random. On a torus numbers count as angles.

    The sides of a rule are those of `Rule`: f_r and f of its reciprocal for symmetry, :math:`f_{s'}
    \circ f_s` and f_r for a composition.

    Args:
        model: one with relation functions, where being near is what scores; see `of`.
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
    def of(cls, model: Model) -> "Geometry | None":
        """None for models whose relations are no functions, or that score by inner products."""
        base = model.base
        if not isinstance(base, FlowModel) or isinstance(base.D, InnerProduct):
            return None
        return cls(base)

    @cached_property
    def typical(self) -> float:
        """The mean squared distance of two relations."""
        count = len(self.images)
        spread = self.images - self.images.mean(0)
        # Over ordered pairs of different ones, |x - y|² sums to 2 n Σ|x - mean|².
        # Where all relations are one function, none is far from another.
        return max(float(2 * spread.square().sum() / max(1, count - 1)), 1e-30)

    def distance(self, rule: Rule) -> float:
        """Of the two sides of a rule."""
        first, *second = rule.body
        body = self.after(first)[second[0]] if second else self.images[first]
        return float((body - self.images[rule.head]).square().sum()) / self.typical

    def closure(self, rule: Rule) -> float:
        r"""The paper's statistic: of :math:`f_r \circ f_s` and the identity, s the rule's body.

        For symmetry :math:`f_r \circ f_r`; the body is taken in its own direction.
        """
        half = len(self.images) // 2
        back = (rule.body[0] + half) % (2 * half)
        return float((self.after(back)[rule.head] - self.identity).square().sum()) / self.typical

    @cached_property
    def identity(self) -> Tensor:
        """The image of doing nothing, ``(m,)``."""
        return self._image(self.points[:, None])[0]

    def like_identity(self, below: float = 0.1) -> Tensor:
        """Whether a relation changes next to nothing, ``(2R,)``."""
        return (self.images - self.identity).square().sum(1) < below * self.typical

    def after(self, first: int) -> Tensor:
        """The images of all relations after a first one, ``(2R, m)``."""
        return self._image(self.f.forward(self.values[:, first][:, None]))

    def nearest(
        self, heads: int, progress: Callable[[float], None] = lambda share: None
    ) -> Iterator[tuple[int, Tensor, Tensor]]:
        """For each first relation, and each second: the head nearest to both, and how near.

        One matrix product per first relation in place of a loop over all threes.

        Yields:
            The first relation, the heads ``(2R,)`` and the distances ``(2R,)``.
        """
        to, count = self.images[:heads], len(self.images)
        length = to.square().sum(1)
        for first in range(count):
            both = self.after(first)
            gap = torch.addmm(length[None], both, to.T, alpha=-2)
            least, head = gap.min(1)
            distance = (least + both.square().sum(1)).clamp(min=0) / self.typical
            yield first, head, distance
            progress((first + 1) / count)

    def _image(self, values: Tensor) -> Tensor:
        # (S, N, n) to (N, S n): the mean over points becomes a plain sum.
        charted = self.chart(values).movedim(0, 1).flatten(1)
        return charted / math.sqrt(len(values))


Chart = Callable[[Tensor], Tensor]


def _chart(model: FlowModel) -> Chart:
    D = model.D
    if isinstance(D, MobiusRing):
        return lambda x: _circles(_untwist(x, D.twist))
    return _circles if isinstance(D, TorusNorm | TorusChord) else _reals


def _reals(x: Tensor) -> Tensor:
    return torch.view_as_real(x).flatten(-2) if x.is_complex() else x


def _circles(x: Tensor) -> Tensor:
    angle = 2 * math.pi * x
    return torch.cat([angle.cos(), angle.sin()], dim=-1)


def _untwist(x: Tensor, twist: float) -> Tensor:
    # Both are whole turns apart where two points of the ring are one.
    along, around = x.chunk(2, dim=-1)
    return torch.cat([along, around + twist * along], dim=-1)


def _points(model: FlowModel, f: Function) -> Tensor:
    """Where functions are compared, ``(S, n)``."""
    generator = torch.Generator().manual_seed(0)
    rows = model.entity.weight.detach()
    some = torch.randperm(len(rows), generator=generator)[:SAMPLE].to(rows.device)
    x = _draw(model.flow(rows[some]), generator)
    if not isinstance(f, Linear):
        return x[:POINTS]
    mean = x.mean(0)
    spread = (x - mean).abs().square().mean(0).sqrt()
    return torch.stack([mean - spread, mean + spread])


def _draw(flow: Flow, generator: torch.Generator) -> Tensor:
    """A value of each entity, ``(N, n)``."""
    if not isinstance(flow.x0, Variable):
        return flow.value
    z = torch.rand(flow.f.shape, generator=generator, dtype=torch.float64).clamp(min=2**-53)
    x0 = flow.x0.icdf(z).to(next(flow.f.tensors()))
    return flow.f.forward(x0)
