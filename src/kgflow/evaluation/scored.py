"""The scores of true answers and of all that compete with them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.kernels import Entities
from kgflow.models import Model

MEMORY = 2**24
"""Scores held at a time."""


class Scored(NamedTuple):
    """Some answers, each among its candidates: itself and every entity not known to be true.

    Shapes:
        h, r, t: (P,), the question and its answer; the ids of reciprocal relations go on after
            the others. score: (P,), the answer's. S: (P, E), -inf where there is no candidate.
    """

    h: NDArray[np.int64]
    r: NDArray[np.int64]
    t: NDArray[np.int64]
    score: Tensor
    S: Tensor


@torch.no_grad()
def scored(
    model: Model,
    questions: QueryIndex,
    known: QueryIndex,
    memory: int = MEMORY,
    progress: Callable[[float], None] = lambda share: None,
) -> Iterator[Scored]:
    """Score the answers of every question, a bounded number at a time.

    Args:
        model: what scores.
        questions: the queries of some facts, inverse_relations included.
        known: the queries of all facts that are known.
        memory: scores held at a time.
        progress: called with the share of the work that is done.
    """
    model.eval()
    device = model.entity.weight.device
    entities = Entities(model.entity.weight, model.encode_keys, model.interaction)
    row, t, _ = questions.gather(np.arange(len(questions)))
    size = max(1, memory // max(1, questions.entities, model.relation.weight.shape[1]))
    for low in range(0, len(row), size):
        rows, place = np.unique(row[low : low + size], return_inverse=True)
        h, r, answer = questions.h[rows], questions.r[rows], t[low : low + size]
        query = model.query(torch.from_numpy(h).to(device), torch.from_numpy(r).to(device))
        S = entities.scores(query.Q, query.a)
        score = S[torch.from_numpy(place), torch.from_numpy(answer)]
        S[tuple(torch.from_numpy(x) for x in known.gather(known.find(h, r))[:2])] = -torch.inf
        S = S[torch.from_numpy(place)]
        S[torch.arange(len(S)), torch.from_numpy(answer)] = score
        yield Scored(h[place], r[place], answer, score, S)
        progress((low + len(answer)) / len(row))
