"""The tuning protocol of the paper."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from kgflow.tuning.protocol import TuningProtocol

if TYPE_CHECKING:
    import optuna

GRIDS: Mapping[str, Sequence[float]] = {
    "training.loss.margin": tuple(map(float, range(16))),
    "training.optimizer.lr": (0.0005, 0.001, 0.003, 0.005, 0.01),
    "training.lr_schedule.decay": (0.9, 0.93, 0.95, 1.0),
    "training.batch_size": (128, 256, 512, 1024),
}
"""Grids in the order of the search."""

INITIAL = {
    "training.loss.margin": 0.0,
    "training.optimizer.lr": 0.001,
    "training.lr_schedule.decay": 0.95,
    "training.batch_size": 512,
}
"""Values before a hyperparameter is searched; the paper does not state them."""


class PaperProtocol(TuningProtocol):
    """Grid search of one hyperparameter after the other: margin, learning rate, decay, batch size.

    Each grid is tried with the best values of the hyperparameters before it and the initial values
    of those after it: 26 trials. No trial is pruned.

    Args:
        inner_product: not used.
        epochs: not used.
        grids: values of each hyperparameter, in the order of the search.
        initial: value of each hyperparameter before it is searched.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, appendix.
    """

    name, default_trials = "paper", 26
    fixed_settings: ClassVar = {"training.loss.dropout": 0.0, "training.ema_decay": 0.0}

    def __init__(
        self,
        inner_product: bool = True,
        epochs: int = 80,
        grids: Mapping[str, Sequence[float]] = GRIDS,
        initial: Mapping[str, float] = INITIAL,
    ) -> None:
        super().__init__(inner_product, epochs)
        self.grids, self.initial = grids, initial

    def sampler(self, seed: int) -> "optuna.samplers.BaseSampler":
        """Return a random sampler, which is never used since all trials are enqueued."""
        import optuna

        return optuna.samplers.RandomSampler(seed)

    def pruner(self) -> "optuna.pruners.BasePruner":
        """Return a pruner that never prunes."""
        import optuna

        return optuna.pruners.NopPruner()

    def enqueue_next(self, study: "optuna.Study") -> bool:
        """Enqueue the next point of the grids; return False at the end."""
        finished = [(t.params, t.value) for t in study.trials if t.value is not None]
        # Waiting and running trials have no value yet; waiting ones have their settings elsewhere.
        started = [
            t.system_attrs.get("fixed_params", t.params) for t in study.trials if t.value is None
        ]
        settings = self.next_settings(finished, started)
        if settings is not None:
            study.enqueue_trial(settings)
        return settings is not None

    def suggest_settings(self, trial: "optuna.Trial") -> dict[str, Any]:
        """Return the settings with which the trial was enqueued."""
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
            >>> protocol = PaperProtocol(grids={"lr": (1.0, 2.0)}, initial={"lr": 1.0})
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
