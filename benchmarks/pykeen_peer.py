"""The nearest equal task in PyKEEN: DistMult, inverse triples, LCWA, rank-based evaluation."""

import time

import torch
from pykeen.evaluation import RankBasedEvaluator
from pykeen.models import DistMult
from pykeen.training import LCWATrainingLoop
from pykeen.triples import CoreTriplesFactory


def factory(data, triples):
    return CoreTriplesFactory(
        torch.from_numpy(triples.array()),
        num_entities=len(data.entities),
        num_relations=len(data.relations),
        create_inverse_triples=True,
    )


def train(data, dim, batch, batches):
    """Seconds of an epoch over all distinct (h, r), from an epoch over the first few of them."""
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


def evaluate(data, dim, share):
    """Seconds of a filtered evaluation of the test split, from a part of it."""
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
