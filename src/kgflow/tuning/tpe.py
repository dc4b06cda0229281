"""Trials against the median."""

from typing import TYPE_CHECKING

from kgflow.tuning.parzen import ParzenProtocol

if TYPE_CHECKING:
    import optuna


class TpeProtocol(ParzenProtocol):
    """Trials that fall behind the median of those before them end early."""

    usual = 30

    def pruner(self) -> "optuna.pruners.BasePruner":
        """By the median, after five trials."""
        import optuna

        return optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=1)
