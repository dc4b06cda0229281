"""Cross entropy against a sample of the entities."""

import torch
from torch import Tensor

from kgflow.training.shared_sample import Scores, SharedSample


class SampledSoftmax(SharedSample):
    r"""`Softmax` with the sum over all entities estimated, for graphs with too many of them.

    .. math:: \ell(h, r, t) = \log \Big( \sum_{t' \in T} \exp s_{t'} + \frac EN
              \sum_{t' \in S \setminus T} \exp s_{t'} \Big) - s_t

    T are the true tails of the query and S are N entities, drawn without replacement. The sum is
    unbiased, its logarithm is not, but comes near it as N grows; with N = E it is the loss itself.

    Reference:
        Jean, Cho, Memisevic, Bengio: On Using Very Large Target Vocabulary for Neural Machine
        Translation, ACL 2015.
    """

    def cost(self, scores: Scores) -> Tensor:
        """The cross entropy of the true tails of each query."""
        S, free, c, row, s, y = scores
        with torch.no_grad():
            highest = S.amax(1).scatter_reduce(0, row, s, "amax")
        others = ((S - highest[:, None]).exp() * free).sum(1) * self.scale
        total = others.index_add(0, row, (s - highest[row]).exp())
        return (c * (total.log() + highest)).sum() - (y * s).sum()
