"""Creates the model and the loss of an experiment, and completes settings with defaults."""

from collections.abc import Mapping
from typing import Any

from kgflow.config import (
    GROUPS,
    Experiment,
    ModelSettings,
    TrainingSettings,
    expand,
    merge,
    parse,
)
from kgflow.data import Dataset, QueryIndex
from kgflow.errors import KgflowError
from kgflow.models import Ensemble, Model, Variant, build, variant
from kgflow.training import Loss, LossSettings, RegularizerSettings, RelationPrediction, Sum


def complete(values: Mapping[str, Any], source: str) -> Experiment:
    """Validate nested settings of an experiment, with the defaults of its model for the rest.

    Error messages begin with `source`.

    Example:
        >>> complete({"data": "umls", "training": {"epochs": 5}}, "here").training.epochs
        5
    """
    model = values.get("model", {})
    chosen = parse(ModelSettings, model, source, "model")
    if chosen.members:
        raise KgflowError(f"{source}: an ensemble cannot be trained: train its runs")
    defaults = chosen_variant(chosen, source).settings
    return parse(Experiment, merge(_applicable(defaults, values), values), source)


def chosen_variant(model: ModelSettings, source: str) -> Variant:
    """Validate the options of a model, and return its variant."""
    try:
        return variant(model.name, model.options)
    except KgflowError as error:
        raise KgflowError(f"{source}: {error}") from None


def _applicable(defaults: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those defaults of a model whose keys the chosen components have."""
    found: dict[str, Any] = {}
    for key, value in defaults.items():
        parent, _, field = key.rpartition(".")
        if parent in GROUPS:
            chosen = _chosen_name(values, parent)
            if field not in GROUPS[parent][chosen].model_fields:
                continue
            found[f"{parent}.name"] = chosen
        found[key] = value
    return expand(found)


def _chosen_name(values: Mapping[str, Any], key: str) -> object:
    table: Any = values
    for part in key.split("."):
        table = table.get(part, {}) if isinstance(table, Mapping) else {}
    name = table.get("name") if isinstance(table, Mapping) else None
    return GROUPS[key].default if name is None else name


def make_model(experiment: Experiment, data: Dataset, device: str = "cpu") -> Model:
    """Create the model of an experiment on a device, sized for its data.

    Example:
        >>> from kgflow.data import load
        >>> make_model(Experiment(data="world"), load("world")).name
        'nfe-1'
    """
    model = sized_model(experiment.model, len(data.entities), 2 * len(data.relations))
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        raise KgflowError(f"device '{device}' cannot be used here: {reason}") from None


def sized_model(chosen: ModelSettings, entities: int, relations: int) -> Model:
    """Create a model for some entities and relations, inverse relations included."""
    if chosen.members:
        return Ensemble(
            [sized_model(member.model, entities, relations) for member in chosen.members]
        )
    return build(
        chosen.name,
        entities,
        relations,
        chosen.dim,
        chosen.options,
        bias=chosen.bias,
        inverse_relations=chosen.inverse_relations,
        bidirectional=chosen.bidirectional,
    )


def make_loss(training: TrainingSettings, model: Model, index: QueryIndex) -> Loss:
    """Create the loss of a model on training queries, with its regularizer.

    Example:
        >>> from kgflow.data import load
        >>> from kgflow.models import build
        >>> index, model = load("world").queries("train"), build("nfe-1", 1281, 40, 4)
        >>> training = TrainingSettings(loss={"name": "softmax"})
        >>> type(make_loss(training, model, index)).__name__
        'Softmax'
    """
    assert isinstance(training.loss, LossSettings)
    assert isinstance(training.regularizer, RegularizerSettings)
    model = model.trained
    loss, regularizer = training.loss.build(model, index), training.regularizer.build(model)
    terms = [] if regularizer is None else [regularizer]
    if training.relation_prediction_weight:
        terms.append(RelationPrediction(model, training.relation_prediction_weight))
    return Sum(loss, terms) if terms else loss
