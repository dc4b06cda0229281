"""The paper's loss against a sample of the entities."""

from torch import Tensor
from torch.nn.functional import softplus

from kgflow.training.shared_sample import Scores, SharedSample


class SampledOneVsAll(SharedSample):
    r"""An unbiased estimate of `OneVsAll`, for graphs with too many entities.

    Of the sum over all entities, :math:`c \sum_{t'} \mathrm{softplus}(s_{t'})`, the true tails T of
    a query are exact, and the others are estimated by N entities S, drawn without replacement:

    .. math:: \sum_{t' \notin T} \mathrm{softplus}(s_{t'}) \approx
              \frac EN \sum_{t' \in S \setminus T} \mathrm{softplus}(s_{t'})

    Every entity is drawn with probability N/E, so the expectation, also of the gradient, is exact;
    with N = E it is the loss itself.
    """

    def cost(self, scores: Scores) -> Tensor:
        """The logistic loss; a label is moved by the linear term."""
        others = (softplus(scores.S) * scores.free).sum(1) * self.scale
        true = scores.c[scores.row] * softplus(scores.s) - scores.y * scores.s
        return (scores.c * others).sum() + true.sum()
