"""
Define a model of your own
==========================

NFE-2 with a Laplace x0, in one file.

A new x0 defines its quantile function, distribution function, density and entropy. The squared
Wasserstein distance, its Gram matrix and its form as one matrix product follow from them.
"""

import math
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

import kgflow
from kgflow.flows import Affine, SquaredWasserstein, Variable, coordinates
from kgflow.models import FlowModel, build
from kgflow.models.nfe_spline import increasing

SCALE = 1 / math.sqrt(2)


class Laplace(Variable):
    r"""Laplace distribution :math:`p(x) = e^{-|x|/s} / 2s` with mean 0 and variance 1."""

    symmetric = True

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile function."""
        return -SCALE * (value - 0.5).sign() * torch.log1p(-(2 * value - 1).abs())

    def cdf(self, value: Tensor) -> Tensor:
        """Return the distribution function."""
        return 0.5 - 0.5 * value.sign() * torch.expm1(-value.abs() / SCALE)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log density."""
        return -value.abs() / SCALE - math.log(2 * SCALE)

    def entropy(self) -> Tensor:
        """Return the differential entropy."""
        return torch.tensor(1 + math.log(2 * SCALE), dtype=torch.float64)


class NFE2Laplace(FlowModel):
    """Eq. 7 and Eq. 9 with a Laplace x0: NFE-2 with another constant in the cross term."""

    name = "nfe-2-laplace"
    entity_parts = ("mu", "sigma_1", "sigma_2")
    relation_parts = ("mu", "sigma")
    x0, D = Laplace(), SquaredWasserstein()
    f_entity, f_relation = staticmethod(increasing), Affine


if __name__ == "__main__":
    torch.manual_seed(0)
    model = build("nfe-2-laplace", entities=5, relations=2, dim=16)
    print("Gram matrix of {1, left half, right half}:")
    for row in coordinates(model.flow(model.entity.weight)).gram:
        print("  " + "  ".join(f"{value:7.4f}" for value in row))
    scores = model.score(torch.tensor(0), torch.tensor(1), torch.arange(5))
    print("scores of (0, 1, t):", ", ".join(f"{score:.4f}" for score in scores.tolist()))
    with TemporaryDirectory() as directory:
        run = kgflow.train("world", "nfe-2-laplace", 16, epochs=2, out=f"{directory}/run")
        print(run.evaluate("test"))
