"""Rules: exact ones have distance zero; search and counts agree with loops."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

import kgflow
from graphs import ALL_MODELS, random_graph, random_model
from kgflow.analysis.rules import (
    Deviation,
    Graph,
    RelationDistance,
    Rule,
    RuleEvaluator,
    evaluate_candidates,
)
from kgflow.analysis.rules.evaluate import best_threshold
from kgflow.runs.predictor import Predictor

DIM, R = 12, 5


def distance_models():
    data = random_graph()
    return [
        name for name in ALL_MODELS if RelationDistance.of(random_model(name, data)) is not None
    ]


WITH_DISTANCE = distance_models()


def model_of(name):
    """A model of R relations with their inverse relations, all random."""
    return random_model(name, random_graph(relations=R), DIM)


def put(model, d, f):
    """Make relation d this function, as far as its family's parameters are known by name."""
    for part, row in zip(
        model.relation.parts, model.relation.split(model.relation.weight[d]), strict=True
    ):
        row.data.copy_(f[part])


def of(model, d):
    parts = model.relation.split(model.relation.weight.detach()[d])
    return dict(zip(model.relation.parts, (p.clone() for p in parts), strict=True))


def composed(f, g):
    """g after f, by hand, for the families whose parameters compose simply."""
    keys = set(f)
    if keys == {"mu", "sigma"}:
        return {"mu": g["sigma"] * f["mu"] + g["mu"], "sigma": g["sigma"] * f["sigma"]}
    if keys == {"sigma"}:
        return {"sigma": g["sigma"] * f["sigma"]}
    (key,) = keys
    return {key: f[key] + g[key]}


def test_every_family_has_distances():
    assert {"nfe-1", "nfe-2", "nfe-k", "transe", "rotate", "toruse", "mobiuse"} <= set(
        WITH_DISTANCE
    )
    assert {"nage-so3", "nfe-1-sigma"} <= set(WITH_DISTANCE)
    assert not {"conve", "tucker", "distmult", "complex"} & set(WITH_DISTANCE)


@pytest.mark.parametrize("name", WITH_DISTANCE)
def test_a_relation_that_is_its_inverse_is_symmetric(name):
    model = model_of(name)
    model.relation.weight.data[R + 1] = model.relation.weight.data[1]
    distances = RelationDistance.of(model)
    assert distances.distance(Rule((R + 1,), 1, R)) == 0
    assert distances.distance(Rule((R + 2,), 2, R)) > 0.1
    model.relation.weight.data[R + 3] = model.relation.weight.data[4]
    assert RelationDistance.of(model).distance(Rule((R + 3,), 4, R)) == 0


# NagE's angles compose in no simple way; its inverse is below.
@pytest.mark.parametrize("name", [name for name in WITH_DISTANCE if not name.startswith("nage")])
def test_a_composed_relation_is_the_composition(name):
    model = model_of(name)
    both = composed(of(model, 0), of(model, R + 1))
    put(model, 2, both)
    distances = RelationDistance.of(model)
    assert distances.distance(Rule((0, R + 1), 2, R)) < 1e-12
    assert distances.distance(Rule((0, R + 1), 3, R)) > 0.05
    back = distances.distance(Rule((R + 1, 0), 2, R))
    assert back > 1e-3 or set(both) != {"mu", "sigma"}, "affine functions do not commute"


