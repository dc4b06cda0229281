"""Biased adds a bias to the score of every tail, and changes nothing else."""

import numpy as np
import pytest
import torch

import kgflow
from graphs import ALL_MODELS, BIASED, batch_of, build, by_autograd, random_graph, random_model
from kgflow.analysis.density import _nearest
from kgflow.errors import KgflowError
from kgflow.evaluation import rank
from kgflow.kernels import AutogradKeys, BiasedKeys
from kgflow.models import composed_entropy, entity_entropy
from kgflow.training import (
    N3,
    Batch,
    Dura,
    KvsAll,
    MarginRanking,
    OneVsAll,
    RelationPrediction,
    SampledSoftmax,
    SelfAdversarial,
    Softmax,
    Sum,
)
from kgflow.training.key_maps import key_map
from kgflow.training.losses.negative_sampling import corrupt_both

DATA = random_graph(weighted=True)
INDEX = DATA.queries("train")
BATCH = Batch.of_queries(INDEX, np.array([3, 0, 11, 5]))
E, R = len(DATA.entities), 2 * len(DATA.relations)


def pair(name, dim=12, spread=0.7):
    """A model without biases, the same with them, and the biases."""
    plain, biased = (random_model(name, DATA, dim, spread=spread, bias=b) for b in (False, True))
    bias = torch.linspace(-1, 2, E, dtype=torch.float64)
    state = plain.state_dict()
    rows = torch.cat([state["entity.weight"], bias[:, None]], dim=1)
    biased.model.load_state_dict(state | {"entity.weight": rows})
    return plain, biased, bias


def everything():
    return (x.flatten() for x in torch.meshgrid(*map(torch.arange, (E, R, E)), indexing="ij"))


@pytest.mark.parametrize("name", BIASED)
def test_the_bias_of_the_tail_is_added(name):
    plain, biased, bias = pair(name)
    h, r, t = everything()
    torch.testing.assert_close(biased.score(h, r, t), plain.score(h, r, t) + bias[t])


@pytest.mark.parametrize("name", BIASED)
def test_initial_bias_is_zero_and_other_parameters_are_unchanged(name):
    found = []
    for bias in (False, True):
        torch.manual_seed(3)
        found.append(build(name, E, R, 12, bias=bias))
    plain, biased = found
    h, r, t = everything()
    assert torch.equal(plain.eval().score(h, r, t), biased.eval().score(h, r, t))
    assert torch.equal(biased.entity.weight[:, -1], torch.zeros(E))
    assert biased.name == plain.name
    assert type(biased.base) is type(plain)


@pytest.mark.parametrize("name", sorted(set(ALL_MODELS) - set(BIASED)))
def test_models_with_a_bias_are_refused(name):
    with pytest.raises(KgflowError, match=f"{name} already has an entity bias"):
        build(name, E, R, 12, bias=True)


LOSSES = {
    "one-vs-all": lambda m: OneVsAll(m, INDEX, 1.5, block=7),
    "softmax": lambda m: Softmax(m, INDEX, block=7),
}


def gradients(model):
    return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()]


def naive(name, model):
    """Triple by triple against every entity, by scores alone."""
    total, facts = 0.0, LOSSES[name](model).facts(BATCH)
    everyone = torch.arange(E)
    for h, r, t, weight in zip(*facts, strict=True):
        s = model.score(h.expand(E), r.expand(E), everyone)
        if name == "softmax":
            cost = torch.logsumexp(s, 0) - s[t]
        else:
            cost = torch.nn.functional.softplus(s + 1.5).sum() - (s[t] + 1.5)
        total = total + weight * cost
    return total


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", BIASED)
def test_the_quick_step_is_the_definition(name, loss):
    _, model, _ = pair(name)
    expected = naive(loss, model)
    model.zero_grad()
    expected.backward()
    want = gradients(model)
    assert want[0][:, -1].abs().max() > 0, "biases are learned"
    model.zero_grad()
    model.entity.weight.grad = torch.full_like(model.entity.weight, torch.nan)
    value = LOSSES[loss](model).backward(BATCH)
    assert value == pytest.approx(expected.item(), rel=1e-9)
    for got, w in zip(gradients(model), want, strict=True):
        torch.testing.assert_close(got, w, rtol=1e-7, atol=1e-10)


TERMS = {
    "relations": lambda m: RelationPrediction(m, 1.0),
    "n3": lambda m: N3(m, 1.0),
    "dura": lambda m: Dura(m, 1.0),
}


