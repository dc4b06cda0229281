"""What a model would answer."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from kgflow.data import QueryIndex
from kgflow.kernels import Entities, top_k
from kgflow.models import Model

CHUNK = 512
"""Queries answered in one matrix product."""


@torch.no_grad()
def best_answers(
    model: Model,
    h: NDArray[np.int64],
    r: NDArray[np.int64],
    known: QueryIndex,
    k: int,
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The k best answers to queries ``(B,)`` that are not known: scores and ids, ``(B, k)``.

    Args:
        model: what scores.
        h: entities that are asked about.
        r: relations; a reciprocal one asks for heads.
        known: answers to leave out.
        k: how many; scores of -inf stand where there are fewer.
        progress: called with the share of the work that is done.
    """
    model.eval()
    entities = Entities(model.entity.weight, model.encode_keys, model.interaction)
    k, device = min(k, len(entities)), model.entity.weight.device
    # With none of nothing in front, no query at all is no special case.
    scores, ids = [torch.empty(0, k)], [torch.empty(0, k, dtype=torch.long)]
    for low in range(0, len(h), CHUNK):
        head, relation = h[low : low + CHUNK], r[low : low + CHUNK]
        row, tail, _ = known.gather(known.find(head, relation))
        query = model.query(*(torch.from_numpy(x).to(device) for x in (head, relation)))
        banned = torch.from_numpy(row).to(device), torch.from_numpy(tail).to(device)
        best = top_k(query.Q, query.a, entities, k, banned)
        scores.append(best.score.cpu())
        ids.append(best.entity.cpu())
        progress(min(1.0, (low + CHUNK) / len(h)))
    return torch.cat(scores).double().numpy(), torch.cat(ids).numpy()