@pytest.mark.parametrize(
    "name", ["nfe-1", "nfe-2", "rotate", "toruse norm=l2", "nage-su2", "mobiuse"]
)
def test_whole_turns_and_inverses_close(name):
    """f⁻¹ ∘ f is the identity; on rings and circles so is a whole turn."""
    model = model_of(name)
    forth = model.f_relation(*model.relation.split(model.relation.weight.detach()[0])).inverse()
    x = torch.randn(DIM // 2 if name == "rotate" else DIM, dtype=torch.float64)
    if name in ("nfe-1", "nfe-2"):
        put(model, 1, {"mu": forth.mu, "sigma": forth.sigma})
    elif name == "nage-su2":
        alpha = of(model, 0)
        put(model, 1, alpha | {"alpha": -alpha["alpha"]})
        there = model.f_relation(*model.relation.split(model.relation.weight.detach()[1]))
        torch.testing.assert_close(there.forward(x), forth.forward(x))
    else:
        turn = {"rotate": 2 * torch.pi, "toruse norm=l2": 3.0, "mobiuse": 0.0}[name]
        put(model, 1, {key: turn - value for key, value in of(model, 0).items()})
    distances = RelationDistance.of(model)
    assert distances.closure(Rule((R,), 1, R)) < 1e-12
    assert distances.closure(Rule((R,), 2, R)) > 1e-3


@pytest.mark.parametrize("name", WITH_DISTANCE)
def test_nearest_composition_is_that_of_the_loop_over_all_threes(name):
    model = model_of(name)
    distances = RelationDistance.of(model)
    for first, heads, nearest in distances.nearest(R):
        for second in range(2 * R):
            loop = [distances.distance(Rule((first, second), head, R)) for head in range(R)]
            assert min(loop) == pytest.approx(float(nearest[second]), abs=1e-9)
            assert loop[int(heads[second])] == pytest.approx(min(loop), abs=1e-9)


def test_distance_is_the_mean_square_over_entities():
    """For NFE-1 by many draws of entities, over the mean of all pairs of relations."""
    model = model_of("nfe-1")
    generator = torch.Generator().manual_seed(1)
    mu, sigma = model.entity.split(model.entity.weight.detach())
    z = torch.randn(500, *mu.shape, generator=generator, dtype=torch.float64)
    x = (mu + sigma * z).flatten(0, 1)
    m, s = model.relation.split(model.relation.weight.detach())

    def apart(d, e):
        return float(((s[d] - s[e]) * x + m[d] - m[e]).square().sum(1).mean())

    pairs = [apart(d, e) for d, e in product(range(2 * R), repeat=2) if d != e]
    expected = apart(R + 1, 1) / np.mean(pairs)
    # The distances draws each entity once.
    found = RelationDistance.of(model).distance(Rule((R + 1,), 1, R))
    assert found == pytest.approx(expected, rel=0.25)


def test_statistics_are_the_papers():
    model = model_of("nfe-1")
    m, s = model.relation.split(model.relation.weight.detach())
    scale, shift = Deviation.of(Rule((R + 1,), 1, R)).values(model)
    torch.testing.assert_close(scale, (s[1] * s[1] - 1).abs())
    torch.testing.assert_close(shift, (s[1] * m[1] + m[1]).abs())
    scale, shift = Deviation.of(Rule((R + 1,), 2, R)).values(model)
    torch.testing.assert_close(scale, (s[2] * s[1] - 1).abs())
    torch.testing.assert_close(shift, (s[2] * m[1] + m[2]).abs())
    scale, shift = Deviation.of(Rule((0, R + 1), 2, R)).values(model)
    torch.testing.assert_close(scale, (s[0] * s[R + 1] - s[2]).abs())
    torch.testing.assert_close(shift, (s[R + 1] * m[0] + m[R + 1] - m[2]).abs())
    put(model, 2, composed(of(model, 0), of(model, 1)))
    assert all(float(x.max()) < 1e-12 for x in Deviation(0, 1, 2).values(model))


def test_statistics_need_linear_relations():
    with pytest.raises(kgflow.KgflowError, match="nage-so3 has no histograms"):
        Deviation(0, 0).values(model_of("nage-so3"))


# --- the graph ----------------------------------------------------------------------------------


def loops(facts, rule):
    """Support and hits of a rule by loops over facts."""
    directed = {(h, r, t) for h, r, t in facts} | {(t, r + rule.relations, h) for h, r, t in facts}

    def steps(d):
        return {(h, t) for h, e, t in directed if e == d}

    pairs = steps(rule.body[0])
    for d in rule.body[1:]:
        pairs = {(h, t) for (h, m), (n, t) in product(pairs, steps(d)) if m == n}
    pairs = {(h, t) for h, t in pairs if h != t}
    hits = sum(((h, rule.head, t) in directed) != rule.negated for h, t in pairs)
    return len(pairs), hits


def test_counts_are_those_of_loops():
    data = random_graph(entities=9, relations=3, facts=70, held_out=0)
    facts, graph = data.train.array().tolist(), Graph(data.train, 9, 3)
    rules = [Rule((d,), r, 3) for d in range(6) for r in range(3)]
    rules += [Rule((r + 3,), r, 3, negated=True) for r in range(3)]
    rules += [Rule(body, r, 3) for body in product(range(6), repeat=2) for r in range(3)]
    for rule in rules:
        assert tuple(graph.count(rule)) == loops(facts, rule), rule


def test_paths_between_two_entities_are_those_of_loops():
    data = random_graph(entities=9, relations=3, facts=70, held_out=0)
    graph, facts = Graph(data.train, 9, 3), data.train.array().tolist()
    directed = [(h, r, t) for h, r, t in facts] + [(t, r + 3, h) for h, r, t in facts]
    every = np.zeros((6, 6), dtype=int)
    for h, t in product(range(9), repeat=2):
        expected = sorted(
            (d, m, e)
            for (a, d, m), (n, e, b) in product(directed, repeat=2)
            if (a, b) == (h, t) and m == n and m not in (h, t)
        )
        found = zip(*(x.tolist() for x in graph.paths_between(h, t)), strict=True)
        assert sorted(found) == expected
        assert sorted(graph.relations_between(h, t)) == sorted(
            d for a, d, b in directed if (a, b) == (h, t)
        )
    for (_, d, m), (n, e, _) in product(directed, repeat=2):
        every[d, e] += m == n
    assert (graph.path_counts == every).all()


def test_the_threshold_maximizes_youdens_j():
    rng = np.random.default_rng(0)
    high, low = rng.normal(1, 1, 50), rng.normal(0, 1, 80)

    def youden(line):
        return (high >= line).mean() - (low >= line).mean()

    assert youden(best_threshold(high, low)) == max(youden(x) for x in [*high, *low])


@pytest.mark.parametrize("name", ALL_MODELS)
def test_rules_of_every_model_are_evaluated(name):
    data = random_graph(entities=20, relations=2, facts=90, held_out=2)
    evaluator = RuleEvaluator(Predictor(random_model(name, data), data, margin=0.0))
    found = list(evaluate_candidates(evaluator, include_all=True))
    assert {"symmetric", "antisymmetric"} <= {e.rule.kind for e in found}
    assert all(0 <= e.model_confidence <= 1 for e in found if e.support)
    assert {e.distance is None for e in found} == {name not in WITH_DISTANCE}


def test_relations_that_are_all_one_function_are_at_no_distance():
    model = model_of("nfe-1")
    model.relation.weight.data.fill_(0.5)
    distances = RelationDistance.of(model)
    assert distances.distance(Rule((R,), 0, R)) == 0
    assert all(distance.isfinite().all() for _, _, distance in distances.nearest(R))


def test_a_relation_without_training_triples_has_no_model_confidence():
    data = random_graph(relations=R)
    shown = data.train.r != 0
    data = replace(data, train=data.train.take(shown), valid=data.train.take(~shown))
    evaluator = RuleEvaluator(Predictor(random_model("nfe-1", data, DIM), data, margin=1.0))
    for negated in (False, True):
        found = evaluator.evaluate(Rule((R,), 0, R, negated=negated))
        assert found.support > 0
        assert found.model_confidence == 0
