"""What the facts of a batch ask of the scores."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgflow.data import QueryIndex
from kgflow.kernels import Targets
from kgflow.training.confidence import Confidence, Weights

WEIGHTS = Weights()


def fact_targets(
    index: QueryIndex, rows: NDArray[np.int64], like: Tensor, confidence: Confidence = WEIGHTS
) -> Targets:
    """The numbers of queries (c) and of their triples (y, e), over the batch's size.

    Args:
        index: the training queries.
        rows: the batch's.
        like: a tensor of the kind and place that is wanted.
        confidence: what the confidences of triples mean; by default a triple counts as often as it
            is confident.

    Example:
        >>> from kgflow.data import Triples
        >>> index = QueryIndex.build(Triples.of([(0, 0, 2), (0, 0, 1), (1, 0, 2)]), 3, 1)
        >>> fact_targets(index, np.array([0, 1]), torch.ones(1)).c  # two and one of three
        tensor([0.6667, 0.3333])
    """
    row, tail, weight = index.gather(rows)
    found = confidence(row, weight, len(rows), index.entities)
    c, y = (torch.from_numpy(x / len(tail)).to(like) for x in (found.c, found.y))
    e = None if found.e is None else torch.from_numpy(found.e / len(tail)).to(like)
    ids = [torch.from_numpy(x).to(like.device) for x in (row, tail)]
    return Targets(c, ids[0], ids[1], y, e)
