"""Whether a model's scores are squared distances."""

import torch

from kgflow.models.base import Model


@torch.no_grad()
def is_distance(model: Model) -> bool:
    r"""Whether the score is :math:`-|q - k|^2` of Q = 2q and K = k, but for a bias.

    It is where b is :math:`-|K|^2`, of random rows.

    Example:
        >>> from kgflow.models import build
        >>> [is_distance(build(name, 3, 2, 4)) for name in ("nfe-1", "nfe-1-complex", "distmult")]
        [True, True, False]
    """
    generator, table = torch.Generator().manual_seed(0), model.entity
    rows = torch.randn(8, table.width, generator=generator).to(table.weight)
    keys = model.encode_keys(rows)
    return torch.allclose(keys.b, -keys.K.square().sum(-1), rtol=1e-4)
