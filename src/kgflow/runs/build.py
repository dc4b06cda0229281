"""What an experiment names, made: the model, the loss and the schedule."""

from collections.abc import Callable
from dataclasses import replace

from kgflow.config import Experiment, ModelConfig, TrainingConfig
from kgflow.data import Dataset, QueryIndex
from kgflow.errors import KgflowError
from kgflow.kernels import Dense, Pullback, Sparse
from kgflow.models import Ensemble, Model, build
from kgflow.training import (
    L2,
    N3,
    Bernoulli,
    BothSides,
    Confidence,
    Corruption,
    Cosine,
    Dura,
    Exponential,
    KvsAll,
    Loss,
    MarginRanking,
    OneVsAll,
    Plain,
    Plateau,
    Rate,
    Regress,
    Regularizer,
    RelationPrediction,
    SampledOneVsAll,
    SampledSoftmax,
    Schedule,
    SelfAdversarial,
    Soft,
    Softmax,
    Sum,
    Tails,
    Term,
    Warmup,
    Weights,
    weighted_by_tail,
)

PULLBACKS: dict[str, type[Pullback]] = {"dense": Dense, "sparse": Sparse}
CONFIDENCES: dict[str, type[Confidence]] = {
    "plain": Plain,
    "weights": Weights,
    "soft": Soft,
    "regress": Regress,
}
REGULARIZERS: dict[str, type[Regularizer]] = {"l2": L2, "n3": N3, "dura": Dura}
CORRUPTIONS: dict[str, type[Corruption]] = {
    "tails": Tails,
    "both": BothSides,
    "bernoulli": Bernoulli,
}


def make_model(experiment: Experiment, data: Dataset, device: str = "cpu") -> Model:
    """The model of an experiment, as large as its data needs it, on a device.

    Example:
        >>> from kgflow.data import load
        >>> make_model(Experiment(data="world"), load("world")).name
        'nfe-1'
    """
    model = _made(experiment.model, len(data.entities), 2 * len(data.relations))
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        raise KgflowError(f"device '{device}' cannot be used here: {reason}") from None


def _made(chosen: ModelConfig, entities: int, relations: int) -> Model:
    if chosen.parts:
        return Ensemble([_made(part.model, entities, relations) for part in chosen.parts])
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


def make_loss(training: TrainingConfig, model: Model, index: QueryIndex) -> Loss:
    """The loss of a model on training queries, with its terms.

    Example:
        >>> from kgflow.data import load
        >>> from kgflow.models import build
        >>> index, model = load("world").queries("train"), build("nfe-1", 1281, 40, 4)
        >>> type(make_loss(TrainingConfig(loss="softmax"), model, index)).__name__
        'Softmax'
    """
    model = model.trained
    if training.confidence == "plain":
        index = replace(index, weights=None)  # also for terms and losses that know only weights
    counted = weighted_by_tail(index, training.popularity) if training.popularity else index
    loss, terms = LOSSES[training.loss](training, model, counted), list[Term]()
    if training.regularizer != "none":
        terms.append(REGULARIZERS[training.regularizer](model, training.penalty))
    if training.relation_weight:
        terms.append(RelationPrediction(model, training.relation_weight))
    return Sum(loss, terms, index) if terms else loss


def make_schedule(training: TrainingConfig) -> Schedule:
    """How long and how fast.

    Example:
        >>> make_schedule(TrainingConfig(schedule="cosine", epochs=10)).rate
        Cosine(epochs=10)
    """
    rate: Rate = RATES[training.schedule](training)
    return Schedule(
        epochs=training.epochs,
        batch_size=training.batch_size,
        lr=training.lr,
        rate=Warmup(rate, training.warmup) if training.warmup else rate,
        seed=training.seed,
        average=training.average,
        patience=training.patience,
        eval_every=training.eval_every,
        optimizer=training.optimizer,
    )


def _one_vs_all(chosen: TrainingConfig, model: Model, index: QueryIndex) -> Loss:
    pullback = PULLBACKS[chosen.backward]()
    return OneVsAll(
        model,
        index,
        chosen.margin,
        chosen.dropout,
        pullback,
        confidence=CONFIDENCES[chosen.confidence](),
        query_dropout=chosen.query_dropout,
    )


def _softmax(chosen: TrainingConfig, model: Model, index: QueryIndex) -> Loss:
    return Softmax(model, index, chosen.dropout, chosen.query_dropout)


def _kvsall(chosen: TrainingConfig, model: Model, index: QueryIndex) -> Loss:
    dropout = (chosen.dropout, chosen.query_dropout)
    return KvsAll(model, index, chosen.margin, *dropout, smoothing=chosen.smoothing)


def _sampled(chosen: TrainingConfig, model: Model, index: QueryIndex) -> Loss:
    dropout = (chosen.dropout, chosen.query_dropout)
    return SampledOneVsAll(model, index, chosen.margin, chosen.negatives, *dropout)


def _sampled_softmax(chosen: TrainingConfig, model: Model, index: QueryIndex) -> Loss:
    dropout = (chosen.dropout, chosen.query_dropout)
    return SampledSoftmax(model, index, 0.0, chosen.negatives, *dropout)


def _margin(chosen: TrainingConfig, model: Model, index: QueryIndex) -> Loss:
    corruption, dropout = CORRUPTIONS[chosen.corruption](), (chosen.dropout, chosen.query_dropout)
    return MarginRanking(model, index, chosen.margin, chosen.negatives, corruption, *dropout)


def _self_adversarial(chosen: TrainingConfig, model: Model, index: QueryIndex) -> Loss:
    corruption, dropout = CORRUPTIONS[chosen.corruption](), (chosen.dropout, chosen.query_dropout)
    given = (chosen.margin, chosen.negatives, corruption, *dropout, chosen.adversarial)
    return SelfAdversarial(model, index, *given)


LOSSES: dict[str, Callable[[TrainingConfig, Model, QueryIndex], Loss]] = {
    "one-vs-all": _one_vs_all,
    "softmax": _softmax,
    "kvsall": _kvsall,
    "sampled": _sampled,
    "sampled-softmax": _sampled_softmax,
    "margin": _margin,
    "self-adversarial": _self_adversarial,
}

RATES: dict[str, Callable[[TrainingConfig], Rate]] = {
    "exponential": lambda chosen: Exponential(chosen.decay),
    "cosine": lambda chosen: Cosine(chosen.epochs),
    "plateau": lambda chosen: Plateau(chosen.decay),
}
