"""Distances read from their other end: all heads of a tail as a matrix product."""

import torch
from torch import Tensor

from kgflow.flows import Query
from kgflow.models.base import Model


def pulled_back(gap: Tensor, pulled: Tensor, size: Tensor) -> Query:
    r"""The negative squared distances of :math:`Au + m` from a point p, for all u.

    .. math:: -|Au + m - p|^2 = 2 A^T (p - m) \cdot u + (1 - s^2) \cdot \bar u - |p - m|^2 - |u|^2

    where A turns the coordinates of u and stretches them by s, and :math:`\bar u` sums the squares
    of those coordinates that have one s. So a relation that stretches needs no keys of its own to
    find the heads of a tail, only the squares of the keys that there are.

    Args:
        gap: p - m, ``(B, m)``.
        pulled: :math:`A^T(p - m)`, ``(B, m)``.
        size: s, ``(B, l)``.

    Returns:
        Q ``(B, m + l)``, to meet u and its squares, and a ``(B,)``; what is left is :math:`-|u|^2`.

    Example:
        >>> gap, s, u = torch.tensor([[3.0]]), torch.tensor([[2.0]]), torch.tensor([1.0])
        >>> Q, a = pulled_back(gap, s * gap, s)
        >>> Q @ torch.cat([u, squares(u, 1)]) + a - u.square().sum()  # -(2 - 3)²
        tensor([-1.])
    """
    return Query(torch.cat([2 * pulled, 1 - size.square()], dim=-1), -gap.square().sum(-1))


def squares(K: Tensor, parts: int) -> Tensor:
    """The squares of rows ``(..., m)``, summed over so many equal parts: ``(..., m / parts)``.

    Example:
        >>> squares(torch.tensor([1.0, 2.0, 3.0, 4.0]), 2)
        tensor([10., 20.])
    """
    return K.unflatten(-1, (parts, -1)).square().sum(-2)


@torch.no_grad()
def reads_inverse(model: Model) -> bool:
    """Whether heads are scored as their own queries score them: tried on random rows.

    Example:
        >>> from kgflow.models import build
        >>> [reads_inverse(build(name, 3, 2, 4)) for name in ("nfe-1", "complex", "nfe-2")]
        [True, True, False]
    """
    generator = torch.Generator().manual_seed(0)
    h, r, t = (
        torch.randn(8, table.width, generator=generator).to(table.weight)
        for table in (model.entity, model.relation, model.entity)
    )
    back = model.encode_inverse_query(t, r)
    if back is None:
        return False
    query, heads, tails = model.encode_query(h, r), model.encode_keys(h), model.encode_keys(t)
    extra_keys = model.extra_keys(h)
    K = torch.cat([heads.K, extra_keys], dim=1) if extra_keys.shape[1] else heads.K
    found = model.pairwise(back.Q, K) + back.a + heads.b
    wanted = model.pairwise(query.Q, tails.K) + query.a + tails.b
    return torch.allclose(found, wanted, rtol=1e-3, atol=1e-3)
