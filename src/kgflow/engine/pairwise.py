"""The 1-vs-all loss of models that are no matrix product."""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from kgflow.engine.blocks import blocks
from kgflow.engine.entities import TILE, Meet
from kgflow.engine.kernel import Gradients, Targets, also, by_column
from kgflow.engine.keys import KeyMap
from kgflow.engine.sink import Sink


class PairwiseKernel:
    r"""What `Kernel` computes, for scores :math:`s_{ij} = g(q_i, k_j) + a_i + b_j`.

    A few entities at a time meet all queries of the batch under autograd, are differentiated at
    once and forgotten, so that memory stays bounded.

    Args:
        keys: how rows become keys, and back.
        meet: g, of all queries and some keys.
    """

    def __init__(self, keys: KeyMap, meet: Meet) -> None:
        self.keys, self.meet = keys, meet

    @torch.no_grad()
    def __call__(
        self,
        Q: Tensor,
        a: Tensor,
        table: Tensor,
        targets: Targets,
        sink: Sink,
        value: bool = True,
    ) -> Gradients:
        """One pass; the arguments are those of `Kernel`."""
        loss = Q.new_zeros((), dtype=torch.float64) if value else None
        targets = by_column(targets)
        width = self.keys.width(table)
        size = max(1, TILE // max(1, len(Q) * max(width, Q.shape[1])))
        edges = torch.arange(0, len(table) + size, size, device=Q.device)
        bounds = torch.searchsorted(targets.column, edges).tolist()
        grad_Q, grad_a = torch.zeros_like(Q), torch.zeros_like(a)
        query = Q.detach().requires_grad_()
        for number, (low, high) in enumerate(blocks(len(table), size)):
            K, b = Q.new_empty(high - low, width), Q.new_empty(high - low)
            self.keys.forward(table[low:high], K, b)
            K.requires_grad_()
            with torch.enable_grad():
                met = self.meet(query, K)
            S = met.detach() + a[:, None] + b
            here = slice(bounds[number], bounds[number + 1])
            true, y = (targets.row[here], targets.column[here] - low), targets.y[here]
            if loss is not None:
                loss += (softplus(S).sum(1) * targets.c).sum() - (S[true] * y).sum()
            if targets.e is not None:
                extra, y = also(S[true], y, targets.e[here])
                loss = loss if loss is None else loss + extra
            G = S.sigmoid_().mul_(targets.c[:, None])
            G.index_put_(true, -y, accumulate=True)
            by_Q, by_K = torch.autograd.grad(met, (query, K), G)
            grad_Q += by_Q
            grad_a += G.sum(1)
            self.keys.backward(by_K, G.sum(0), sink.room(low, high))
            sink.done(low, high)
        return Gradients(loss, grad_Q, grad_a)
