"""Loss kernels of S = QKᵀ + a + b over all entities: logistic loss and softmax cross entropy."""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.kernels.entities import BLOCK, Buffers, append_query_bias, blocks
from kgflow.kernels.keys import KeyEncoder
from kgflow.kernels.loss_kernel import GradientAccumulator, Gradients, Targets, add_softplus_targets
from kgflow.kernels.score_gradient import ExactGradient, ScoreGradient

STORED_SCORES = 2**26
"""Maximum number of scores that are kept between two passes; more are computed again."""


class LogisticKernel:
    r"""The logistic loss of each query against every entity, without a (batch x entities) matrix.

    .. math:: \sum_i c_i \sum_j \mathrm{softplus}(s_{ij}) - \sum_{ij} y_{ij} s_{ij}
              + \sum_{ij} e_{ij} \mathrm{softplus}(s_{ij}), \quad S = QK^T + a + b

    with sparse y and e. With c the number of true tails and y = 1 at them it is the sum of the
    paper's loss over these triples. The gradient with respect to S is
    :math:`(c + e)\,\sigma(S) - y`: each block of entities needs three matrix products and one
    sigmoid in place. The bias terms are two more columns of Q and K, so that their gradients come
    from the same products. All buffers are reused.

    Args:
        keys: encoder of embeddings as keys.
        gradient: exact or sampled gradient with respect to S; exact if not given.
        block: entities at a time.
    """

    def __init__(
        self, keys: KeyEncoder, gradient: ScoreGradient | None = None, block: int = BLOCK
    ) -> None:
        self.keys, self.gradient, self.block = keys, gradient or ExactGradient(), block
        self.buffers = Buffers()

    @torch.no_grad()
    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        targets: Targets,
        accumulator: GradientAccumulator,
        value: bool = True,
    ) -> Gradients:
        loss = Q.new_zeros((), dtype=torch.float64) if value else None
        targets = targets.by_column()
        self.gradient.begin(append_query_bias(Q, a), targets.c, float(targets.y.mean()))
        bounds = targets.block_bounds(len(table), self.block)
        for number, (low, high) in enumerate(blocks(len(table), self.block)):
            K = encode_block(self.keys, table[low:high], self.buffers, self.block)
            S = self.buffers("S", (len(Q), self.block), Q).flatten()[: len(Q) * len(K)]
            S = torch.mm(self.gradient.query, K.T, out=S.view(len(Q), len(K)))
            here = slice(bounds[number], bounds[number + 1])
            true, y = (targets.row[here], targets.column[here] - low), targets.y[here]
            if loss is not None:
                loss += self._loss(self.gradient.scores(S), targets.c, true, y)
            if targets.e is not None:
                s = self.gradient.scores_at(S, true)
                extra, y = add_softplus_targets(s, y, targets.e[here])
                loss = loss if loss is None else loss + extra
            out = self.buffers("grad", (self.block, K.shape[1]), K)[: len(K)]
            grad = self.gradient.add_block(S, K, true, y, out)
            self.keys.backward(grad[:, :-2], grad[:, -1], accumulator.block_buffer(low, high))
            accumulator.finish_block(low, high)
        grad_Q = self.gradient.end()
        return Gradients(loss, grad_Q[:, :-2], grad_Q[:, -2])

    def _loss(self, S: Tensor, c: Tensor, true: tuple[Tensor, Tensor], y: Tensor) -> Tensor:
        # A few queries at a time: another matrix of this size would be the largest buffer of all.
        sums = torch.cat([softplus(S[low:high]).sum(1) for low, high in blocks(len(S), 32)])
        if self.gradient.smoothing:
            sums -= self.gradient.smoothing * S.sum(1)
        return (sums * c).sum() - (S[true] * y).sum()


