"""Rules: exact ones have distance zero, searched is looped, counted is counted by hand."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

import kgflow
from graphs import ALL_MODELS, random_graph, random_model
from kgflow.analysis.rules import KINDS, Geometry, Graph, Judge, Rule, Statistic
from kgflow.analysis.rules.acceptance import best_line
from kgflow.analysis.rules.believed import judged
from kgflow.runs.predictor import Predictor

DIM, R = 12, 5


def geometry_models():
    data = random_graph()
    return [name for name in ALL_MODELS if Geometry.of(random_model(name, data)) is not None]


GEOMETRIC = geometry_models()


def model_of(name):
    """A model of R relations with their inverse_relations, all random."""
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


def test_geometry_is_of_every_family():
    assert {"nfe-1", "nfe-2", "nfe-k", "transe", "rotate", "toruse", "mobiuse"} <= set(GEOMETRIC)
    assert {"nage-so3", "nfe-1-sigma"} <= set(GEOMETRIC)
    assert not {"conve", "tucker", "distmult", "complex"} & set(GEOMETRIC)


@pytest.mark.parametrize("name", GEOMETRIC)
def test_a_relation_that_is_its_reciprocal_is_symmetric(name):
    model = model_of(name)
    model.relation.weight.data[R + 1] = model.relation.weight.data[1]
    geometry = Geometry.of(model)
    assert geometry.distance(Rule((R + 1,), 1, R)) == 0
    assert geometry.distance(Rule((R + 2,), 2, R)) > 0.1
    model.relation.weight.data[R + 3] = model.relation.weight.data[4]
    assert Geometry.of(model).distance(Rule((R + 3,), 4, R)) == 0


# NagE's angles compose in no simple way; its inverse is below.
@pytest.mark.parametrize("name", [name for name in GEOMETRIC if not name.startswith("nage")])
def test_a_composed_relation_is_the_composition(name):
    model = model_of(name)
    both = composed(of(model, 0), of(model, R + 1))
    put(model, 2, both)
    geometry = Geometry.of(model)
    assert geometry.distance(Rule((0, R + 1), 2, R)) < 1e-12
    assert geometry.distance(Rule((0, R + 1), 3, R)) > 0.05
    back = geometry.distance(Rule((R + 1, 0), 2, R))
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
    geometry = Geometry.of(model)
    assert geometry.closure(Rule((R,), 1, R)) < 1e-12
    assert geometry.closure(Rule((R,), 2, R)) > 1e-3


@pytest.mark.parametrize("name", GEOMETRIC)
def test_nearest_composition_is_that_of_the_loop_over_all_threes(name):
    model = model_of(name)
    geometry = Geometry.of(model)
    for first, heads, distances in geometry.nearest(R):
        for second in range(2 * R):
            loop = [geometry.distance(Rule((first, second), head, R)) for head in range(R)]
            assert min(loop) == pytest.approx(float(distances[second]), abs=1e-9)
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
    # The geometry draws each entity once.
    found = Geometry.of(model).distance(Rule((R + 1,), 1, R))
    assert found == pytest.approx(expected, rel=0.25)


def test_statistics_are_the_papers():
    model = model_of("nfe-1")
    m, s = model.relation.split(model.relation.weight.detach())
    scale, shift = Statistic.of(Rule((R + 1,), 1, R)).gaps(model)
    torch.testing.assert_close(scale, (s[1] * s[1] - 1).abs())
    torch.testing.assert_close(shift, (s[1] * m[1] + m[1]).abs())
    scale, shift = Statistic.of(Rule((R + 1,), 2, R)).gaps(model)
    torch.testing.assert_close(scale, (s[2] * s[1] - 1).abs())
    torch.testing.assert_close(shift, (s[2] * m[1] + m[2]).abs())
    scale, shift = Statistic.of(Rule((0, R + 1), 2, R)).gaps(model)
    torch.testing.assert_close(scale, (s[0] * s[R + 1] - s[2]).abs())
    torch.testing.assert_close(shift, (s[R + 1] * m[0] + m[R + 1] - m[2]).abs())
    put(model, 2, composed(of(model, 0), of(model, 1)))
    assert all(float(x.max()) < 1e-12 for x in Statistic(0, 1, 2).gaps(model))


def test_statistics_need_linear_relations():
    with pytest.raises(kgflow.KgflowError, match="nage-so3 has no histograms"):
        Statistic(0, 0).gaps(model_of("nage-so3"))


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
        found = zip(*(x.tolist() for x in graph.score_relations(h, t)), strict=True)
        assert sorted(found) == expected
        assert sorted(graph.direct(h, t)) == sorted(d for a, d, b in directed if (a, b) == (h, t))
    for (_, d, m), (n, e, _) in product(directed, repeat=2):
        every[d, e] += m == n
    assert (graph.paths == every).all()


def test_the_line_tells_best():
    rng = np.random.default_rng(0)
    high, low = rng.normal(1, 1, 50), rng.normal(0, 1, 80)

    def told(line):
        return (high >= line).mean() - (low >= line).mean()

    assert told(best_line(high, low)) == max(told(x) for x in [*high, *low])


@pytest.mark.parametrize("name", ALL_MODELS)
def test_every_model_has_beliefs(name):
    data = random_graph(entities=20, relations=2, facts=90, held_out=2)
    judge = Judge(Predictor(random_model(name, data), data, margin=0.0))
    found = list(judged(judge, None, KINDS, everything=True, progress=lambda share: None))
    assert {"symmetric", "antisymmetric"} <= {belief.rule.kind for belief in found}
    assert all(0 <= b.belief <= 1 for b in found if b.support)
    assert {b.distance is None for b in found} == {name not in GEOMETRIC}


def test_relations_that_are_all_one_function_are_at_no_distance():
    model = model_of("nfe-1")
    model.relation.weight.data.fill_(0.5)
    geometry = Geometry.of(model)
    assert geometry.distance(Rule((R,), 0, R)) == 0
    assert all(distance.isfinite().all() for _, _, distance in geometry.nearest(R))


def test_a_model_that_was_never_shown_a_relation_believes_nothing_of_it():
    data = random_graph(relations=R)
    shown = data.train.r != 0
    data = replace(data, train=data.train.take(shown), valid=data.train.take(~shown))
    judge = Judge(Predictor(random_model("nfe-1", data, DIM), data, margin=1.0))
    for negated in (False, True):
        found = judge.judge(Rule((R,), 0, R, negated=negated))
        assert found.support > 0
        assert found.belief == 0
