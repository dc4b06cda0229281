"""Which validation facts choose, and which are kept back to judge what was chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgflow.data.triples import Triples

FEWEST = 20
"""Of fewer facts all choose: a part of them could promise nothing."""


class Holdout(NamedTuple):
    """Two parts of the validation facts.

    The part that chooses may be looked at as often as one likes: it decides which epoch is kept
    and how scores become probabilities. The part held out is exchangeable with facts yet to come,
    since nothing was chosen by it: what is measured there can be promised.
    """

    choosing: Triples
    held_out: Triples


def hold_out(facts: Triples, share: float, seed: int) -> Holdout:
    """Split facts at random, always alike for a seed; a fact's two questions stay together.

    Args:
        facts: the validation facts.
        share: of them, to be held out; none where there are fewer than `FEWEST`.
        seed: of the drawing.

    Example:
        >>> facts = Triples.of([(i, 0, i + 1) for i in range(40)])
        >>> hold_out(facts, 0.3, seed=0)
        Holdout(choosing=Triples(28), held_out=Triples(12))
        >>> hold_out(facts.take(slice(0, 19)), 0.3, seed=0)
        Holdout(choosing=Triples(19), held_out=Triples(0))
    """
    size = int(share * len(facts)) if len(facts) >= FEWEST else 0
    kept = np.zeros(len(facts), dtype=bool)
    kept[np.random.default_rng(seed).permutation(len(facts))[:size]] = True
    return Holdout(facts.take(~kept), facts.take(kept))
