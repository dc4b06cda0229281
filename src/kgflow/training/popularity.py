"""Facts that count more, the more facts lead to the same tail."""

from dataclasses import replace

import numpy as np

from kgflow.data import QueryIndex


def weighted_by_tail(index: QueryIndex, share: float) -> QueryIndex:
    r"""The same queries, each fact with a weight that grows with how frequent its tail is.

    .. math:: w(h, r, t) \propto (1 - p) + p\, n_t / \max_{t'} n_{t'}

    with :math:`n_t` the number of facts whose tail is t, and a mean of 1 over all facts, times the
    weights that the facts have. Asked for a rare tail, one of the thousand towns of a country say,
    a query often holds nothing that foretells it; so less of the model is spent on such facts.

    Shapes:
        The weights of the result are ``(N,)``, one per fact.

    Args:
        index: the training queries.
        share: p, from 0 (all facts count the same) to 1.

    Reference:
        The weights of the cross entropy on WN18RR in the code of Zhang, Cai, Wang:
        Duality-Induced Regularizer for Tensor Factorization Based Knowledge Graph Completion,
        NeurIPS 2020, where p = 0.9 and an entity counts as head and as tail.

    Example:
        >>> from kgflow.data import Triples
        >>> facts = Triples.of([(0, 0, 2), (1, 0, 2), (0, 0, 3)])
        >>> index = QueryIndex.build(facts, entities=4, relations=1, inverse_relations=False)
        >>> index.tails.tolist(), weighted_by_tail(index, 0.8).weights.tolist()
        ([2, 3, 2], [1.153..., 0.692..., 1.153...])
    """
    counts = np.bincount(index.tails, minlength=index.entities)
    weights = (1 - share + share * counts / max(1, counts.max(initial=0)))[index.tails]
    weights /= weights.mean() if len(weights) else 1.0
    own = 1.0 if index.weights is None else index.weights
    return replace(index, weights=(own * weights).astype(np.float32))
