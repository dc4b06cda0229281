"""Ensemble: the mean of the scores of several models, by one matrix product."""

import pytest
import torch

from graphs import ALL_MODELS, VARIANTS, build, random_graph, random_model
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.models import Ensemble
from laws import close

DATA = random_graph()
E, R = len(DATA.entities), len(DATA.relations)
PRODUCTS = [name for name in ALL_MODELS if build(name, E, 2 * R, 12).interaction is None]


def everything():
    return (x.flatten() for x in torch.meshgrid(*map(torch.arange, (E, 2 * R, E)), indexing="ij"))


def twice(make):
    """Return models, and an ensemble of the same models, which takes their embeddings."""
    return make(), Ensemble(make()).eval()


@pytest.mark.parametrize("name", PRODUCTS)
def test_scores_are_means(name):
    models, ensemble = twice(lambda: [random_model(name, DATA), random_model("nfe-1", DATA, dim=4)])
    h, r, t = everything()
    close(ensemble.score(h, r, t), sum(m.score(h, r, t) for m in models) / 2, 1e-9)


@pytest.mark.parametrize("name", sorted(set(ALL_MODELS) - set(PRODUCTS)))
def test_models_that_are_no_matrix_product_are_refused(name):
    with pytest.raises(KgflowError, match=f"{VARIANTS[name][0]} is no matrix product"):
        Ensemble([random_model("nfe-1", DATA), random_model(name, DATA)])


def every_kind(seed=0):
    """Return one model of every wrapper."""
    torch.manual_seed(seed)
    settings = [
        ("nfe-1", {"bidirectional": True}),
        ("complex", {"bidirectional": True}),
        ("complex", {"inverse_relations": False}),
        ("distmult", {"bias": True}),
        ("nfe-1", {"options": {"uncertainty": 0.25}}),
        ("conve", {}),
    ]
    models = [build(name, E, 2 * R, 12, **given).double().eval() for name, given in settings]
    for model in models:
        for numbers in (*model.parameters(), *model.buffers()):
            if numbers.is_floating_point():
                numbers.data.uniform_(0.1, 1)
    return models


def test_all_kinds_of_models_go_together():
    models, ensemble = twice(every_kind)
    h, r, t = everything()
    close(ensemble.score(h, r, t), sum(m.score(h, r, t) for m in models) / len(models), 1e-9)


def test_ranks_are_those_of_the_mean():
    models, ensemble = twice(every_kind)
    questions, known = DATA.index(DATA.test), DATA.queries()
    found = rank(ensemble, questions, known)
    scores = []
    for m in models:
        query, keys = m.query(*map(torch.from_numpy, (found.h, found.r))), m.keys(torch.arange(E))
        scores.append(query.Q @ keys.K.T + query.a[:, None] + keys.b)
    S = torch.stack(scores).mean(0)
    for i, (h, r, t) in enumerate(zip(found.h, found.r, found.t, strict=True)):
        rivals = [x for x in range(E) if x == t or not known.contains(h, r, x)]
        assert found.rank("realistic")[i] == 1 + (S[i, rivals] > S[i, t]).sum()


def test_an_ensemble_of_nfe_1_is_nfe_1():
    """Coordinates side by side, divided by the root of the number of models."""
    models, ensemble = twice(lambda: [random_model("nfe-1", DATA, dim=4, seed=s) for s in range(3)])
    whole = random_model("nfe-1", DATA, dim=12)
    for table in ("entity", "relation"):
        parts = [getattr(m, table).split(getattr(m, table).weight.detach()) for m in models]
        mu, sigma = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))
        mu /= 3**0.5
        sigma /= 3**0.5 if table == "entity" else 1.0
        getattr(whole, table).weight.data = torch.cat([mu, sigma], dim=1)
    h, r, t = everything()
    close(ensemble.score(h, r, t), whole.score(h, r, t), 1e-10)


def test_the_state_dict_is_complete():
    ensemble, again = Ensemble(every_kind()).eval(), Ensemble(every_kind(seed=1)).eval()
    h, r, t = everything()
    assert not torch.equal(ensemble.score(h, r, t), again.score(h, r, t))
    again.load_state_dict(ensemble.state_dict())
    assert torch.equal(ensemble.score(h, r, t), again.score(h, r, t))


@pytest.mark.parametrize("sizes", [(6, 2), (5, 4)])
def test_models_of_other_sizes_are_refused_and_keep_their_embeddings(sizes):
    model = build("nfe-1", 5, 2, 4)
    with pytest.raises(KgflowError, match="same entities and relations"):
        Ensemble([model, build("nfe-1", *sizes, 4)])
    assert model.entity.weight.shape == (5, 8)
