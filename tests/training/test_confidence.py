"""Confidences in the loss: each kind equals a loop over triples and entities, by definition."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy, softplus

import kgflow
from graphs import batch_of, by_autograd, make_experiment, random_graph, random_model
from kgflow.config import LOSSES
from kgflow.kernels import SampledGradient
from kgflow.runs.build import make_loss
from kgflow.training import OneVsAll
from kgflow.training.losses.confidence import CONFIDENCES

MARGIN = 1.5
DATA = random_graph(entities=9, relations=2, facts=40, held_out=2, weighted=True)


def logits(model, h, r):
    E = len(DATA.entities)
    return MARGIN + model.score(torch.full((E,), h), torch.full((E,), r), torch.arange(E))


def facts():
    """Every training triple in both directions, with its confidence."""
    R = len(DATA.relations)
    weight = DATA.train.weight.astype(float).tolist()
    for (h, r, t), w in zip(DATA.train.array().tolist(), weight, strict=True):
        yield h, r, t, w
        yield t, r + R, h, w


def plain(model):
    """A fact is true, whatever its confidence, and against all entities."""
    for h, r, t, _ in facts():
        s = logits(model, h, r)
        yield softplus(s).sum() - s[t]


def weights(model):
    """A fact counts as often as its confidence says."""
    for h, r, t, w in facts():
        s = logits(model, h, r)
        yield w * (softplus(s).sum() - s[t])


def soft(model):
    """Cross entropy of every entity's probability and label."""
    label = {}
    for h, r, t, w in facts():
        label.setdefault((h, r), torch.zeros(len(DATA.entities), dtype=torch.float64))[t] = w
    for (h, r), y in label.items():
        yield binary_cross_entropy(logits(model, h, r).sigmoid(), y, reduction="sum")


def regress(model):
    """Cross entropy of each fact with its confidence, and of all entities with 0, in the mean."""
    for h, r, t, w in facts():
        s = logits(model, h, r)
        y = torch.tensor(w, dtype=torch.float64)
        yield binary_cross_entropy(s[t].sigmoid(), y)
        yield torch.stack([binary_cross_entropy(x.sigmoid(), 0 * y) for x in s]).mean()


NAIVE = {"ignore": plain, "weight": weights, "soft-label": soft, "regression": regress}


def gradients(value, model):
    return torch.autograd.grad(value, list(model.parameters()), allow_unused=True)


@pytest.mark.parametrize("name", ["nfe-1", "transe norm=l1"])
@pytest.mark.parametrize("kind", CONFIDENCES)
def test_value_and_gradient_equal_the_loop(kind, name):
    model = random_model(name, DATA, dim=4)
    index = DATA.queries("train")
    loss = OneVsAll(model, index, MARGIN, confidence=CONFIDENCES[kind])
    want = sum(NAIVE[kind](model)) / (2 * len(DATA.train))
    batch = batch_of(loss)
    got = by_autograd(loss, batch)
    torch.testing.assert_close(got, want, rtol=1e-6, atol=0)  # confidences are float32
    for a, b in zip(gradients(got, model), gradients(want, model), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-8)
    assert loss.backward(batch) == pytest.approx(want.item(), rel=1e-6)
    expected = gradients(by_autograd(loss, batch), model)
    for parameter, b in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, b)


@pytest.mark.parametrize("name", ["soft-label", "regression"])
def test_a_sampled_gradient_of_labels_is_right_in_the_mean(name):
    model, index = random_model("nfe-1", DATA, dim=4), DATA.queries("train")
    kind = CONFIDENCES[name]
    loss = OneVsAll(model, index, MARGIN, confidence=kind)
    exact = gradients(by_autograd(loss, batch_of(loss)), model)[0]
    gradient = SampledGradient(tau=0.5, keep=0.3)
    sampled = OneVsAll(model, index, MARGIN, score_gradient=gradient, confidence=kind)
    torch.manual_seed(0)
    total = torch.zeros_like(exact)
    for _ in range(200):
        model.zero_grad()
        sampled.backward(batch_of(sampled))
        total += model.entity.weight.grad
    assert (total / 200 - exact).norm() < 0.1 * exact.norm()


def test_without_confidences_all_kinds_are_the_papers_loss():
    bare = replace(DATA, train=replace(DATA.train, weight=None))
    model, index = random_model("nfe-1", bare, dim=4), bare.queries("train")
    losses = [OneVsAll(model, index, MARGIN, confidence=kind) for kind in CONFIDENCES.values()]
    values = {loss.backward(batch_of(loss)) for loss in losses}
    assert len(values) == 1
    assert values.pop() == pytest.approx(sum(plain(model)).item() / (2 * len(DATA.train)))


def test_soft_labels_are_least_at_the_confidence():
    """One query of one fact: after a while its probability is its confidence."""
    s = torch.zeros((), dtype=torch.float64, requires_grad=True)
    c, y = CONFIDENCES["soft-label"](np.array([0]), np.array([0.3]), 1, 1)[:2]
    for _ in range(200):
        (gradient,) = torch.autograd.grad(c[0] * softplus(s) - y[0] * s, s)
        s = (s - gradient).detach().requires_grad_()
    assert s.sigmoid().item() == pytest.approx(0.3, abs=1e-6)


def test_the_choice_reaches_the_run(tmp_path):
    losses = set()
    for kind in CONFIDENCES:
        run = kgflow.train(
            DATA,
            dim=2,
            epochs=1,
            settings={"training.loss.confidence": kind},
            out=tmp_path / kind,
        )
        assert kgflow.open(run.directory).config.training.loss.confidence == kind
        losses.add(run.history[0]["loss"])
    assert len(losses) == len(CONFIDENCES)


@pytest.mark.parametrize("loss", LOSSES.members)
def test_every_loss_can_weigh_and_ignore_confidences(loss):
    """Ignored, they are as if there were none; the regularizer ignores them, too."""
    bare = replace(DATA, train=replace(DATA.train, weight=None))
    model = random_model("nfe-1", DATA, dim=4)
    chosen = {"training.loss.name": loss, "training.regularizer.name": "n3"}

    def value(data, kind):
        training = make_experiment({**chosen, "training.loss.confidence": kind}).training
        torch.manual_seed(0)
        made = make_loss(training, model, data.queries("train"))
        return made.backward(batch_of(made, np.arange(12)))

    assert value(DATA, "ignore") == value(bare, "weight") == value(bare, "ignore")
    assert value(DATA, "weight") != value(DATA, "ignore")
