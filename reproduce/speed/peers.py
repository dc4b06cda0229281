"""Programs that kgflow is compared with, and the graphs they are measured on.

The plain program is NFE-1 as a careful person writes it first: a row of scores per triple, autograd,
a loop for ranks. It shares nothing with kgflow but the data. PyKEEN has no NFE, so the nearest equal
task is DistMult with inverse triples, LCWA training and rank-based evaluation.
"""

import os
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus

from kgflow.data import Dataset, Triples, Vocabulary, load
from kgflow.errors import KgflowError


def missing(name):
    """Return one sentence if a benchmark graph is not on this machine, else an empty text."""
    if name.startswith("random-") or (Path(os.environ.get("KGFLOW_DATA", "")) / name).is_dir():
        return ""
    return f"{name} is not on this machine: set KGFLOW_DATA to the directory that holds it"


def graph(name):
    """Return a benchmark graph, or the random graph ``random-ENTITIES-TRIPLES``."""
    if missing(name):
        raise KgflowError(missing(name))
    if name.startswith("random-"):
        entities, triples = map(int, name.split("-")[1:])
        return synthetic(name, entities, 10, triples, 100)
    return load(name)


def synthetic(name, entities, relations, triples, test):
    """Return a random graph whose degrees have a long tail, as those of real graphs."""
    rng = np.random.default_rng(0)
    skew = rng.permutation(entities)

    def draw(size):
        return skew[(entities * rng.random(size) ** 1.5).astype(np.int64)]

    def split(size):
        return Triples(draw(size), rng.integers(0, relations, size), draw(size)).unique()[0]

    return Dataset(
        name,
        Vocabulary([f"e{i}" for i in range(entities)]),
        Vocabulary([f"r{i}" for i in range(relations)], kind="relation"),
        train=split(triples),
        test=split(test),
    )


class NFE1(nn.Module):
    """NFE-1, Eq. 10 of the paper."""

    def __init__(self, entities, relations, n):
        super().__init__()
        for name, count in (("entity", entities), ("relation", relations)):
            for part in ("mu", "sigma"):
                setattr(self, f"{name}_{part}", nn.Embedding(count, n))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def forward(self, h, r):
        """Return the scores of all tails, (batch, entities)."""
        scale = self.relation_sigma(r)
        mu = scale * self.entity_mu(h) + self.relation_mu(r)
        sigma = (scale * self.entity_sigma(h)).abs()
        t_mu, t_sigma = self.entity_mu.weight, self.entity_sigma.weight.abs()
        return -squared_distances(mu, t_mu) - squared_distances(sigma, t_sigma)


def squared_distances(x, y):
    """|x|² - 2xy + |y|² for every row of x and of y, (batch, entities)."""
    return (x**2).sum(1, keepdim=True) - 2 * x @ y.T + (y**2).sum(1)


def batches(triples, relations, size, seed):
    """Return shuffled batches of all triples and their inverse triples."""
    turned = triples[:, [2, 1, 0]] + np.array([0, relations, 0])
    both = torch.from_numpy(np.concatenate([triples, turned]))
    order = torch.randperm(len(both), generator=torch.Generator().manual_seed(seed))
    return both[order].split(size)


def step(model, optimizer, batch, margin):
    """Do one training step on a batch."""
    logits = margin + model(batch[:, 0], batch[:, 1])
    sign = -torch.ones_like(logits)
    sign[torch.arange(len(batch)), batch[:, 2]] = 1
    loss = softplus(-sign * logits).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@torch.no_grad()
def ranks(model, triples, relations, known, size):
    """Return filtered ranks of both sides, one query at a time; known maps (h, r) to tails."""
    found = []
    turned = triples[:, [2, 1, 0]] + np.array([0, relations, 0])
    both = torch.from_numpy(np.concatenate([triples, turned]))
    for batch in both.split(size):
        for scores, (h, r, t) in zip(model(batch[:, 0], batch[:, 1]), batch.tolist(), strict=True):
            target = scores[t].item()
            scores[list(known[h, r])] = -torch.inf
            found.append(1 + int((scores >= target).sum()))
    return found


def factory(data, triples):
    """Return triples as PyKEEN has them."""
    from pykeen.triples import CoreTriplesFactory

    return CoreTriplesFactory(
        torch.from_numpy(triples.array()),
        num_entities=len(data.entities),
        num_relations=len(data.relations),
        create_inverse_triples=True,
    )


def pykeen_train(data, dim, batch, batches):
    """Return seconds of an epoch over all distinct (h, r), measured on the first few of them."""
    from pykeen.models import DistMult
    from pykeen.training import LCWATrainingLoop

    net = DistMult(triples_factory=factory(data, data.train), embedding_dim=dim, random_seed=0)
    index = data.queries("train")

    def run(count):
        # About count batches of distinct (h, r); inverses double the number of pairs.
        part = factory(data, data.train.take(slice(0, count * batch // 2)))
        pairs = len(
            part._add_inverse_triples_if_necessary(part.mapped_triples)[:, :2].unique(dim=0)
        )
        loop = LCWATrainingLoop(
            model=net, triples_factory=part, optimizer=torch.optim.Adam(net.parameters())
        )
        began = time.perf_counter()
        loop.train(part, num_epochs=1, batch_size=batch, use_tqdm=False, use_tqdm_batch=False)
        return (time.perf_counter() - began) / pairs

    run(1)
    return run(batches) * len(index)


def pykeen_evaluate(data, dim, share):
    """Return seconds of a filtered evaluation of the test split, measured on a part of it."""
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models import DistMult

    facts = factory(data, data.train)
    net = DistMult(triples_factory=facts, embedding_dim=dim, random_seed=0)
    mapped = torch.from_numpy(data.test.array())
    part = mapped[: max(64, int(share * len(mapped)))]
    known = [torch.from_numpy(data.split(s).array()) for s in ("train", "valid", "test")]
    evaluator = RankBasedEvaluator(filtered=True)

    def run(triples):
        began = time.perf_counter()
        evaluator.evaluate(
            net, triples, batch_size=32, use_tqdm=False, additional_filter_triples=known
        )
        return time.perf_counter() - began

    run(part[:32])
    return run(part) * len(mapped) / len(part)
