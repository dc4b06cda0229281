"""Fits embeddings of new entities and relations to their facts, with all others fixed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.config import TrainingSettings
from kgflow.data import QueryIndex
from kgflow.kernels import EncodedEntities, blocks
from kgflow.models import Model
from kgflow.runs.build import make_loss
from kgflow.training import (
    Batch,
    KvsAll,
    Loss,
    OneVsAll,
    SampledEntities,
    SampledLogistic,
    SampledSoftmax,
    Softmax,
    Sum,
    Update,
)

Ids = NDArray[np.int64]
Bools = NDArray[np.bool_]

STEPS = 10
"""Passes over the facts."""
RATE = 0.5
"""Learning rate of new embeddings, in standard deviations of the trained ones."""
FINETUNE_RATE = 0.02
"""Learning rate of embeddings that were trained before."""
GROUP = 64
"""Entities that are fitted at a time."""
NEGATIVES = 256
"""Entities that are sampled per step, of losses over all entities."""
OTHERS = 512
"""Facts of other entities that are sampled per step."""
SIMILAR = 30
"""Number of entities whose embeddings are averaged to start with."""
SHARPNESS = 0.1
"""Factor of the log-probabilities of these entities, whose softmax are their weights."""
SCORES = 2**22
"""Scores held at a time."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Embeddings to fit.

    Args:
        entities: ids of entities without a trained embedding, ascending.
        relations: ids of relations without one, ascending; their inverse relations come along.
        touched: ids of trained entities to move as well, ascending.
    """

    entities: Ids
    relations: Ids
    touched: Ids


def fit(
    model: Model,
    training: TrainingSettings,
    index: QueryIndex,
    facts: Ids,
    rows: Rows,
    seed: int = 0,
) -> None:
    """Fit some embeddings to facts by the loss and the regularizer of a run.

    Steps of Adagrad on these embeddings only: no other number of the model changes. A step has the
    facts of some entities and a sample of the other training facts, weighted to represent all of
    them, of which the new entities are no answers: otherwise these would be answers to everything.
    Losses over all entities are estimated from a sample of these. An embedding starts at the mean
    of the entities that the model thinks are the answers in its place.

    Args:
        model: model with rows for the new entities and relations.
        training: training settings of the run.
        index: queries of all training triples, the new ones included.
        facts: positions in `index.tails` of the facts to fit to, ascending.
        rows: embeddings to fit.
        seed: random seed.
    """
    model, generator = model.trained.eval(), torch.random.get_rng_state()
    try:
        torch.manual_seed(seed)
        start(model, index, facts, rows)
        _Fit(model, training, index, rows).run(facts, np.random.default_rng(seed))
    finally:
        torch.random.set_rng_state(generator)


class _Fit:
    """An optimizer of some rows of the tables of a model."""

    def __init__(
        self, model: Model, training: TrainingSettings, index: QueryIndex, rows: Rows
    ) -> None:
        self.model, self.index, self.loss = model, index, sampled(make_loss(training, model, index))
        self.entities = np.union1d(rows.entities, rows.touched)
        self.touched = np.isin(self.entities, rows.touched)
        (table,) = model.relation.parameters()
        self.relation = table
        self.relations = _tensor(_both(rows.relations, index, len(table)), table)
        self.entity = model.entity.weight.detach()
        self.scale = _spread(self.entity, self.entities)
        self.relation_scale = _spread(table.detach(), self.relations.cpu().numpy())
        self.total = torch.zeros_like(self.entity[_tensor(self.entities, table)])
        self.relation_total = torch.zeros_like(table.detach()[self.relations])

    def run(self, facts: Ids, rng: np.random.Generator) -> None:
        """Make all steps."""
        for step in range(STEPS):
            # The rate falls linearly, so that the last steps average over the samples.
            rate = 1 - step / STEPS
            for chosen, own in self._groups(facts):
                ids = _tensor(self.entities[chosen], self.entity)
                _always(self.loss, self.entities[chosen])
                gradient = RowsGradient(ids, self.entity)
                self.model.zero_grad()
                self.loss.backward(self._batch(own, rng), False, gradient)
                self._move(chosen, ids, gradient.grad, rate)
        self.model.zero_grad()

    def _groups(self, facts: Ids) -> Iterator[tuple[Ids, Ids]]:
        """Yield positions of some entities and their facts, then the facts of relations only."""
        query = np.searchsorted(self.index.offsets, facts, side="right") - 1
        ends = self.index.h[query], self.index.tails[facts]
        mine = [np.searchsorted(self.entities, x) for x in ends]
        found = [np.isin(x, self.entities) for x in ends]
        for low, high in blocks(len(self.entities), GROUP):
            within = [f & (low <= x) & (x < high) for f, x in zip(found, mine, strict=True)]
            yield np.arange(low, high), facts[within[0] | within[1]]
        rest = facts[~(found[0] | found[1])]
        for low, high in blocks(len(rest), 8 * GROUP):
            yield np.arange(0), rest[low:high]

    def _batch(self, own: Ids, rng: np.random.Generator) -> Batch:
        """Return the batch of some facts and of a sample of all others."""
        count = len(self.index.tails)
        drawn = rng.choice(count, min(OTHERS, count), replace=False)
        others = np.setdiff1d(drawn, own)
        chosen = np.union1d(own, others)
        batch = Batch.of_facts(self.index, chosen)
        weight = np.ones(len(chosen), dtype=np.float32)
        weight[np.isin(chosen, others)] = (count - len(own)) / max(1, len(others))
        return replace(batch, weight=weight if batch.weight is None else weight * batch.weight)

    @torch.no_grad()
    def _move(self, chosen: Ids, ids: Tensor, grad: Tensor, rate: float) -> None:
        """Make a step of Adagrad."""
        place = _tensor(chosen, self.entity)
        self.total[place] += grad.square()
        rates = np.where(self.touched[chosen], FINETUNE_RATE, RATE) * rate * self.scale
        move = grad / (self.total[place].sqrt() + 1e-10)
        self.entity[ids] -= torch.from_numpy(rates).to(grad)[:, None] * move
        if len(self.relations) and self.relation.grad is not None:
            grad = self.relation.grad[self.relations]
            self.relation_total += grad.square()
            move = grad / (self.relation_total.sqrt() + 1e-10)
            self.relation[self.relations] -= RATE * rate * self.relation_scale * move


class RowsGradient(Update):
    """Collects the gradient of some entity embeddings, and drops that of all others.

    Args:
        ids: ids of the entities, ascending.
        table: all entity embeddings, ``(E, w)``.
    """

    def __init__(self, ids: Tensor, table: Tensor) -> None:
        self.ids, self.table = ids, table
        self.grad = torch.zeros_like(table[ids])

    def begin(self, ids: Tensor) -> "RowsGradient":
        self.grad.zero_()
        return self

    def block_buffer(self, low: int, high: int) -> Tensor:
        self.buffer = torch.empty_like(self.table[low:high])
        return self.buffer

    def finish_block(self, low: int, high: int) -> None:
        first, last = torch.searchsorted(self.ids, self.ids.new_tensor([low, high])).tolist()
        self.grad[first:last] += self.buffer[self.ids[first:last] - low]

    def skip_blocks(self) -> None:
        pass

    def add(self, ids: Tensor, grad: Tensor) -> None:
        if len(self.ids):
            place = torch.searchsorted(self.ids, ids).clamp(max=len(self.ids) - 1)
            mine = self.ids[place] == ids
            self.grad.index_add_(0, place[mine], grad[mine])


def sampled(loss: Loss) -> Loss:
    """Return a loss that is estimated from a sample of entities, where it needs all of them."""
    if isinstance(loss, Sum):
        return Sum(sampled(loss.loss), loss.terms)
    if isinstance(loss, Softmax | SampledSoftmax):
        return SampledSoftmax(loss.model, loss.index, num_negatives=NEGATIVES)
    if isinstance(loss, OneVsAll | KvsAll):
        return SampledLogistic(loss.model, loss.index, loss.margin, num_negatives=NEGATIVES)
    return loss


def _always(loss: Loss, entities: Ids) -> None:
    inner = loss.loss if isinstance(loss, Sum) else loss
    if isinstance(inner, SampledEntities):
        inner.always = entities


@torch.no_grad()
def start(model: Model, index: QueryIndex, facts: Ids, rows: Rows) -> None:
    """Give new embeddings the values that a fit starts from."""
    (table,) = model.relation.parameters()
    new = np.zeros(len(model.relation), dtype=bool)
    new[_both(rows.relations, index, len(new))] = True
    fresh = np.zeros(index.entities, dtype=bool)
    fresh[rows.entities] = True
    _draw(table, new[: len(table)])
    _draw(model.entity.weight, fresh)
    query = np.searchsorted(index.offsets, facts, side="right") - 1
    h, r, t = index.h[query], index.r[query], index.tails[facts]
    asked = fresh[t] & ~fresh[h] & ~new[r]
    if not fresh.all():
        _set_to_answers(model, h[asked], r[asked], t[asked], fresh)


def _draw(table: Tensor, new: Bools) -> None:
    """Draw rows from normal distributions with the means and deviations of the other rows."""
    if new.any():
        others = table[_tensor(np.flatnonzero(~new), table)] if not new.all() else table
        noise = torch.randn(int(new.sum()), table.shape[1]).to(table)
        rows = others.mean(0) + others.std(0, correction=0) * noise
        table[_tensor(np.flatnonzero(new), table)] = rows


def _set_to_answers(model: Model, h: Ids, r: Ids, t: Ids, fresh: Bools) -> None:
    """Set rows t to the mean of the trained entities that are the best answers to (h, r, ?)."""
    table = model.entity.weight
    entities = EncodedEntities(table, model.encode_keys, model.interaction)
    masked = torch.from_numpy(fresh).to(table.device)
    ids = np.unique(t)
    for low, high in blocks(len(ids), max(1, SCORES // len(fresh))):
        evidence = table.new_zeros(high - low, len(fresh))
        mine = np.flatnonzero(np.isin(t, ids[low:high]))
        for first, last in blocks(len(mine), max(1, SCORES // len(fresh))):
            part = mine[first:last]
            query = model.query(_tensor(h[part], table), _tensor(r[part], table))
            S = entities.scores(query.Q, query.a).masked_fill(masked, -torch.inf)
            place = _tensor(np.searchsorted(ids, t[part]) - low, table)
            evidence.index_add_(0, place, S.log_softmax(1))
        best = evidence.topk(min(SIMILAR, int((~fresh).sum())), dim=1)
        share = (SHARPNESS * best.values).softmax(1)[..., None]
        table[_tensor(ids[low:high], table)] = (share * table[best.indices]).sum(1)


def _both(relations: Ids, index: QueryIndex, rows: int) -> Ids:
    """Return relations and their inverse relations; tied ones have no rows."""
    both = np.concatenate([relations, relations + index.relations // 2])
    return both[both < rows]


def _spread(table: Tensor, ids: Ids) -> float:
    """Return the standard deviation of the numbers of all rows but some."""
    others = np.setdiff1d(np.arange(len(table)), ids)
    found = table[_tensor(others, table)] if len(others) else table
    return float(found.std(correction=0))


def _tensor(ids: Ids, like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(ids)).to(like.device)
