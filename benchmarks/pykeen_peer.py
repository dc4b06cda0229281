"""The nearest equal task in PyKEEN: DistMult, inverse triples, LCWA, rank-based evaluation."""

import time

import torch
from pykeen.evaluation import RankBasedEvaluator
from pykeen.models import DistMult
from pykeen.training import LCWATrainingLoop
from pykeen.triples import CoreTriplesFactory


def factories(data):
    make = lambda triples: CoreTriplesFactory(  # noqa: E731
        torch.from_numpy(triples.array()),
        num_entities=len(data.entities),
        num_relations=len(data.relations),
        create_inverse_triples=True,
    )
    return make(data.train), make(data.test)


def model(data, dim):
    train, test = factories(data)
    return DistMult(triples_factory=train, embedding_dim=dim, random_seed=0), train, test


def train(data, dim, batch, batches, median_seconds):
    """Seconds of an epoch, from the median of some batches."""
    net, facts, _ = model(data, dim)
    optimizer = torch.optim.Adam(net.parameters())
    loop = LCWATrainingLoop(model=net, triples_factory=facts, optimizer=optimizer)
    loader = loop._create_training_data_loader(
        facts, batch_size=batch, drop_last=False, num_workers=0, pin_memory=False, sampler=None
    )
    chunks = iter(loader)

    def step():
        chunk = next(chunks)
        loop.optimizer.zero_grad()
        size = len(chunk.hrs) if hasattr(chunk, "hrs") else len(chunk[0])
        loss = loop._process_batch(
            batch=chunk, start=0, stop=size, model=net, label_smoothing=0.0, slice_size=None
        ) if False else loop._forward_pass(
            chunk, start=0, stop=size, current_batch_size=size, label_smoothing=0.0,
            slice_size=None, model=net, only_size_probing=False,
        )
        loop.optimizer.step()
        return loss

    return median_seconds([step] * batches, warm=1, least=batches - 1) * len(loader)


def evaluate(data, dim, share):
    """Seconds of a filtered evaluation of the test split, from a part of it."""
    net, train_facts, test = model(data, dim)
    mapped = test.mapped_triples
    part = mapped[: max(64, int(share * len(mapped)))]
    evaluator = RankBasedEvaluator(filtered=True)
    began = time.perf_counter()
    evaluator.evaluate(
        net, part, batch_size=32, use_tqdm=False, additional_filter_triples=[train_facts.mapped_triples]
    )
    return (time.perf_counter() - began) * len(mapped) / len(part)