@pytest.mark.parametrize(
    "name", ["nfe-1", "nfe-2", "nfe-k", "distmult", "complex", "transe norm=l1"]
)
@pytest.mark.parametrize("term", TERMS)
def test_regularizers_and_relation_prediction_ignore_the_bias(name, term):
    """Penalties exclude the bias, and it cancels between relations of one tail."""
    models = pair(name)[:2]
    if term == "dura" and models[0].interaction is not None:
        return
    found = []
    for model in models:
        facts = OneVsAll(model, INDEX, 0.0).facts(BATCH)
        value = sum(TERMS[term](model).parts(facts, model.entity))
        model.zero_grad()
        value.backward()
        found.append((value.detach(), *gradients(model)))
    plain, biased = found
    assert biased[1][:, -1].abs().max() < 1e-12
    biased = (biased[0], biased[1][:, :-1], *biased[2:])
    for one, other in zip(plain, biased, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", BIASED)
def test_key_maps_are_those_of_the_wrapped_model(name):
    plain, biased, _ = pair(name)
    assert plain.is_squared_distance == biased.is_squared_distance
    if plain.interaction is None:
        quick, found = key_map(plain), key_map(biased)
        if isinstance(quick, AutogradKeys):
            assert isinstance(found, AutogradKeys)
        else:
            assert isinstance(found, BiasedKeys)
            assert type(found.keys) is type(quick)


SAMPLED = {
    "kvsall": lambda m: KvsAll(m, INDEX, 1.0, label_smoothing=0.1),
    "sampled": lambda m: SampledSoftmax(m, INDEX, num_negatives=6),
    "margin": lambda m: MarginRanking(m, INDEX, 1.0, num_negatives=3, corruption=corrupt_both),
    "self-adversarial": lambda m: SelfAdversarial(
        m, INDEX, 1.0, num_negatives=3, corruption=corrupt_both
    ),
    "terms": lambda m: Sum(Softmax(m, INDEX), [N3(m, 0.1), RelationPrediction(m, 0.2)]),
}


@pytest.mark.parametrize("name", ["nfe-1", "nfe-3", "distmult", "transe norm=l1"])
@pytest.mark.parametrize("loss", SAMPLED)
def test_other_losses_step_as_they_are_called(name, loss):
    _, model, _ = pair(name, dim=4)
    found, made = [], SAMPLED[loss](model)
    for step in (lambda: by_autograd(made, BATCH).backward(), lambda: made.backward(BATCH)):
        model.zero_grad()
        torch.manual_seed(0)
        step()
        found.append(gradients(model))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", BIASED)
def test_dropout_of_heads_spares_what_it_spared(name):
    _, model, _ = pair(name)
    rows = model.entity.drop(model.entity.weight, 0.5)
    assert rows.shape == model.entity.weight.shape
    for part, dropped in zip(*map(model.entity.split, (model.entity.weight, rows)), strict=True):
        assert part.shape == dropped.shape
    assert model.encode_query(rows, model.relation(torch.zeros(E, dtype=int))).a.shape == (E,)


def test_entropies_and_neighbours_ignore_the_bias(tmp_path):
    plain, biased, _ = pair("nfe-1")
    torch.testing.assert_close(entity_entropy(plain), entity_entropy(biased))
    h, r = torch.tensor([0, 3]), torch.tensor([1, 2])
    torch.testing.assert_close(composed_entropy(plain, h, r), composed_entropy(biased, h, r))
    run = kgflow.train(DATA, dim=4, epochs=1, settings={"model.bias": True}, out=tmp_path / "run")
    before = _nearest(run, 0, 5)
    run.model.entity.weight.data[:, -1] = torch.linspace(-9, 9, E)
    run.__dict__.pop("predictor", None)
    assert _nearest(run, 0, 5) == before


def test_the_bias_learns_the_frequency_of_tails():
    """If all embeddings are equal, only the bias can represent the frequency of tails."""
    model = build("distmult", E, R, 2, bias=True).double()
    for parameter in model.parameters():
        parameter.data.zero_()
    loss, step = Softmax(model, INDEX), torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(400):
        step.zero_grad()
        loss.backward(batch_of(loss))
        step.step()
    facts = loss.facts(batch_of(loss))
    share = torch.zeros(E, dtype=torch.float64).index_add(0, facts.t, facts.weight)
    found = torch.softmax(model.entity.bias(model.entity.weight.detach()), 0)
    torch.testing.assert_close(found, share / share.sum(), rtol=0.02, atol=1e-3)


def test_a_run_keeps_it(tmp_path):
    run = kgflow.train(DATA, dim=4, epochs=2, settings={"model.bias": True}, out=tmp_path / "run")
    again = kgflow.open(tmp_path / "run")
    assert again.config.model.bias
    assert torch.equal(run.model.entity.weight, again.model.entity.weight)
    assert again.model.entity.weight[:, -1].abs().max() > 0
    assert again.evaluate("test")["realistic"] == run.metrics["test"]["realistic"]
    S = again.predictor.entities.scores(*again.model.query(*torch.tensor([[0], [1]])))
    everyone = torch.arange(E)
    alone = again.model.score(torch.zeros_like(everyone), torch.ones_like(everyone), everyone)
    torch.testing.assert_close(S[0], alone)
    assert rank(again.model, DATA.queries("test"), again.data.known) is not None


def test_a_run_without_the_key_has_none(tmp_path):
    kgflow.train(DATA, dim=4, epochs=1, out=tmp_path / "run")
    file = tmp_path / "run" / "config.toml"
    text = file.read_text()
    assert "bias = false\n" in text
    file.write_text(text.replace("bias = false\n", ""))
    assert not kgflow.open(tmp_path / "run").model.entity.has_bias
