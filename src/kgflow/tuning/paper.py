"""The paper's protocol."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from kgflow.tuning.protocol import Protocol

if TYPE_CHECKING:
    import optuna

GRIDS: Mapping[str, Sequence[float]] = {
    "training.loss.margin": tuple(map(float, range(16))),
    "training.optimizer.lr": (0.0005, 0.001, 0.003, 0.005, 0.01),
    "training.lr_schedule.decay": (0.9, 0.93, 0.95, 1.0),
    "training.batch_size": (128, 256, 512, 1024),
}
"""In the order of the search."""

START = {
    "training.loss.margin": 0.0,
    "training.optimizer.lr": 0.001,
    "training.lr_schedule.decay": 0.95,
    "training.batch_size": 512,
}
"""Where settings stand until their turn comes, which the paper does not say."""


class PaperProtocol(Protocol):
    """The best margin first, then the best learning rate, decay and batch size, over grids.

    Each grid is tried with the best of what was searched before and the start of what was not;
    together 26 trials. Every trial goes to its end.

    Args:
        matrix: whether the model is a matrix product, which is all the same here.
        epochs: of a trial, likewise.
        grids: the values of each setting, in the order of the search.
        start: the values before.

    Reference:
        Xiao, He, Cao: Knowledge Graph Embedding by Normalizing Flows, AAAI 2023, appendix.
    """

    fixed: ClassVar = {"training.loss.dropout": 0.0, "training.ema_decay": 0.0}
    usual = 26

    def __init__(
        self,
        matrix: bool = True,
        epochs: int = 80,
        grids: Mapping[str, Sequence[float]] = GRIDS,
        start: Mapping[str, float] = START,
    ) -> None:
        super().__init__(matrix, epochs)
        self.grids, self.start = grids, start

    def sampler(self, seed: int) -> "optuna.samplers.BaseSampler":
        """Nothing is drawn."""
        import optuna

        return optuna.samplers.RandomSampler(seed)

    def pruner(self) -> "optuna.pruners.BasePruner":
        """None."""
        import optuna

        return optuna.pruners.NopPruner()

    def prepare(self, study: "optuna.Study") -> bool:
        """Put the next setting in the study's queue."""
        tried = [(t.params, t.value) for t in study.trials if t.value is not None]
        # What waits or runs has no value yet; what waits keeps its settings aside.
        open_ = [
            t.system_attrs.get("fixed_params", t.params) for t in study.trials if t.value is None
        ]
        found = self.following(tried, open_)
        if found is not None:
            study.enqueue_trial(found)
        return found is not None

    def settings(self, trial: "optuna.Trial") -> dict[str, Any]:
        """As queued."""
        return {k: trial.suggest_categorical(k, grid) for k, grid in self.grids.items()}

    def following(
        self,
        tried: Sequence[tuple[Mapping[str, float], float]],
        begun: Sequence[Mapping[str, float]] = (),
    ) -> dict[str, float] | None:
        """The settings to try after these, or None at the end.

        Args:
            tried: settings and what they reached.
            begun: settings that somebody tries already; they come last.

        Example:
            >>> protocol = PaperProtocol(grids={"lr": (1.0, 2.0)}, start={"lr": 1.0})
            >>> protocol.following([({"lr": 1.0}, 0.3)])
            {'lr': 2.0}
            >>> protocol.following([({"lr": 1.0}, 0.3), ({"lr": 2.0}, 0.2)]) is None
            True
        """
        best = dict(self.start)
        for name, grid in self.grids.items():
            line = [best | {name: value} for value in grid]
            reached = [max((v for p, v in tried if p == x), default=None) for x in line]
            left = [x for x, value in zip(line, reached, strict=True) if value is None]
            if left:
                # Whoever began one may have died: then it is tried again, after the others.
                return next((x for x in left if x not in begun), left[0])
            best = max(zip(reached, line, strict=True), key=lambda pair: pair[0] or 0.0)[1]
        return None
