"""How scores become probabilities: maps of log-odds that never change an order."""

import warnings
from abc import ABC, abstractmethod
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from kgflow.evaluation.metrics import Floats


class Map(BaseModel, ABC):
    """A non-decreasing map from the log-odds that the loss means, margin + score, to true ones."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @abstractmethod
    def __call__(self, z: Floats) -> Floats:
        """The log-odds of truth, the shape of z."""


class Identity(Map):
    """The loss's own meaning: log-odds are margin + score."""

    kind: Literal["identity"] = "identity"

    def __call__(self, z: Floats) -> Floats:
        """As they are."""
        return z


class Logistic(Map):
    r"""Log-odds :math:`a z + b` with a of 0 or more.

    Platt: Probabilistic outputs for support vector machines, 1999.

    Example:
        >>> Logistic(slope=2.0, intercept=-1.0)(np.array([0.0, 3.0])).tolist()
        [-1.0, 5.0]
    """

    kind: Literal["logistic"] = "logistic"
    slope: Annotated[float, Field(ge=0)]
    intercept: float

    @classmethod
    def fit(cls, z: Floats, truth: Floats, weight: Floats) -> "Logistic":
        """The likeliest, with a slight pull to a slope of 0 where truth and rest are far apart."""
        from sklearn.linear_model import LogisticRegression

        centre = np.average(z, weights=weight)
        scale = np.sqrt(np.average((z - centre) ** 2, weights=weight)) or 1.0
        model = LogisticRegression(solver="newton-cholesky", max_iter=100)
        with warnings.catch_warnings():
            # One that did not converge is no good map, and so will not be chosen.
            warnings.simplefilter("ignore")
            model.fit(((z - centre) / scale)[:, None], truth, sample_weight=weight)
        slope = float(model.coef_[0, 0]) / scale
        if slope <= 0:  # no better than a guess: the same odds for all
            share = np.average(truth, weights=weight)
            return cls(slope=0.0, intercept=float(np.log(share / (1 - share))))
        return cls(slope=slope, intercept=float(model.intercept_[0]) - slope * float(centre))

    def __call__(self, z: Floats) -> Floats:
        """A straight line."""
        return self.slope * z + self.intercept


class Isotonic(Map):
    """The non-decreasing frequencies nearest to what was seen.

    Zadrozny, Elkan: Transforming classifier scores into accurate multiclass probability estimates,
    2002. Between the places `z` the log-odds go in lines from `odds` to `odds`, and stay as they
    are beyond.
    """

    kind: Literal["isotonic"] = "isotonic"
    z: Annotated[tuple[float, ...], Field(min_length=1)]
    odds: Annotated[tuple[float, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ascends(self) -> "Isotonic":
        if len(self.z) != len(self.odds):
            raise ValueError("as many odds as places are needed")
        if (np.diff(self.z) <= 0).any() or (np.diff(self.odds) < 0).any():
            raise ValueError("places and odds must ascend")
        return self

    @classmethod
    def fit(cls, z: Floats, truth: Floats, weight: Floats) -> "Isotonic":
        """Nearest by squares, each level's frequency with half a candidate more of either kind.

        So no level is 0 or 1 (Krichevsky, Trofimov: The performance of universal encoding, 1981).
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
        # Each level from its first place to its last; a level of one place has one.
        places, keep = np.unique(np.stack([z[first], z[last]], 1).ravel(), return_index=True)
        odds = np.repeat(np.log(p) - np.log1p(-p), 2)[keep]
        return cls(z=tuple(places.tolist()), odds=tuple(odds.tolist()))

    def __call__(self, z: Floats) -> Floats:
        """By lines between the places."""
        return np.interp(z, self.z, self.odds)


OneMap = Identity | Logistic | Isotonic
"""Every map there is."""
AnyMap = Annotated[OneMap, Field(discriminator="kind")]
Fitted = type[Logistic] | type[Isotonic]
FITTED: tuple[Fitted, ...] = (Logistic, Isotonic)
"""What can be learned."""
