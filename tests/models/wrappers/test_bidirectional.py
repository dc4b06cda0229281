"""Bidirectional scores answers by the mean of both directions, and leaves training alone."""

import numpy as np
import pytest
import torch

import kgflow
from graphs import ALL_MODELS, VARIANTS, build, random_graph, random_model
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.training import Batch, OneVsAll, Softmax, Sum
from kgflow.training.regularizers import Dura
from laws import close

DATA = random_graph()
INDEX = DATA.queries("train")
BATCH = Batch.of_queries(INDEX, np.array([3, 0, 11, 5]))
E, R = len(DATA.entities), len(DATA.relations)

ABLE = sorted(
    {"nfe-1", "nfe-1-complex", "nfe-1-quaternion", "nfe-1-sigma", "nfe-point", "nfe-1-mu", "transe"}
    | {"toruse norm=el2", "rotate norm=squared-l2"}
    | {"nage-so3 norm=squared-l2", "nage-su2 norm=squared-l2"}
    | {"distmult", "complex", "complex-flow", "rescal", "quate", "dihedral"}
)


def pair(name, dim=12, seed=0):
    """Return a model and the bidirectional model of the same parameters."""
    plain = random_model(name, DATA, dim, seed)
    model = build(name, E, 2 * R, dim, bidirectional=True).double()
    model.model.load_state_dict(plain.state_dict())
    return plain, model.eval()


def everything():
    return (x.flatten() for x in torch.meshgrid(*map(torch.arange, (E, R, E)), indexing="ij"))


def test_expected_models_have_bidirectional_scoring():
    def can(name):
        try:
            return bool(build(name, E, 2 * R, 12, bidirectional=True))
        except KgflowError:
            return False

    assert [name for name in ALL_MODELS if can(name)] == ABLE


@pytest.mark.parametrize("name", ABLE)
def test_scores_are_means_and_the_same_in_both_directions(name):
    plain, model = pair(name)
    h, r, t = everything()
    mean = (plain.score(h, r, t) + plain.score(t, r + R, h)) / 2
    close(model.score(h, r, t), mean, 1e-10)
    close(model.score(t, r + R, h), mean, 1e-10)


@pytest.mark.parametrize("name", ABLE)
def test_all_scores_are_one_matrix_product(name):
    plain, model = pair(name)
    h, r = torch.arange(E), torch.arange(E) % (2 * R)
    query, keys = model.query(h, r), model.keys(torch.arange(E))
    S = query.Q @ keys.K.T + query.a[:, None] + keys.b
    t = torch.arange(E).expand(E, E)
    back = (r + R) % (2 * R)
    one = plain.score(h.repeat_interleave(E), r.repeat_interleave(E), t.flatten())
    other = plain.score(t.flatten(), back.repeat_interleave(E), h.repeat_interleave(E))
    close(S.flatten(), (one + other) / 2, 1e-10)


@pytest.mark.parametrize("name", ["nfe-1", "nfe-1-complex", "complex"])
def test_ranks_are_those_of_the_mean(name):
    plain, model = pair(name)
    known = {
        tuple(fact)
        for split in (DATA.train, DATA.valid, DATA.test)
        for fact in split.array().tolist()
    }
    ranking = rank(model, DATA.index(DATA.test), DATA.queries())
    columns = (ranking.h, ranking.r, ranking.t, ranking.rank("realistic"))
    for h, r, t, found in zip(*columns, strict=True):
        facts = [(h, r, x) if r < R else (x, r - R, h) for x in range(E)]
        ids = [x for x in range(E) if x == t or facts[x] not in known]
        a, b, c = torch.tensor([facts[x] for x in ids]).T
        s = plain.score(a, b, c) + plain.score(c, b + R, a)
        assert found == 1 + (s > s[ids.index(t)]).sum()


LOSSES = {
    "one-vs-all": lambda m: OneVsAll(m, INDEX, margin=1.0),
    "softmax": lambda m: Softmax(m, INDEX),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["nfe-1", "nfe-1-complex", "rescal"])
def test_training_uses_the_wrapped_model(name, loss):
    found = []
    for model in pair(name, dim=4):
        model = model.trained
        made = Sum(LOSSES[loss](model), [Dura(model, 0.1)])
        value = made.backward(BATCH)
        found.append([torch.tensor(value), *(p.grad for p in model.parameters())])
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", sorted(set(ALL_MODELS) - set(ABLE)))
def test_other_models_are_refused(name):
    with pytest.raises(KgflowError, match=f"{VARIANTS[name][0]} has no bidirectional scoring"):
        build(name, E, 2 * R, 12, bidirectional=True)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"bias": True}, "'bias' applies to tails only"),
        ({"inverse_relations": False}, "both directions are the same"),
    ],
)
def test_conflicting_settings_are_refused(setting, sentence):
    with pytest.raises(KgflowError, match=sentence):
        build("complex", E, 2 * R, 12, bidirectional=True, **setting)


def test_a_run_is_trained_alike_and_scores_both_directions_alike(tmp_path):
    settings = {"model.dim": 4, "training.epochs": 1, "training.ema_decay": 0.0}
    settings["training.conformal_fraction"] = 0.0
    plain = kgflow.train(DATA, "nfe-1-complex", settings=settings, out=tmp_path / "plain")
    settings["model.bidirectional"] = True
    kgflow.train(DATA, "nfe-1-complex", settings=settings, out=tmp_path / "both")
    run = kgflow.open(tmp_path / "both")
    assert run.config.model.bidirectional
    assert [x["loss"] for x in run.history] == [x["loss"] for x in plain.history]
    assert torch.equal(run.model.entity.weight, plain.model.entity.weight)
    forth = run.predict(head="e1", relation="r0", k=E).sort("tail")
    back = [
        run.predict(relation="r0", tail=t, k=E).filter(head="e1")["score"][0] for t in forth["tail"]
    ]
    assert forth["score"].to_list() == pytest.approx(back, rel=1e-4, abs=1e-5)
