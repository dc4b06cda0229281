"""Memory that is used again."""

from math import prod

import torch
from torch import Tensor


class Buffers:
    """Tensors by name, made when first wanted or wanted larger; what stands in them is left over.

    Example:
        >>> buffers = Buffers()
        >>> like = torch.zeros(1)
        >>> first = buffers("S", (2, 3), like)
        >>> buffers("S", (3, 1), like).data_ptr() == first.data_ptr()
        True
    """

    def __init__(self) -> None:
        self.found: dict[str, Tensor] = {}

    def __call__(self, name: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """A tensor of this shape, of the kind and place of another."""
        size, found = prod(shape), self.found.get(name)
        if found is None or len(found) < size or found.dtype != like.dtype:
            found = torch.empty(size, dtype=like.dtype, device=like.device)
            self.found[name] = found
        return found[:size].view(shape)
