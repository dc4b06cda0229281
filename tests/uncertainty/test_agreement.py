"""Agreement of members is what comparing their answers by hand gives."""

import numpy as np
import pytest
import torch

from graphs import random_graph, random_model
from kgflow.evaluation import Scorer
from kgflow.models import Ensemble
from kgflow.uncertainty.agreement import member_agreement


def test_agreement_is_that_of_the_members():
    data = random_graph(entities=12, facts=90)
    names = ("nfe-1", "distmult", "complex")
    alone, joined = ([random_model(n, data, seed=i) for i, n in enumerate(names)] for _ in range(2))
    model = Ensemble(joined).eval()
    h, r = np.arange(12), np.arange(12) % 6
    scorer = Scorer(model, data.known)
    found = member_agreement(model, scorer, h, r)
    S = torch.stack([Scorer(one, data.known).filtered_scores(h, r) for one in alone])
    best = S.argmax(2).numpy()
    pairs = [(best[i] == best[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert found.agreement == pytest.approx(np.mean(pairs, axis=0))
    chosen = scorer.filtered_scores(h, r).argmax(1)
    p = torch.softmax(S, 2)[:, torch.arange(12), chosen].numpy()
    assert found.deviation == pytest.approx(p.std(0))
    assert 0 < found.agreement.mean() < 1
