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
        found: dict[str, Any] = {
            "lr": trial.suggest_float("lr", 3e-4, 0.1, log=True),
            "decay": trial.suggest_float("decay", 0.9, 1.0),
            "batch_size": trial.suggest_categorical("batch_size", (64, 128, 256, 512, 1024)),
            "dropout": trial.suggest_float("dropout", 0.0, 0.5),
            "loss": trial.suggest_categorical("loss", ("one-vs-all", "softmax")),
        }
        if found["loss"] == "one-vs-all":
            found["margin"] = trial.suggest_float("margin", -8.0, 16.0)
        if self.matrix and trial.suggest_categorical("regularizer", ("none", "dura")) == "dura":
            found["regularizer"] = "dura"
            found["penalty"] = trial.suggest_float("penalty", 1e-4, 0.3, log=True)
        return found
