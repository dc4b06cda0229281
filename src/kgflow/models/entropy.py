"""Entropy change of entities, relations and triples: the paper's measurement of uncertainty."""

from typing import NamedTuple

import torch
from torch import Tensor

from kgflow.flows import Flow, Variable
from kgflow.models.base import Model
from kgflow.models.protocols import EntityFlow, RelationFlow


class TripleEntropy(NamedTuple):
    r"""Entropy changes along triples, each ``(N,)`` in nats.

    - head: :math:`H(f_h(x_0)) - H(x_0)`
    - relation: :math:`H(f_r \circ f_h(x_0)) - H(f_h(x_0))`
    - composed: :math:`H(f_r \circ f_h(x_0)) - H(x_0)`, the sum of both
    - tail: :math:`H(f_t(x_0)) - H(x_0)`

    `relation` and `composed` are None if relations are no functions of x0. `relation` is NaN if the
    head is a point in some coordinate, since it is then a difference of infinities.
    """

    head: Tensor
    relation: Tensor | None
    composed: Tensor | None
    tail: Tensor


@torch.no_grad()
def entity_entropy(model: Model) -> Tensor | None:
    r"""Return the entropy change :math:`H(f_e(x_0)) - H(x_0)` of all entities, ``(E,)`` in nats.

    None if entities have no density: they are points, or x0 is discrete.

    Example:
        >>> from kgflow.models import build
        >>> entity_entropy(build("nfe-1", entities=3, relations=2, dim=4)).shape
        torch.Size([3])
        >>> entity_entropy(build("distmult", entities=3, relations=2, dim=4)) is None
        True
    """
    flow = entity_flow(model, model.entity.weight)
    return None if flow is None else flow.entropy_change()


@torch.no_grad()
def relation_entropy(model: Model) -> Tensor | None:
    r"""Return the entropy change :math:`H(f_r(x_0)) - H(x_0)` of all relations, ``(R,)`` in nats.

    For linear relations it is :math:`H(f_r \circ f_h(x_0)) - H(f_h(x_0))` for every h.
    """
    base = model.base
    if not isinstance(base, RelationFlow):
        return None
    flow = base.relation_flow(base.relation.weight)
    return flow.entropy_change() if _has_entropy(flow) else None


@torch.no_grad()
def composed_entropy(model: Model, h: Tensor, r: Tensor) -> Tensor | None:
    r"""Return :math:`H(f_r \circ f_h(x_0)) - H(x_0)` of queries of ids ``(N,)``, in nats."""
    base = model.base
    if not isinstance(base, RelationFlow):
        return None
    flow = base.composed(base.entity(h), base.relation(r))
    return flow.entropy_change() if _has_entropy(flow) else None


@torch.no_grad()
def triple_entropy(model: Model, h: Tensor, r: Tensor, t: Tensor) -> TripleEntropy | None:
    """Return the entropy changes along triples of ids ``(N,)``; None as for `entity_entropy`.

    Example:
        >>> from kgflow.models import build
        >>> one = torch.tensor([1])
        >>> found = triple_entropy(build("nfe-1", entities=3, relations=2, dim=4), one, one, one)
        >>> bool((found.head + found.relation - found.composed).abs() < 1e-4)
        True
    """
    heads, tails = (entity_flow(model, model.entity(x)) for x in (h, t))
    if heads is None or tails is None:
        return None
    head, tail = heads.entropy_change(), tails.entropy_change()
    composed = composed_entropy(model, h, r)
    return TripleEntropy(head, None if composed is None else composed - head, composed, tail)


def entity_flow(model: Model, t: Tensor) -> Flow | None:
    """Return f_t(x0) of entity embeddings ``(..., w)``, or None if they have no density."""
    base = model.base
    flow = base.flow(t) if isinstance(base, EntityFlow) else None
    return flow if flow is not None and _has_entropy(flow) else None


def _has_entropy(flow: Flow) -> bool:
    # The entropy of a discrete x0, and of x0 / k in the Dirac limit, is minus infinity.
    return isinstance(flow.x0, Variable) and bool(flow.x0.entropy().isfinite())
