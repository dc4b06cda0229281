"""Values of queries are those of all assignments of the variables, and bounds hold."""

import itertools
from functools import cache

import numpy as np
import pytest

from graphs import random_graph, random_model
from kgflow.evaluation import Scorer
from kgflow.queries.execution import Executor
from kgflow.queries.facts import FactProbabilities, KnownFacts
from kgflow.queries.tree import (
    SHAPES,
    Anchor,
    Anything,
    Intersection,
    Negation,
    Projection,
    Union,
    children,
)
from kgflow.uncertainty import Calibration, MissingAnswerProbability
from kgflow.uncertainty.calibrators import Platt

E, R = 9, 2
DATA = random_graph(entities=E, relations=R, facts=40, held_out=6)
OTHERS = {
    "any": Projection(Anything()),
    "deep": Projection(Negation(Projection(Union((SHAPES["2in"], SHAPES["2p"]))))),
    "not any": Intersection((SHAPES["1p"], Negation(Projection(Anything())))),
}
QUERIES = SHAPES | OTHERS


@cache
def facts(model_only=False):
    model = random_model("nfe-1", DATA, dim=4)
    calibration = Calibration(margin=5.0, by_relation={1: Platt(slope=0.3, intercept=-1.0)})
    missing = MissingAnswerProbability(DATA)
    return FactProbabilities(Scorer(model, DATA.known), calibration, missing, model_only)


@cache
def matrix(r, model_only=False):
    """P of all facts of a relation, from single triples."""
    h, t = np.divmod(np.arange(E * E), E)
    return facts(model_only).of_triples(h, np.full(E * E, r), t).reshape(E, E)


def filled(node, rng):
    if isinstance(node, Anchor):
        return Anchor(int(rng.integers(E)))
    if isinstance(node, Projection):
        return Projection(filled(node.child, rng), int(rng.integers(2 * R)))
    if isinstance(node, Negation):
        return Negation(filled(node.child, rng))
    return node if not children(node) else type(node)(tuple(filled(c, rng) for c in node.children))


def assignments(node, t, P, join):
    """The value of t by the definition: one number for each head, without vectors or blocks."""
    if isinstance(node, Anchor):
        return float(t == node.entity)
    if isinstance(node, Anything):
        return 1.0
    if isinstance(node, Negation):
        return 1 - assignments(node.child, t, P, join)
    if isinstance(node, Projection):
        return join(assignments(node.child, h, P, join) * P(node.relation)[h, t] for h in range(E))
    values = [assignments(child, t, P, join) for child in node.children]
    if isinstance(node, Intersection):
        return float(np.prod(values))
    return 1 - float(np.prod([1 - v for v in values]))


def noisy_or(values):
    return 1 - float(np.prod([1 - v for v in values]))


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize(("existential", "join"), [("max", max), ("noisy-or", noisy_or)])
@pytest.mark.parametrize("model_only", [False, True])
def test_values_are_those_of_all_assignments(name, existential, join, model_only):
    rng = np.random.default_rng(len(name))
    P = cache(lambda r: matrix(r, model_only))
    node = filled(QUERIES[name], rng)
    found = Executor(KnownFacts(DATA.known), facts(model_only), existential)(node)
    expected = [assignments(node, t, P, join) for t in range(E)]
    np.testing.assert_allclose(found.value, expected, atol=1e-12)
    assert len(found.rows) == 1, "exact"


def test_the_best_witness_of_all_assignments():
    """Two hops by a loop over the intermediate entities."""
    for a, r, s in itertools.product(range(E), range(2 * R), range(2 * R)):
        found = Executor(KnownFacts(DATA.known), facts())(Projection(Projection(Anchor(a), r), s))
        values = matrix(r)[a][:, None] * matrix(s)
        chosen = values[found.best, np.arange(E)]
        np.testing.assert_allclose(chosen, values.max(0), atol=1e-12)


class Recorded:
    """Probabilities of facts that note how many heads they were asked for at a time."""

    model_only = False

    def __init__(self):
        self.sizes = []

    def __call__(self, h, r):
        self.sizes.append(len(h))
        return facts()(h, r)


@pytest.mark.parametrize("existential", ["max", "noisy-or"])
def test_blocked_is_unblocked(existential):
    for seed, shape in enumerate(QUERIES.values()):
        node = filled(shape, np.random.default_rng(seed))
        held = Recorded()
        whole, two = (
            Executor(KnownFacts(DATA.known), held, existential, cells=cells)(node)
            for cells in (10**6, 2 * E)
        )
        np.testing.assert_allclose(whole.rows, two.rows, atol=1e-14)
        assert max(held.sizes[len(held.sizes) // 2 :], default=0) <= 2, "memory is bounded"


@pytest.mark.parametrize("existential", ["max", "noisy-or"])
@pytest.mark.parametrize("beam", [1, 2, 5])
def test_bounds_of_a_beam_are_never_wrong(existential, beam):
    inexact = 0
    for seed, shape in enumerate([*QUERIES.values()] * 4):
        node = filled(shape, np.random.default_rng(seed))
        exact = Executor(KnownFacts(DATA.known), facts(), existential)(node).value
        found = Executor(KnownFacts(DATA.known), facts(), existential, beam=beam)(node)
        assert (found.low <= exact + 1e-12).all()
        assert (found.high >= exact - 1e-12).all()
        assert ((found.low <= found.value) & (found.value <= found.high)).all()
        inexact += bool((found.value < exact - 1e-6).any())
    assert inexact > 0 or beam > 2, "a narrow beam misses something, so that bounds matter"


def plain_join(node, triples):
    """Answers by sets, with the closed world for negation."""
    if isinstance(node, Anchor):
        return {node.entity}
    if isinstance(node, Anything):
        return set(range(E))
    if isinstance(node, Negation):
        return set(range(E)) - plain_join(node.child, triples)
    if isinstance(node, Projection):
        inner, r = plain_join(node.child, triples), node.relation
        if r < R:
            return {t for h, s, t in triples if s == r and h in inner}
        return {h for h, s, t in triples if s == r - R and t in inner}
    parts = [plain_join(child, triples) for child in node.children]
    return set.intersection(*parts) if isinstance(node, Intersection) else set.union(*parts)


@pytest.mark.parametrize("name", QUERIES)
def test_answers_of_known_facts_are_a_plain_join(name):
    triples = [t for s in ("train", "valid", "test") for t in DATA.split(s).array().tolist()]
    for seed in range(5):
        node = filled(QUERIES[name], np.random.default_rng(seed))
        found = Executor(KnownFacts(DATA.known))(node).value
        assert set(np.flatnonzero(found > 0)) == plain_join(node, triples)


def test_rows_and_triples_have_the_same_probabilities():
    for model_only in (False, True):
        for r in range(2 * R):
            P = facts(model_only)(np.arange(E), r)
            np.testing.assert_allclose(P, matrix(r, model_only), atol=1e-12)
            new = ~DATA.known.contains(*np.meshgrid(range(E), [r], range(E), indexing="ij"))[:, 0]
            limit = facts(model_only).limit(np.arange(E), r)
            most = np.where(new, limit[:, None], 1)
            assert (most - P).min() >= -1e-12
