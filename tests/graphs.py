"""Small random graphs and models for the tests."""

import numpy as np
import torch
from torch.nn.functional import softplus

from kgflow import models
from kgflow.config import Experiment, expand, parse
from kgflow.data import Dataset, Triples, Vocabulary
from kgflow.models import MODELS, variants
from kgflow.models.listing import label
from kgflow.training import Batch, KvsAll, Softmax, Sum
from kgflow.training.losses.sampled import SampledLoss

VARIANTS = {label(name, chosen): (name, chosen) for name in MODELS for chosen in variants(name)}
"""Name and options of every variant of every model, by a label such as "transe norm=l1"."""

ALL_MODELS = sorted(VARIANTS)

BIASED = [key for key in ALL_MODELS if "bias" not in MODELS[VARIANTS[key][0]].entity_parts]
"""Variants without an entity bias, to which one can be added."""


def build(key, entities, relations, dim, options=None, **given):
    """Build a variant by its label."""
    name, chosen = VARIANTS.get(key, (key, {}))
    return models.build(name, entities, relations, dim, chosen | (options or {}), **given)


def random_graph(entities=17, relations=3, facts=60, seed=0, weighted=False, held_out=8):
    """Return a data set of random triples; some queries have many answers."""
    rng = np.random.default_rng(seed)
    columns = (rng.integers(0, n, facts) for n in (entities, relations, entities))
    triples = Triples(*columns, rng.uniform(0.1, 1, facts).astype(np.float32) if weighted else None)
    triples, _ = triples.unique()
    place = np.arange(len(triples))
    return Dataset(
        "random",
        Vocabulary([f"e{i}" for i in range(entities)]),
        Vocabulary([f"r{i}" for i in range(relations)], kind="relation"),
        train=triples.take(place >= 2 * held_out),
        valid=triples.take(place < held_out),
        test=triples.take((place >= held_out) & (place < 2 * held_out)),
    )


def random_model(name, data, dim=12, seed=0, dtype=torch.float64, spread=1.0, **options):
    """Return a model with random parameters of both signs.

    It is in evaluation mode, where the loss of a query does not depend on its batch.
    """
    torch.manual_seed(seed)
    sizes = (len(data.entities), 2 * len(data.relations), dim)
    model = build(name, *sizes, **options).to(dtype)
    for parameter in model.parameters():
        parameter.data.uniform_(-spread, spread)
    return model.eval()


def make_experiment(settings, defaults=()):
    """An experiment on a random graph from dotted settings."""
    return parse(Experiment, expand({"data": "random", **dict(defaults), **settings}), "test")


def batch_of(loss, queries=None):
    """Return the batch of some queries of a loss, or of all, with all their tails."""
    chosen = np.arange(len(loss.index)) if queries is None else np.asarray(queries)
    return Batch.of_queries(loss.index, chosen)


def by_autograd(loss, batch):
    """Return a loss as a scalar that autograd can differentiate, from the whole score matrix."""
    model = loss.model
    if isinstance(loss, Sum):
        terms = [part for x in loss.terms for part in x.parts(loss.facts(batch), model.entity)]
        return by_autograd(loss.loss, batch) + sum(terms)
    if isinstance(loss, SampledLoss):
        return sum(loss.parts(loss.draw(batch), model.entity))
    Q, a = loss.query(model.entity(loss.tensor(batch.h)), loss.tensor(batch.r))
    K, b = model.encode_keys(model.entity.weight)
    product = Q @ K.T if model.interaction is None else model.interaction(Q, K)
    S, (c, row, column, y, e) = product + a[:, None] + b, loss.targets(batch)
    each = S.logsumexp(1) if isinstance(loss, Softmax) else softplus(S).sum(1)
    if isinstance(loss, KvsAll):
        each = each - loss.label_smoothing * S.mean(1)
    true = S[row, column]
    value = (c * each).sum() - (y * true).sum()
    return value if e is None else value + (e * softplus(true)).sum()
