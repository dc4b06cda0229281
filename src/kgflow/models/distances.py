"""Squared distances as matrix products, by relation and from the tail to all heads."""

import torch
from torch import Tensor

from kgflow.flows import Query


def affine_distances(h: Tensor, t: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    r"""Negative squared distances of t from :math:`s \odot h + m`, for all relations (s, m).

    .. math:: -|s h + m - t|^2 = -s^2 \cdot h^2 - 2sm \cdot h + 2s \cdot ht
              + 2m \cdot t - |m|^2 - |t|^2

    Args:
        h: points ``(P, m)``.
        t: points ``(P, m)``.
        scale: s, ``(R, m)``.
        shift: m, ``(R, k)``, of the first k coordinates; it is zero for the others.

    Returns:
        Scores, ``(P, R)``.

    Example:
        >>> h, t = torch.tensor([[1.0]]), torch.tensor([[3.0]])
        >>> scale, shift = torch.tensor([[2.0], [1.0]]), torch.tensor([[1.0], [0.0]])
        >>> affine_distances(h, t, scale, shift)
        tensor([[ 0., -4.]])
    """
    k = shift.shape[1]
    pairs = torch.cat([h.square(), h[:, :k], h * t, t[:, :k]], dim=1)
    relations = [-scale.square(), -2 * scale[:, :k] * shift, 2 * scale, 2 * shift]
    found = pairs @ torch.cat(relations, dim=1).T
    return found - t.square().sum(1)[:, None] - shift.square().sum(1)


def inverse_query(gap: Tensor, pulled: Tensor, scale: Tensor) -> Query:
    r"""Encode the negative squared distances of :math:`Au + m` from a point p, for all u.

    .. math:: -|Au + m - p|^2 = 2 A^T (p - m) \cdot u + (1 - s^2) \cdot \bar u - |p - m|^2 - |u|^2

    where A rotates the coordinates of u and scales them by s, and :math:`\bar u` sums the squares
    of those coordinates that share one s. All heads of a tail are then found by one matrix product
    with the existing keys u and the `squares` of u as additional keys.

    Args:
        gap: p - m, ``(B, m)``.
        pulled: :math:`A^T(p - m)`, ``(B, m)``.
        scale: s, ``(B, l)``.

    Returns:
        Q ``(B, m + l)`` and a ``(B,)``; the remaining term :math:`-|u|^2` is the bias of the keys.

    Example:
        >>> gap, s, u = torch.tensor([[3.0]]), torch.tensor([[2.0]]), torch.tensor([1.0])
        >>> Q, a = inverse_query(gap, s * gap, s)
        >>> Q @ torch.cat([u, squares(u, 1)]) + a - u.square().sum()  # -(2 - 3)²
        tensor([-1.])
    """
    return Query(torch.cat([2 * pulled, 1 - scale.square()], dim=-1), -gap.square().sum(-1))


def squares(K: Tensor, parts: int) -> Tensor:
    """Return squares of vectors ``(..., m)`` summed over equal parts, ``(..., m / parts)``.

    Example:
        >>> squares(torch.tensor([1.0, 2.0, 3.0, 4.0]), 2)
        tensor([10., 20.])
    """
    return K.unflatten(-1, (parts, -1)).square().sum(-2)
