"""One line of the table of constructors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from scipy import special

from graphs import VARIANTS, build
from kgflow.models import Model

E, R = 7, 4

Parts = dict[str, list[float]]
"""The parts of one row by name, each a list of numbers."""


@dataclass(frozen=True)
class Case:
    """A model with its options, and its score once more: of plain numbers, straight from its paper.

    model: label of the variant.
    score: of the model (for what is in neither table) and the rows of h, r and t.
    images: f_r ∘ f_h and f_t for one coordinate, where the score is a Wasserstein distance.
    restricted: whether it is one for r_σ >= 0 only.
    dim: n in the tests, small.
    stepped: whether relations enter by their signs, so that differences are no gradient by them.
    """

    model: str
    score: Callable[[Model, Parts, Parts, Parts], float]
    options: dict = field(default_factory=dict)
    images: Callable | None = None
    ppf: Callable[[float], float] = special.ndtri
    restricted: bool = False
    dim: int = 3
    stepped: bool = False

    @property
    def all_options(self) -> dict:
        """Options of the variant and of the case."""
        return VARIANTS[self.model][1] | self.options

    def make(self, seed: int = 0, away_from_zero: float = 0.0) -> Model:
        """In float64, with parameters of all signs, some of them zero unless kept away."""
        model = build(self.model, E, R, self.dim, options=self.options).double().eval()
        generator = torch.Generator().manual_seed(seed)
        for table in (model.entity, model.relation):
            weight = torch.randn(table.weight.shape, dtype=torch.float64, generator=generator)
            weight[:, ::5] *= 0 if away_from_zero == 0 else 1
            table.weight.data = weight + away_from_zero * weight.sign()
        shared = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        for name, tensor in shared.items():
            if not name.startswith(("entity.", "relation.")):
                tensor.data = torch.randn(tensor.shape, dtype=torch.float64, generator=generator)
                if name.endswith("variance"):
                    tensor.data.abs_().add_(0.5)
        return model

    def expected(self, model: Model, h: int, r: int, t: int) -> float:
        """The score of a triple of ids, of plain numbers."""
        tables = (model.entity, h), (model.relation, r), (model.entity, t)
        return self.score(model, *(row_parts(table, int(i)) for table, i in tables))


def row_parts(table, i: int) -> Parts:
    parts = table.split(table.weight[i])
    return {k: v.tolist() for k, v in zip(table.parts, parts, strict=True)}


def coordinatewise(formula: Callable[[Sequence[float], Sequence[float], Sequence[float]], float]):
    """The sum of a formula for one coordinate, of h, r and t, over the coordinates.

    There are as many as the narrowest part has numbers; a part of K times as many gives each K.
    """

    def score(model: Model, *rows: Parts) -> float:
        n = min(len(part) for row in rows for part in row.values())
        return sum(
            formula(*([x for part in row.values() for x in part[i::n]] for row in rows))
            for i in range(n)
        )

    return score
