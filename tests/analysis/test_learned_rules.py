"""Rules of small graphs are learned, and explain answers."""

import numpy as np
import pytest

import kgflow
from kgflow.analysis import Explainer, explain, find_rules, rules_frame
from kgflow.data import Dataset, Triples, Vocabulary


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A small run that learned enough of the embedded data set."""
    out = tmp_path_factory.mktemp("rules") / "world"
    common = {"dim": 32, "epochs": 25, "lr": 0.06}
    return kgflow.train(
        "world",
        **common,
        model="nfe-1",
        settings={
            "training.batch_size": 256,
            "training.lr_schedule.decay": 0.95,
            "training.loss.dropout": 0.0,
            "training.ema_decay": 0.0,
            "training.validate_every": 25,
        },
        out=out,
    )


def rules_of(run, **options):
    return rules_frame(run, find_rules(run, **options))


def sentences(frame, kind=None):
    rows = frame if kind is None else frame.filter(frame["kind"] == kind)
    return rows["rule"].to_list()


def test_rules_of_world_are_found(world):
    found = rules_of(world)
    assert sentences(found, "symmetric")[0] == "borders is symmetric"
    learned = found.filter(found["agreement"] != "graph only")
    assert set(sentences(learned, "symmetric")) == {"borders is symmetric"}
    inverse = sentences(learned, "inverse")
    assert "has_capital is the inverse of capital_of" in inverse[:3]
    assert "capital_of is the inverse of has_capital" in inverse[:3]
    assert "in_subregion then subregion_in gives in_region" in sentences(learned, "composition")
    agreed = found.filter(found["rule"] == "borders is symmetric").row(0, named=True)
    assert (agreed["support"], agreed["confidence"], agreed["agreement"]) == (630, 1.0, "both")


def test_antisymmetric_relations_are_not_symmetric(world):
    found = rules_of(world)
    antisymmetric = {name.split()[0] for name in sentences(found, "antisymmetric")}
    assert "borders" not in antisymmetric
    assert {"capital_of", "in_region", "city_in"} <= antisymmetric


def test_rules_are_selected(world):
    found = rules_of(world, relation="borders", kind="composition", k=1)
    assert len(found) == 1
    assert "borders" in found["rule"][0]
    assert len(rules_of(world, include_all=True)) > len(rules_of(world))
    with pytest.raises(kgflow.KgflowError, match="did you mean inverse"):
        rules_of(world, kind="inverses")


def cousins():
    """Parents, children and grandparents of a few generations; friends, one way told."""
    rng, facts = np.random.default_rng(0), []
    parent = {child: (child - 1) // 3 for child in range(1, 121)}
    for child, elder in parent.items():
        facts += [(child, 0, elder), (elder, 1, child)]
        if elder in parent:
            facts.append((child, 2, parent[elder]))
    for a, b in rng.integers(0, 121, (60, 2)).tolist():
        facts += [(a, 3, b), (b, 3, a)] if a != b else []
    names = ("parent", "child", "grandparent", "friend")
    train, _ = Triples.of(facts).unique()
    return Dataset(
        "family",
        Vocabulary([f"p{i}" for i in range(121)]),
        Vocabulary(list(names), kind="relation"),
        train=train,
    )


@pytest.mark.parametrize("model", ["nfe-1", "complex"])
def test_rules_of_a_family_are_found(tmp_path, model):
    settings = {"training.loss.dropout": 0.0, "training.ema_decay": 0.0}
    run = kgflow.train(
        cousins(), model, 24, epochs=30, lr=0.1, settings=settings, out=tmp_path / "run"
    )
    found = rules_of(run)
    agreed = found.filter(found["agreement"] == "both")["rule"].to_list()
    assert {
        "friend is symmetric",
        "child is the inverse of parent",
        "parent is the inverse of child",
        "parent then parent gives grandparent",
    } <= set(agreed)
    assert "parent is symmetric" not in agreed
    assert found["distance"].is_null().all() == (model == "complex")


def test_borders_are_explained_by_symmetry(world):
    data = world.data
    train = {tuple(row) for row in data.train.array().tolist()}
    france, borders = data.entity_id("France"), data.relations.id("borders")
    found = [t for h, r, t in train if (h, r) == (france, borders) and (t, r, h) in train]
    name = data.label(found[0])
    first, *others = explain(world, "France", "borders", name, n=2)
    assert first.rule == "borders is symmetric"
    assert first.triples == ((name, "borders", "France"),)
    assert first.text == f"{name} borders France, and borders is symmetric"
    assert (first.confidence, first.distance) == (1.0, None)
    near = [explanation for explanation in others if explanation.distance is not None]
    assert len(near) == 2
    assert near[0].distance <= near[1].distance


def test_a_composition_cites_both_facts(world):
    """A country's region follows from that of its subregion; all are training facts."""
    data = world.data
    train = {tuple(row) for row in data.train.array().tolist()}
    within, above, region = (
        data.relations.id(name) for name in ("in_subregion", "subregion_in", "in_region")
    )
    middle = {(h, t) for h, r, t in train if r == above}
    h, m, t = next(
        (h, m, t) for h, r, m in sorted(train) if r == within for n, t in middle if n == m
    )
    explanations = Explainer(world.predictor).explain(h, region, t, n=5)
    cited = {explanation.rule: explanation.triples for explanation in explanations}
    e = data.label
    assert cited["in_subregion then subregion_in gives in_region"] == (
        (e(h), "in_subregion", e(m)),
        (e(m), "subregion_in", e(t)),
    )
    names = {(e(a), data.relations[r], e(b)) for a, r, b in train}
    assert all(fact in names for explanation in explanations for fact in explanation.triples)


def test_unknown_names_are_refused(world):
    with pytest.raises(kgflow.KgflowError, match="unknown entity"):
        explain(world, "Nowhere", "borders", "France")
