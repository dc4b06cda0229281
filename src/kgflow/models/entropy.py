"""How uncertain a model is of what it embeds: the paper's Remark "Measurement of uncertainty"."""

import torch
from torch import Tensor

from kgflow.algebra import Flow, Point, Variable
from kgflow.models.model import FlowModel, Model


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
    flow = model.flow(model.entity.weight)
    return flow.entropy_change() if flow is not None and _continuous(flow.x0) else None


@torch.no_grad()
def relation_entropy(model: Model) -> Tensor | None:
    r""":math:`H(f_r \circ f_h(x_0)) - H(f_h(x_0))` of every relation, ``(R,)`` in nats.

    For linear relations it is the same whatever h.
    """
    if not isinstance(model, FlowModel) or not _continuous(model.x0):
        return None
    f_relation = model.f_relation(*model.relation.split(model.relation.weight))
    return Flow(model.x0, f_relation).entropy_change()


def _continuous(x0: Variable | Point) -> bool:
    return isinstance(x0, Variable) and x0.continuous
