"""What kind of relation each one is: 1-1 to N-N, symmetric, inverse of another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgflow.data.queries import QueryIndex
from kgflow.data.triples import Ids, Triples, run_starts

MANY = 1.5
MOSTLY = 0.8


@dataclass(frozen=True, eq=False)
class Cardinality:
    """How many tails a head has on average, and how many heads a tail, by relation.

    Shapes:
        count, tails_per_head, heads_per_tail: (R,).

    Example:
        >>> in_country = Triples.of([(0, 0, 9), (1, 0, 9), (2, 0, 9)])
        >>> Cardinality.of(QueryIndex.build(in_country, entities=10, relations=1)).categories()
        ['N-1']
    """

    count: Ids
    tails_per_head: NDArray[np.float64]
    heads_per_tail: NDArray[np.float64]

    @classmethod
    def of(cls, index: QueryIndex) -> Cardinality:
        """The cardinalities of an index with inverse_relations."""
        queries = np.bincount(index.r, minlength=index.relations)
        facts = np.zeros(index.relations, dtype=np.int64)
        np.add.at(facts, index.r, index.counts)
        forward, backward = np.split(facts / np.maximum(queries, 1), 2)
        return cls(facts[: len(forward)], forward, backward)

    def categories(self) -> list[str]:
        """1-1, 1-N, N-1 or N-N for each relation, "unseen" for one without triples.

        After Bordes et al. (2013): an average of 1.5 and up is many.
        """
        heads = np.where(self.heads_per_tail < MANY, "1", "N")
        tails = np.where(self.tails_per_head < MANY, "1", "N")
        sides = zip(heads, tails, self.count, strict=True)
        return [f"{h}-{t}" if count else "unseen" for h, t, count in sides]


@dataclass(frozen=True, eq=False)
class Inverses:
    """Pairs of relations (r, s) and the share of r's triples (h, t) that s holds as (t, h).

    A symmetric relation is its own inverse.

    Shapes:
        r, s, share: (P,).

    Example:
        >>> facts = Triples.of([(0, 0, 1), (2, 0, 3), (1, 1, 0)])
        >>> found = Inverses.of(facts, entities=4, relations=2)
        >>> list(zip(found.r.tolist(), found.s.tolist(), found.share.tolist()))
        [(0, 1, 0.5), (1, 0, 1.0)]
        >>> found.leaked(Triples.of([(3, 1, 2), (0, 1, 2)])).tolist()
        [True, False]
    """

    r: Ids
    s: Ids
    share: NDArray[np.float64]
    relations: int
    between: QueryIndex

    @classmethod
    def of(cls, triples: Triples, entities: int, relations: int) -> Inverses:
        """The inverses among distinct triples."""
        # The relations between two entities are the answers to the query (h, t, ?): here t
        # stands where an index has its relation, and r where it has its tail.
        swapped = Triples(triples.h, triples.t, triples.r)
        between = QueryIndex.build(swapped, relations, entities, reciprocal=False)
        r, s = _reversed(between, triples)
        pairs = np.sort(r * relations + s)
        starts = run_starts(pairs)
        r, s = np.divmod(pairs[starts], max(relations, 1))
        overlap = np.diff(np.append(starts, len(pairs)))
        total = np.bincount(triples.r, minlength=relations)
        return cls(r, s, overlap / total[r], relations, between)

    def leaked(self, triples: Triples) -> NDArray[np.bool_]:
        """Which triples stand, turned round, among those of a relation mostly inverse to theirs.

        After Toutanova and Chen (2015), who found most of WN18 and FB15k to be so; mostly is a
        share of 0.8 and up.
        """
        mostly = self.share >= MOSTLY
        inverse = (self.r * self.relations + self.s)[mostly]
        position, s, _ = self.between.gather(self.between.find(triples.t, triples.h))
        leaks = np.isin(triples.r[position] * self.relations + s, inverse)
        mask = np.zeros(len(triples), dtype=bool)
        mask[position[leaks]] = True
        return mask

    def best(self, relation: int) -> tuple[float, int | None, float]:
        """The symmetry of a relation; its nearest other inverse, if any, and that one's share."""
        here = self.r == relation
        s, share = self.s[here], self.share[here]
        symmetry = float(share[s == relation].sum())
        other = np.where(s == relation, -1.0, share)
        if not (other > 0).any():
            return symmetry, None, 0.0
        return symmetry, int(s[other.argmax()]), float(other.max())


def _reversed(between: QueryIndex, triples: Triples) -> tuple[Ids, Ids]:
    """Each triple's relation r beside every relation s that holds the other way round."""
    position, s, _ = between.gather(between.find(triples.t, triples.h))
    return triples.r[position], s
