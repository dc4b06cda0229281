"""A plugin with one toy component of each kind."""

from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field

from kgflow.flows import InnerProduct, Point, Scaling
from kgflow.models import FlowModel
from kgflow.training import (
    LossSettings,
    LrScheduleSettings,
    OptimizerSettings,
    RegularizerSettings,
    Softmax,
    Term,
)


class ToyModel(FlowModel):
    """DistMult under another name."""

    name = "toy-model"
    entity_parts: ClassVar = ("sigma",)
    relation_parts: ClassVar = ("sigma",)
    f_entity = f_relation = Scaling
    x0, D = Point(1.0), InnerProduct()


class ToyLossSettings(LossSettings):
    """Settings of the toy loss."""

    name: Literal["toy-loss"] = "toy-loss"
    scale: Annotated[float, Field(gt=0, description="Scale of the toy loss.")] = 1.0

    def build(self, model, index):
        return ToyLoss(model, index, self.scale)


class ToyLoss(Softmax):
    """Softmax cross entropy times a number."""

    def __init__(self, model, index, scale):
        super().__init__(model, index)
        self.factor = scale

    def targets(self, batch):
        c, row, column, y, e = super().targets(batch)
        return type(super().targets(batch))(c * self.factor, row, column, y * self.factor, e)


class ToyRegularizerSettings(RegularizerSettings):
    """Settings of the toy regularizer."""

    name: Literal["toy-regularizer"] = "toy-regularizer"
    weight: Annotated[float, Field(gt=0, description="Weight of the toy regularizer.")] = 0.1

    def build(self, model):
        return ToyRegularizer(self.weight)


class ToyRegularizer(Term):
    """Mean of the absolute values of tails."""

    def __init__(self, weight):
        self.weight = weight

    def parts(self, facts, entity):
        yield self.weight * (entity(facts.t).abs().mean(-1) * facts.weight).sum()


class ToyOptimizerSettings(OptimizerSettings):
    """Settings of plain gradient descent."""

    name: Literal["toy-sgd"] = "toy-sgd"

    def build(self, parameters):
        return torch.optim.SGD(parameters, lr=self.lr)


class ToySchedule(LrScheduleSettings):
    """A constant learning rate, halved after some epochs."""

    name: Literal["toy-step"] = "toy-step"
    after: Annotated[int, Field(ge=0, description="Epochs before the step.")] = 1

    def factor(self, epoch, epochs):
        return 1.0 if epoch < self.after else 0.5
