"""All relations of a pair at once: scores (h, ?, t) as a matrix product."""

import torch
from torch import Tensor


def moved(h: Tensor, t: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    r"""The negative squared distances of t from every :math:`s \odot h + m`, written out.

    .. math:: -|s h + m - t|^2 = -s^2 \cdot h^2 - 2sm \cdot h + 2s \cdot ht
              + 2m \cdot t - |m|^2 - |t|^2

    Args:
        h: points ``(P, m)``.
        t: points ``(P, m)``.
        scale: s, ``(R, m)``.
        shift: m, ``(R, k)``, of the first k coordinates; the others stay.

    Returns:
        The scores, ``(P, R)``.

    Example:
        >>> h, t = torch.tensor([[1.0]]), torch.tensor([[3.0]])
        >>> moved(h, t, scale=torch.tensor([[2.0], [1.0]]), shift=torch.tensor([[1.0], [0.0]]))
        tensor([[ 0., -4.]])
    """
    k = shift.shape[1]
    pairs = torch.cat([h.square(), h[:, :k], h * t, t[:, :k]], dim=1)
    relations = [-scale.square(), -2 * scale[:, :k] * shift, 2 * scale, 2 * shift]
    found = pairs @ torch.cat(relations, dim=1).T
    return found - t.square().sum(1)[:, None] - shift.square().sum(1)
