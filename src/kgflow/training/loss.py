"""The paper's loss, for one batch of queries."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.engine import BLOCK, Targets, one_vs_all
from kgflow.models import Model


class OneVsAll:
    r"""Every triple against every entity, grouped by (h, r).

    .. math:: \ell(h, r, t) = \sum_{t'} \log(1 + \exp(-y_{t'} (\gamma + f(h, r, t'))))

    with :math:`y_t = 1` and -1 elsewhere; the batch's mean over its triples. A query with n true
    tails is scored once: its n triples together cost :math:`n \sum_{t'} \mathrm{softplus}(s_{t'})
    - \sum_t s_t`. A triple of weight w counts w times.

    Args:
        index: the training queries.
        margin: the paper's γ.
        dropout: the share of each head's numbers that are left out in training.
        block: entities at a time.
    """

    def __init__(
        self, index: QueryIndex, margin: float, dropout: float = 0.0, block: int = BLOCK
    ) -> None:
        self.index, self.margin, self.dropout, self.block = index, margin, dropout, block

    def __call__(self, model: Model, rows: NDArray[np.int64]) -> Tensor:
        """The loss of these rows of the index, a scalar."""
        like = model.entity.weight
        h, r = (torch.from_numpy(x[rows]).to(like.device) for x in (self.index.h, self.index.r))
        heads = (
            model.entity.drop(model.entity(h), self.dropout) if model.training else model.entity(h)
        )
        query, targets = model.lower_query(heads, model.relation(r)), self.targets(rows, like)
        a = query.a + self.margin
        total = one_vs_all(query.Q, a, like, model.lower_keys, targets, self.block)
        return total / len(targets.y)

    def targets(self, rows: NDArray[np.int64], like: Tensor) -> Targets:
        """The weights of a query's triples, together (c) and each (y)."""
        row, tail, weight = self.index.gather(rows)
        y = np.ones(len(tail), dtype=np.float32) if weight is None else weight
        c = np.bincount(row, weights=y, minlength=len(rows))
        place = torch.from_numpy(np.stack([row, tail])).to(like.device)
        return Targets(
            torch.from_numpy(c).to(like), place[0], place[1], torch.from_numpy(y).to(like)
        )
