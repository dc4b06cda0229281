"""Protocols of hyperparameter search, and those that sample with TPE."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import optuna

PROTOCOLS: dict[str, type["TuningProtocol"]] = {}
"""Tuning protocols by name."""


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
    def sampler(self, seed: int) -> "optuna.samplers.BaseSampler":
        """Return the sampler of hyperparameters that `enqueue_next` does not fix."""

    @abstractmethod
    def pruner(self) -> "optuna.pruners.BasePruner":
        """Return the pruner, which stops unpromising trials."""

    @abstractmethod
    def enqueue_next(self, study: "optuna.Study") -> bool:
        """Enqueue the next trial if its settings are fixed; return False if none is left."""

    @abstractmethod
    def suggest_settings(self, trial: "optuna.Trial") -> dict[str, Any]:
        """Return the training settings of a trial."""


class TpeSampling(TuningProtocol):
    """Hyperparameters sampled with tree-structured Parzen estimators (TPE).

    The search space: learning rate and its decay, batch size, dropout of head embeddings, loss
    (1-vs-all with its margin, or softmax cross entropy) and, for inner-product models, the weight
    of the DURA regularizer.

    Reference:
        Bergstra, Bardenet, Bengio, Kégl: Algorithms for Hyper-Parameter Optimization, NeurIPS 2011.
    """

    def sampler(self, seed: int) -> "optuna.samplers.BaseSampler":
        """Return TPE with a constant liar, which keeps parallel trials apart."""
        import optuna

        return optuna.samplers.TPESampler(seed=seed, constant_liar=True)

    def enqueue_next(self, study: "optuna.Study") -> bool:
        """Return True: the sampler always has another trial."""
        return True

    def suggest_settings(self, trial: "optuna.Trial") -> dict[str, Any]:
        """Return settings drawn by the sampler."""
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

    def pruner(self) -> "optuna.pruners.BasePruner":
        """Return the median pruner, active after five trials."""
        import optuna

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

    def pruner(self) -> "optuna.pruners.BasePruner":
        """Return the Hyperband pruner with reduction factor 3."""
        import optuna

        return optuna.pruners.HyperbandPruner(1, self.epochs, reduction_factor=3)
