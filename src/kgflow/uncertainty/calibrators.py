"""Calibrators: non-decreasing functions from the log-odds of the loss to calibrated ones."""

import warnings
from abc import ABC, abstractmethod
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from kgflow.evaluation.metrics import Floats


class Calibrator(BaseModel, ABC):
    """Non-decreasing function of the log-odds z = margin + score that the loss implies."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @abstractmethod
    def __call__(self, z: Floats) -> Floats:
        """Return calibrated log-odds, in the shape of z."""


class Identity(Calibrator):
    """The probabilities of the loss itself: sigmoid(margin + score)."""

    kind: Literal["identity"] = "identity"

    def __call__(self, z: Floats) -> Floats:
        return z


class Platt(Calibrator):
    r"""Platt scaling: log-odds :math:`a z + b` with a ≥ 0.

    Platt: Probabilistic outputs for support vector machines, 1999.

    Example:
        >>> Platt(slope=2.0, intercept=-1.0)(np.array([0.0, 3.0])).tolist()
        [-1.0, 5.0]
    """

    kind: Literal["platt"] = "platt"
    slope: Annotated[float, Field(ge=0)]
    intercept: float

    @classmethod
    def fit(cls, z: Floats, truth: Floats, weight: Floats) -> "Platt":
        """Fit by logistic regression, with an L2 penalty that bounds the slope of separable data.

        Args:
            z: Log-odds, ``(N,)``.
            truth: 1 for true candidates, else 0, ``(N,)``.
            weight: Sample weights, ``(N,)``.
        """
        from sklearn.linear_model import LogisticRegression

        centre = np.average(z, weights=weight)
        scale = np.sqrt(np.average((z - centre) ** 2, weights=weight)) or 1.0
        model = LogisticRegression(solver="newton-cholesky", max_iter=100)
        with warnings.catch_warnings():
            # A fit that did not converge has a large loss, and so is not selected.
            warnings.simplefilter("ignore")
            model.fit(((z - centre) / scale)[:, None], truth, sample_weight=weight)
        slope = float(model.coef_[0, 0]) / scale
        if slope <= 0:  # scores do not predict truth: one probability for all
            share = np.average(truth, weights=weight)
            return cls(slope=0.0, intercept=float(np.log(share / (1 - share))))
        return cls(slope=slope, intercept=float(model.intercept_[0]) - slope * float(centre))

    def __call__(self, z: Floats) -> Floats:
        return self.slope * z + self.intercept


class Isotonic(Calibrator):
    """Isotonic regression, interpolated linearly between the points (z, odds), constant beyond.

    Zadrozny, Elkan: Transforming classifier scores into accurate multiclass probability estimates,
    2002.
    """

    kind: Literal["isotonic"] = "isotonic"
    z: Annotated[tuple[float, ...], Field(min_length=1)]
    odds: Annotated[tuple[float, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ascends(self) -> "Isotonic":
        if len(self.z) != len(self.odds):
            raise ValueError("z and odds must have the same length")
        if (np.diff(self.z) <= 0).any() or (np.diff(self.odds) < 0).any():
            raise ValueError("z and odds must ascend")
        return self

    @classmethod
    def fit(cls, z: Floats, truth: Floats, weight: Floats) -> "Isotonic":
        """Fit by least squares, then add half a candidate of either class to each level.

        So no probability is 0 or 1 (Krichevsky, Trofimov: The performance of universal encoding,
        1981). Arguments as in `Platt.fit`.
        """
        from sklearn.isotonic import IsotonicRegression, isotonic_regression

        order = np.argsort(z, kind="stable")
        z, truth, weight = z[order], truth[order], weight[order]
        level = IsotonicRegression().fit_transform(z, truth, sample_weight=weight)
        first = np.flatnonzero(np.diff(level, prepend=-1.0) > 0)
        mass = np.add.reduceat(weight, first) + 1
        p = (np.add.reduceat(truth * weight, first) + 0.5) / mass
        p = np.asarray(isotonic_regression(p, sample_weight=mass), dtype=np.float64)
        last = np.append(first[1:], len(z)) - 1
        # Each level spans its smallest to its largest z, which may be the same.
        points, keep = np.unique(np.stack([z[first], z[last]], 1).ravel(), return_index=True)
        odds = np.repeat(np.log(p) - np.log1p(-p), 2)[keep]
        return cls(z=tuple(points.tolist()), odds=tuple(odds.tolist()))

    def __call__(self, z: Floats) -> Floats:
        return np.interp(z, self.z, self.odds)


AnyCalibrator = Identity | Platt | Isotonic
CalibratorField = Annotated[AnyCalibrator, Field(discriminator="kind")]
Fitted = type[Platt] | type[Isotonic]
FITTED: tuple[Fitted, ...] = (Platt, Isotonic)
"""Calibrators that are fitted to data."""
