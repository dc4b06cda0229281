"""Calibrators: strictly increasing functions from the log-odds of the loss to calibrated ones."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from kgflow.evaluation.metrics import Floats

MIN_SLOPE = 1e-3
"""Smallest slope of a fitted calibrator: where scores predict nothing, it is almost constant."""

Positive = Annotated[float, Field(gt=0)]


class Calibrator(BaseModel, ABC):
    """Strictly increasing function of the log-odds z = margin + score that the loss implies."""

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
    r"""Platt scaling: log-odds :math:`a z + b` with a > 0.

    Platt: Probabilistic outputs for support vector machines, 1999.

    Example:
        >>> Platt(slope=2.0, intercept=-1.0)(np.array([0.0, 3.0])).tolist()
        [-1.0, 5.0]
    """

    kind: Literal["platt"] = "platt"
    slope: Positive
    intercept: float

    @classmethod
    def fit(cls, z: Floats, truth: Floats, weight: Floats) -> "Platt":
        """Fit by logistic regression, with an L2 penalty that bounds the slope of separable data.

        Args:
            z: Log-odds, ``(N,)``.
            truth: 1 for true candidates, else 0, ``(N,)``.
            weight: Sample weights, ``(N,)``.
        """
        slope, intercept = _logistic_regression(z[:, None], truth, weight)
        return cls(slope=slope, intercept=intercept)

    def __call__(self, z: Floats) -> Floats:
        return self.slope * z + self.intercept


class Beta(Calibrator):
    r"""Beta calibration: log-odds :math:`a \log p - b \log(1 - p) + c` of p = sigmoid(z), a, b > 0.

    Kull, Silva Filho, Flach: Beta calibration: a well-founded and easily implemented improvement
    on logistic calibration for binary classifiers, 2017. With a = b it is Platt scaling.

    Example:
        >>> Beta(low=2.0, high=2.0, intercept=-1.0)(np.array([0.0, 3.0])).round(9).tolist()
        [-1.0, 5.0]
    """

    kind: Literal["beta"] = "beta"
    low: Positive
    high: Positive
    intercept: float

    @classmethod
    def fit(cls, z: Floats, truth: Floats, weight: Floats) -> "Beta":
        """Fit by logistic regression on log p and -log(1 - p); arguments as in `Platt.fit`."""
        low, high, intercept = _logistic_regression(cls._features(z), truth, weight)
        return cls(low=low, high=high, intercept=intercept)

    @staticmethod
    def _features(z: Floats) -> Floats:
        return np.stack([-np.logaddexp(0, -z), np.logaddexp(0, z)], axis=-1)

    def __call__(self, z: Floats) -> Floats:
        return self._features(z) @ np.array([self.low, self.high]) + self.intercept


class Spline(Calibrator):
    """Monotone cubic spline through the levels of isotonic regression, a straight line beyond.

    Fritsch, Butland: A method for constructing local monotone piecewise cubic interpolants, 1984;
    isotonic regression: Zadrozny, Elkan: Transforming classifier scores into accurate multiclass
    probability estimates, 2002.

    Example:
        >>> Spline(z=(0.0, 1.0), odds=(0.0, 2.0))(np.array([-1.0, 0.5, 3.0])).tolist()
        [-2.0, 1.0, 6.0]
    """

    kind: Literal["spline"] = "spline"
    z: Annotated[tuple[float, ...], Field(min_length=2)]
    odds: Annotated[tuple[float, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _ascends(self) -> "Spline":
        if len(self.z) != len(self.odds):
            raise ValueError("z and odds must have the same length")
        if (np.diff(self.z) <= 0).any() or (np.diff(self.odds) <= 0).any():
            raise ValueError("z and odds must ascend")
        return self

    @classmethod
    def fit(cls, z: Floats, truth: Floats, weight: Floats) -> "Spline":
        """Fit isotonic regression, and add half a candidate of either class to each level.

        So no probability is 0 or 1 (Krichevsky, Trofimov: The performance of universal encoding,
        1981). The knot of a level is at its mean z. Arguments as in `Platt.fit`.
        """
        from sklearn.isotonic import IsotonicRegression, isotonic_regression

        order = np.argsort(z, kind="stable")
        z, truth, weight = z[order], truth[order], weight[order]
        level = IsotonicRegression().fit_transform(z, truth, sample_weight=weight)
        first = np.flatnonzero(np.diff(level, prepend=-1.0) > 0)
        columns = (weight, truth * weight, z * weight)
        mass, true, position = (np.add.reduceat(column, first) for column in columns)
        p = (true + 0.5) / (mass + 1)
        p = np.asarray(isotonic_regression(p, sample_weight=mass + 1), dtype=np.float64)
        # Levels that are equal now become one.
        first = np.flatnonzero(np.diff(p, prepend=-1.0) > 1e-9 * p)
        p, knot = p[first], np.add.reduceat(position, first) / np.add.reduceat(mass, first)
        return cls._through(knot, np.log(p) - np.log1p(-p))

    @classmethod
    def _through(cls, z: Floats, odds: Floats) -> "Spline":
        """Return the spline through knots, tilted a little so that it ascends everywhere."""
        if len(z) == 1:
            z, odds = np.append(z, z + 1), np.repeat(odds, 2)
        odds = odds + MIN_SLOPE * (z - z.mean())
        return cls(z=tuple(z.tolist()), odds=tuple(odds.tolist()))

    def __call__(self, z: Floats) -> Floats:
        from scipy.interpolate import PchipInterpolator

        knots, odds = np.array(self.z), np.array(self.odds)
        inside = PchipInterpolator(knots, odds)(np.clip(z, knots[0], knots[-1]))
        slope = (odds[-1] - odds[0]) / (knots[-1] - knots[0])
        beyond = np.minimum(z - knots[0], 0) + np.maximum(z - knots[-1], 0)
        return np.asarray(inside + slope * beyond, dtype=np.float64)


def _logistic_regression(X: Floats, truth: Floats, weight: Floats) -> tuple[float, ...]:
    """Return slopes of at least `MIN_SLOPE`, and then the intercept, for features ``(N, d)``."""
    centre = np.average(X, axis=0, weights=weight)
    scale = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=weight))
    scale = np.where(scale > 0, scale, 1.0)
    columns = np.concatenate([(X - centre) / scale, np.ones((len(X), 1))], axis=1)
    lower = np.append(MIN_SLOPE * scale, -np.inf)

    def loss(w: Floats) -> tuple[float, Floats]:
        from scipy.special import expit

        odds = columns @ w
        ridge = np.append(w[:-1], 0.0)
        value = weight @ (np.logaddexp(0, odds) - truth * odds) + ridge @ ridge / 2
        return float(value), columns.T @ (weight * (expit(odds) - truth)) + ridge

    share = np.average(truth, weights=weight)
    start = np.append(lower[:-1], np.log(share / (1 - share)))
    w = minimize_bounded(loss, start, lower)
    slopes = np.maximum(w[:-1] / scale, MIN_SLOPE)
    return *slopes.tolist(), float(w[-1] - slopes @ centre)


def minimize_bounded(
    loss: Callable[[Floats], tuple[float, Floats]], start: Floats, lower: Floats
) -> Floats:
    """Minimise a function that returns its value and gradient, with lower bounds: ``(d,)``."""
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    bounds = [(low if np.isfinite(low) else None, None) for low in lower]
    with threadpool_limits(1):  # for arrays this small, threads wait longer than they compute
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x, dtype=np.float64)


AnyCalibrator = Identity | Platt | Beta | Spline
CalibratorField = Annotated[AnyCalibrator, Field(discriminator="kind")]
Fitted = type[Platt] | type[Beta] | type[Spline]
FITTED: tuple[Fitted, ...] = (Platt, Beta, Spline)
"""Calibrators that are fitted to data."""
