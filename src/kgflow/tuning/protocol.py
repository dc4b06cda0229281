"""Protocols of hyperparameter search: the grids of the paper, TPE and Hyperband."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import optuna

PROTOCOLS: dict[str, type["TuningProtocol"]] = {}
"""Tuning protocols by name."""

GRIDS: Mapping[str, Sequence[float]] = {
    "training.loss.margin": tuple(map(float, range(16))),
    "training.optimizer.lr": (0.0005, 0.001, 0.003, 0.005, 0.01),
    "training.lr_schedule.decay": (0.9, 0.93, 0.95, 1.0),
    "training.batch_size": (128, 256, 512, 1024),
}
"""Grids of the paper in the order of the search."""

INITIAL: Mapping[str, float] = {
    "training.loss.margin": 0.0,
    "training.optimizer.lr": 0.001,
    "training.lr_schedule.decay": 0.95,
    "training.batch_size": 512,
}
"""Values before a hyperparameter is searched; the paper does not state them."""


class TuningProtocol(ABC):
    """How hyperparameters are sampled, and which trials are pruned.

    A subclass with a `name` registers itself.

    Args:
        inner_product: whether the scores of the model are inner products.
        epochs: number of epochs of a trial that is not pruned.
    """

    name: ClassVar[str]
    fixed_settings: ClassVar[Mapping[str, Any]] = {}
    """Training settings of all trials."""
    default_trials: ClassVar[int]

    def __init_subclass__(cls) -> None:
        if "name" in cls.__dict__:
            PROTOCOLS[cls.name] = cls

    def __init__(self, inner_product: bool = True, epochs: int = 80) -> None:
        self.inner_product, self.epochs = inner_product, epochs

    @abstractmethod
    def sampler(self, seed: int) -> optuna.samplers.BaseSampler:
        """Return the sampler of hyperparameters that `enqueue_next` does not fix."""

    @abstractmethod
    def pruner(self) -> optuna.pruners.BasePruner:
        """Return the pruner, which stops unpromising trials."""

    @abstractmethod
    def enqueue_next(self, study: optuna.Study) -> bool:
        """Enqueue the next trial if its settings are fixed; return False if none is left."""

    @abstractmethod
    def suggest_settings(self, trial: optuna.Trial) -> dict[str, Any]:
        """Return the training settings of a trial."""


class PaperProtocol(TuningProtocol):
    """Grid search of one hyperparameter after the other: margin, learning rate, decay, batch size.

    Each grid is tried with the best values of the hyperparameters before it and the initial values
    of those after it: 26 trials. No trial is pruned.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, appendix.
    """

    name, default_trials = "paper", 26
    grids, initial = GRIDS, INITIAL
    fixed_settings: ClassVar = {"training.loss.dropout": 0.0, "training.ema_decay": 0.0}

    def sampler(self, seed: int) -> optuna.samplers.BaseSampler:
        # Never used, since all trials are enqueued.
        return optuna.samplers.RandomSampler(seed)

    def pruner(self) -> optuna.pruners.BasePruner:
        return optuna.pruners.NopPruner()

    def enqueue_next(self, study: optuna.Study) -> bool:
        finished = [(t.params, t.value) for t in study.trials if t.value is not None]
        # Waiting and running trials have no value yet; waiting ones have their settings elsewhere.
        started = [
            t.system_attrs.get("fixed_params", t.params) for t in study.trials if t.value is None
        ]
        settings = self.next_settings(finished, started)
        if settings is not None:
            study.enqueue_trial(settings)
        return settings is not None

    def suggest_settings(self, trial: optuna.Trial) -> dict[str, Any]:
        return {k: trial.suggest_categorical(k, grid) for k, grid in self.grids.items()}

    def next_settings(
        self,
        finished: Sequence[tuple[Mapping[str, float], float]],
        started: Sequence[Mapping[str, float]] = (),
    ) -> dict[str, float] | None:
        """Return the settings of the next trial, or None at the end.

        Args:
            finished: settings and validation MRR of finished trials.
            started: settings of unfinished trials, which are tried last.

        Example:
            >>> protocol = PaperProtocol()
            >>> protocol.grids, protocol.initial = {"lr": (1.0, 2.0)}, {"lr": 1.0}
            >>> protocol.next_settings([({"lr": 1.0}, 0.3)])
            {'lr': 2.0}
            >>> protocol.next_settings([({"lr": 1.0}, 0.3), ({"lr": 2.0}, 0.2)]) is None
            True
        """
        best = dict(self.initial)
        for name, grid in self.grids.items():
            line = [best | {name: value} for value in grid]
            values = [max((v for p, v in finished if p == x), default=None) for x in line]
            left = [x for x, value in zip(line, values, strict=True) if value is None]
            if left:
                # A started trial may never finish: then it is tried again, after the others.
                return next((x for x in left if x not in started), left[0])
            best = max(zip(values, line, strict=True), key=lambda pair: pair[0] or 0.0)[1]
        return None


class TpeSampling(TuningProtocol):
    """Hyperparameters sampled with tree-structured Parzen estimators (TPE).

    The search space: learning rate and its decay, batch size, dropout of head embeddings, loss
    (1-vs-all with its margin, or softmax cross entropy) and, for inner-product models, the weight
    of the DURA regularizer.

    Reference:
        Bergstra, Bardenet, Bengio, Kégl: Algorithms for Hyper-Parameter Optimization, NeurIPS 2011.
    """

    def sampler(self, seed: int) -> optuna.samplers.BaseSampler:
        # The constant liar keeps parallel trials apart.
        return optuna.samplers.TPESampler(seed=seed, constant_liar=True)

    def enqueue_next(self, study: optuna.Study) -> bool:
        return True

    def suggest_settings(self, trial: optuna.Trial) -> dict[str, Any]:
        batch_sizes, losses = (64, 128, 256, 512, 1024), ("one-vs-all", "softmax")
        trial.suggest_float("training.optimizer.lr", 3e-4, 0.1, log=True)
        trial.suggest_float("training.lr_schedule.decay", 0.9, 1.0)
        trial.suggest_categorical("training.batch_size", batch_sizes)
        trial.suggest_float("training.loss.dropout", 0.0, 0.5)
        if trial.suggest_categorical("training.loss.name", losses) == "one-vs-all":
            trial.suggest_float("training.loss.margin", -8.0, 16.0)
        if self.inner_product:
            chosen = trial.suggest_categorical("training.regularizer.name", ("none", "dura"))
            if chosen == "dura":
                trial.suggest_float("training.regularizer.weight", 1e-4, 0.3, log=True)
        return dict(trial.params)


class TpeProtocol(TpeSampling):
    """TPE, with trials pruned that fall below the median of the trials before them."""

    name, default_trials = "tpe", 30

    def pruner(self) -> optuna.pruners.BasePruner:
        return optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=1)


class HyperbandProtocol(TpeSampling):
    r"""TPE with Hyperband: at :math:`1, 3, 9, \dots` epochs, the best third of trials continues.

    A bad trial costs one epoch, so that many more can be tried. Since slow learners would never
    survive, trials are divided into brackets that prune first after 1, 3, 9, … epochs. Together
    with TPE this is known as BOHB.

    Reference:
        Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar: Hyperband: A Novel Bandit-Based Approach to
        Hyperparameter Optimization, JMLR 2018. Falkner, Klein, Hutter: BOHB: Robust and Efficient
        Hyperparameter Optimization at Scale, ICML 2018.
    """

    name, default_trials = "hyperband", 60

    def pruner(self) -> optuna.pruners.BasePruner:
        return optuna.pruners.HyperbandPruner(1, self.epochs, reduction_factor=3)
