"""Protocols that learn from what they tried."""

from typing import TYPE_CHECKING, Any

from kgflow.tuning.protocol import Protocol

if TYPE_CHECKING:
    import optuna


class ParzenProtocol(Protocol):
    """Settings drawn by tree-structured Parzen estimators.

    Searched are the learning rate, its decay, the batch size, dropout of heads, the loss (1-vs-all
    with its margin, or softmax) and, for matrix products, the weight of a DURA penalty.

    Reference:
        Bergstra, Bardenet, Bengio, Kégl: Algorithms for Hyper-Parameter Optimization, NeurIPS 2011.
    """

    def sampler(self, seed: int) -> "optuna.samplers.BaseSampler":
        """TPE, which takes settings that others are trying for bad ones."""
        import optuna

        return optuna.samplers.TPESampler(seed=seed, constant_liar=True)

    def prepare(self, study: "optuna.Study") -> bool:
        """There is always something left."""
        return True

    def settings(self, trial: "optuna.Trial") -> dict[str, Any]:
        """Drawn by the sampler."""
        batch_sizes, losses = (64, 128, 256, 512, 1024), ("one-vs-all", "softmax")
        trial.suggest_float("training.optimizer.lr", 3e-4, 0.1, log=True)
        trial.suggest_float("training.lr_schedule.decay", 0.9, 1.0)
        trial.suggest_categorical("training.batch_size", batch_sizes)
        trial.suggest_float("training.loss.dropout", 0.0, 0.5)
        if trial.suggest_categorical("training.loss.name", losses) == "one-vs-all":
            trial.suggest_float("training.loss.margin", -8.0, 16.0)
        if self.matrix:
            chosen = trial.suggest_categorical("training.regularizer.name", ("none", "dura"))
            if chosen == "dura":
                trial.suggest_float("training.regularizer.weight", 1e-4, 0.3, log=True)
        return dict(trial.params)
