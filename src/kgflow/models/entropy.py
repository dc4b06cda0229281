"""How uncertain a model is of what it embeds: the paper's Remark "Measurement of uncertainty"."""

from typing import NamedTuple, TypeGuard

import torch
from torch import Tensor

from kgflow.flows import Flow, Variable
from kgflow.models.base import Model


class TripleEntropy(NamedTuple):
    r"""The changes of entropy along triples, ``(N,)`` each in nats.

    - head: :math:`H(f_h(x_0)) - H(x_0)`
    - relation: :math:`H(f_r \circ f_h(x_0)) - H(f_h(x_0))`
    - composed: :math:`H(f_r \circ f_h(x_0)) - H(x_0)`, the sum of both
    - tail: :math:`H(f_t(x_0)) - H(x_0)`

    The relation's and the composed one are None where relations are no functions of x0. A
    relation's is not a number where the head is a point in some coordinate: it would be the
    difference of two infinities.
    """

    head: Tensor
    relation: Tensor | None
    composed: Tensor | None
    tail: Tensor


@torch.no_grad()
def entity_entropy(model: Model) -> Tensor | None:
    r""":math:`H(f_e(x_0)) - H(x_0)` of every entity, ``(E,)`` in nats.

    None where the model knows no such uncertainty: its entities are points, or discrete.

    Example:
        >>> from kgflow.models.distmult import DistMult
        >>> from kgflow.models.nfe1 import NFE1
        >>> entity_entropy(NFE1(entities=3, relations=2, dim=4)).shape
        torch.Size([3])
        >>> entity_entropy(DistMult(entities=3, relations=2, dim=4)) is None
        True
    """
    flow = entity_flow(model, model.entity.weight)
    return None if flow is None else flow.entropy_change()


@torch.no_grad()
def relation_entropy(model: Model) -> Tensor | None:
    r""":math:`H(f_r(x_0)) - H(x_0)` of every relation, ``(R,)`` in nats.

    For linear relations it is :math:`H(f_r \circ f_h(x_0)) - H(f_h(x_0))`, whatever h.
    """
    flow = model.relation_flow(model.relation.weight)
    return flow.entropy_change() if _has_entropy(flow) else None


@torch.no_grad()
def composed_entropy(model: Model, h: Tensor, r: Tensor) -> Tensor | None:
    r""":math:`H(f_r \circ f_h(x_0)) - H(x_0)` of queries of ids ``(N,)``, ``(N,)`` in nats."""
    flow = model.composed(model.entity(h), model.relation(r))
    return flow.entropy_change() if _has_entropy(flow) else None


@torch.no_grad()
def triple_entropy(model: Model, h: Tensor, r: Tensor, t: Tensor) -> TripleEntropy | None:
    """How the entropy changes along triples of ids ``(N,)``; None as for `entity_entropy`.

    Example:
        >>> from kgflow.models.nfe1 import NFE1
        >>> one = torch.tensor([1])
        >>> found = triple_entropy(NFE1(entities=3, relations=2, dim=4), one, one, one)
        >>> bool((found.head + found.relation - found.composed).abs() < 1e-4)
        True
    """
    heads, tails = (entity_flow(model, model.entity(x)) for x in (h, t))
    if heads is None or tails is None:
        return None
    head, tail = heads.entropy_change(), tails.entropy_change()
    composed = composed_entropy(model, h, r)
    return TripleEntropy(head, None if composed is None else composed - head, composed, tail)


def entity_flow(model: Model, rows: Tensor) -> Flow | None:
    """The random vectors of entity rows ``(..., w)``, or None where they have no density."""
    flow = model.flow(rows)
    return flow if _has_entropy(flow) else None


def _has_entropy(flow: Flow | None) -> TypeGuard[Flow]:
    # That of a discrete x0, and of x0/k in the Dirac limit, is minus infinity.
    x0 = None if flow is None else flow.x0
    return isinstance(x0, Variable) and bool(x0.entropy().isfinite())
