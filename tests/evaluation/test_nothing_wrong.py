"""Where no candidate can be wrong there is nothing to learn, and nothing to stumble over."""

import numpy as np

import kgflow
from kgflow.data import Dataset, Triples, Vocabulary


def test_a_graph_in_which_everything_is_true_trains_to_its_end(tmp_path):
    every = np.array([(h, 0, t) for h in range(10) for t in range(10)])
    order = np.random.default_rng(0).permutation(len(every))
    train, valid, test = (Triples.of(every[part].tolist()) for part in np.split(order, [40, 80]))
    names = Vocabulary([f"e{i}" for i in range(10)]), Vocabulary(["r"], kind="relation")
    run = kgflow.train(
        Dataset("full", *names, train, valid, test), dim=2, epochs=1, out=tmp_path / "run"
    )
    assert run.predictor.calibration.by_relation == {}
    scored = run.score([("e1", "r", "e2")])
    assert scored["known"].item()
    assert 0 < scored["conditional_probability"].item() < 1
