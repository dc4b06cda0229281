"""Explanations: the nearest triples are those of a loop."""

import numpy as np
import pytest

from graphs import ALL_MODELS, random_graph, random_model
from kgflow.analysis import Explainer
from kgflow.runs.predictor import Predictor


@pytest.mark.parametrize("name", ALL_MODELS)
def test_nearest_facts_are_those_of_a_loop(name):
    data = random_graph(entities=20, relations=2, facts=90, held_out=2)
    model = random_model(name, data)
    explainer = Explainer(Predictor(model, data, margin=0.0))
    K = model.encode_keys(model.entity.weight.detach()).K.detach().numpy()
    pairs = [np.sum((K[a] - K[b]) ** 2) for a in range(20) for b in range(20)]
    facts = [(h, t) for h, r, t in data.train.array().tolist() if r == 1]
    h, t = facts[0]
    loop = sorted(
        (float(np.sqrt((np.sum((K[h] - K[a]) ** 2) + np.sum((K[t] - K[b]) ** 2)) / 2)), a, b)
        for a, b in facts[1:]
    )
    found = explainer.nearest(h, 1, t, 4)
    expected = [gap / np.sqrt(np.mean(pairs)) for gap, _, _ in loop[:4]]
    assert [gap for _, _, gap in found] == pytest.approx(expected, rel=1e-6)
    assert {(a, b) for a, b, _ in found} <= set(facts) - {(h, t)}


def test_wasserstein_models_compare_by_their_own_distance():
    """For NFE-1 the distance of two facts is that of entities as random vectors."""
    data = random_graph(entities=20, relations=2, facts=90, held_out=2)
    model = random_model("nfe-1", data)
    explainer = Explainer(Predictor(model, data, margin=0.0))
    p, q = (model.flow(model.entity.weight.detach()[i]) for i in (3, 8))
    gap = explainer._gaps(3, np.array([8]))
    assert gap[0] == pytest.approx(-float(model.D(p, q)))
