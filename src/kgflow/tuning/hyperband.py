"""Many short trials, few long ones."""

from typing import TYPE_CHECKING

from kgflow.tuning.parzen import ParzenProtocol

if TYPE_CHECKING:
    import optuna


class HyperbandProtocol(ParzenProtocol):
    r"""Of all trials that come to :math:`1, 3, 9, \dots` epochs, the best third goes on.

    Bad settings cost an epoch, so that many more can be tried. What learns slowly would never get
    far: so trials are dealt out to brackets, in which the first choice is made after 1 epoch, after
    3, after 9, and so on. Together with the Parzen estimators it is known as BOHB.

    Reference:
        Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar: Hyperband: A Novel Bandit-Based Approach to
        Hyperparameter Optimization, JMLR 2018. Falkner, Klein, Hutter: BOHB: Robust and Efficient
        Hyperparameter Optimization at Scale, ICML 2018.
    """

    usual = 60

    def pruner(self) -> "optuna.pruners.BasePruner":
        """By thirds, up to the epochs of a whole training."""
        import optuna

        return optuna.pruners.HyperbandPruner(1, self.epochs, reduction_factor=3)