class SoftmaxKernel:
    r"""The cross entropy of each query over every entity.

    .. math:: \sum_i c_i \log \sum_j \exp(s_{ij}) - \sum_{ij} y_{ij} s_{ij},
              \quad S = QK^T + a + b

    With c the number of true tails and y = 1 at them it is the sum of the cross entropies of these
    triples. The gradient with respect to S is :math:`c\,\mathrm{softmax}(S) - y`. The first pass
    over the entities leaves :math:`\exp(s - m)` of every block, m the largest score of a query in
    that block, and the sums. The softmax differs from it by one factor per query and block, which
    is applied to the smaller operands of the two matrix products of the second pass. So there is
    one exponential per score, and there are three products, as in `LogisticKernel`.

    Args:
        keys: encoder of embeddings as keys.
        block: entities at a time.
        stored: maximum number of scores to keep between the passes.
    """

    def __init__(self, keys: KeyEncoder, block: int = BLOCK, stored: int = STORED_SCORES) -> None:
        self.keys, self.block, self.stored = keys, block, stored
        self.buffers = Buffers()

    @torch.no_grad()
    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        targets: Targets,
        accumulator: GradientAccumulator,
        value: bool = True,
    ) -> Gradients:
        assert targets.e is None, "e belongs to the logistic loss"
        query, targets = append_query_bias(Q, a), targets.by_column()
        bounds = targets.block_bounds(len(table), self.block)
        largest, total, true = self._first_pass(query, table, targets, bounds)
        log_sum = torch.logsumexp(largest + total.log(), dim=0)
        loss = (log_sum * targets.c).sum(dtype=torch.float64) - (true * targets.y).sum()
        factors = (largest - log_sum).exp_() * targets.c
        grad = torch.zeros_like(query)
        for number, (low, high) in enumerate(blocks(len(table), self.block)):
            K = encode_block(self.keys, table[low:high], self.buffers, self.block)
            S = self._exponentials(query, K, largest[number], low, len(table))
            factor, here = factors[number][:, None], slice(bounds[number], bounds[number + 1])
            row, column = targets.row[here], targets.column[here] - low
            y = targets.y[here][:, None]
            grad.addcmul_(S @ K, factor).index_add_(0, row, y * K[column], alpha=-1)
            grad_K = self.buffers("grad", (self.block, K.shape[1]), K)[: len(K)]
            torch.mm(S.T, query * factor, out=grad_K)
            grad_K.index_add_(0, column, y * query[row], alpha=-1)
            self.keys.backward(grad_K[:, :-2], grad_K[:, -1], accumulator.block_buffer(low, high))
            accumulator.finish_block(low, high)
        return Gradients(loss, grad[:, :-2], grad[:, -2])

    def _first_pass(
        self, query: Tensor, table: Tensor, targets: Targets, bounds: list[int]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return m and Σ exp(s - m) by block and query, and the scores at the targets."""
        count = len(bounds) - 1
        largest, total = (query.new_empty(count, len(query)) for _ in range(2))
        true = torch.empty_like(targets.y)
        for number, (low, high) in enumerate(blocks(len(table), self.block)):
            K = encode_block(self.keys, table[low:high], self.buffers, self.block)
            S = torch.mm(query, K.T, out=self._score_buffer(query, low, high, len(table)))
            here = slice(bounds[number], bounds[number + 1])
            true[here] = S[targets.row[here], targets.column[here] - low]
            torch.amax(S, dim=1, out=largest[number])
            torch.sum(S.sub_(largest[number][:, None]).exp_(), dim=1, out=total[number])
        return largest, total, true

    def _exponentials(
        self, query: Tensor, K: Tensor, largest: Tensor, low: int, entities: int
    ) -> Tensor:
        """Return exp(s - m) of a block, stored by the first pass or computed again."""
        S = self._score_buffer(query, low, low + len(K), entities)
        if len(query) * entities > self.stored:
            torch.mm(query, K.T, out=S).sub_(largest[:, None]).exp_()
        return S

    def _score_buffer(self, query: Tensor, low: int, high: int, entities: int) -> Tensor:
        stored = len(query) * entities <= self.stored
        size = entities if stored else min(self.block, entities)
        start = low if stored else 0
        buffer = self.buffers("S", (len(query) * size,), query)
        shape = (len(query), high - low)
        return buffer[len(query) * start :][: shape[0] * shape[1]].view(shape)


def encode_block(keys: KeyEncoder, x: Tensor, buffers: Buffers, block: int) -> Tensor:
    """Return the keys of embeddings x with ones for a, and b, as two more columns, in a buffer."""
    K = buffers("K", (block, keys.width(x) + 2), x)[: len(x)]
    keys.forward(x, K[:, :-2], K[:, -1])
    K[:, -2] = 1
    return K
