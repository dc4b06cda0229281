"""Validation triples for model selection, and held-out ones for conformal prediction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgflow.data.triples import Triples

MIN_TRIPLES = 20
"""Smallest number of triples of which a share is held out."""


class Holdout(NamedTuple):
    """Two parts of the validation triples.

    Attributes:
        selection: Triples that select the best epoch and fit the calibration.
        held_out: Triples that nothing was fitted to. They are exchangeable with new triples, so
            prediction sets with thresholds from them have the nominal coverage.
    """

    selection: Triples
    held_out: Triples


def hold_out(facts: Triples, share: float, seed: int) -> Holdout:
    """Split validation triples at random.

    Args:
        facts: Validation triples.
        share: Share that is held out; none where there are fewer than `MIN_TRIPLES`.
        seed: Random seed.

    Example:
        >>> facts = Triples.of([(i, 0, i + 1) for i in range(40)])
        >>> hold_out(facts, 0.3, seed=0)
        Holdout(selection=Triples(28), held_out=Triples(12))
        >>> hold_out(facts.take(slice(0, 19)), 0.3, seed=0)
        Holdout(selection=Triples(19), held_out=Triples(0))
    """
    size = int(share * len(facts)) if len(facts) >= MIN_TRIPLES else 0
    kept = np.zeros(len(facts), dtype=bool)
    kept[np.random.default_rng(seed).permutation(len(facts))[:size]] = True
    return Holdout(facts.take(~kept), facts.take(kept))
