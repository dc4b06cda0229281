"""How settings are searched."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import optuna


class Protocol(ABC):
    """What is tried next, and with what patience.

    Args:
        matrix: whether the model is a matrix product.
        epochs: of a trial that goes to its end.
    """

    fixed: ClassVar[Mapping[str, Any]] = {}
    """Training settings of all trials."""
    usual: ClassVar[int]
    """How many trials, where nobody says."""

    def __init__(self, matrix: bool = True, epochs: int = 80) -> None:
        self.matrix, self.epochs = matrix, epochs

    @abstractmethod
    def sampler(self, seed: int) -> "optuna.samplers.BaseSampler":
        """What draws settings that are not given."""

    @abstractmethod
    def pruner(self) -> "optuna.pruners.BasePruner":
        """What ends a trial early."""

    @abstractmethod
    def prepare(self, study: "optuna.Study") -> bool:
        """Say what comes next, if that is fixed; False where nothing is left to try."""

    @abstractmethod
    def settings(self, trial: "optuna.Trial") -> dict[str, Any]:
        """The training settings of a trial."""
