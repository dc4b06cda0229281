"""Recipes: settings that were good on some graphs, each with the evidence for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

Settings = dict[str, Any]
"""Settings by dotted key."""

SCALES = {"fast": (0.5, 0.5), "auto": (1.0, 1.0), "best": (2.0, 1.5), "paper": (1.0, 1.0)}
"""Factors of the dimension and of the epochs."""


INFINITE = float("inf")
LARGE = 400_000
"""Size of a graph from which validations take about as long as epochs, and are fewer."""
AVERAGED = 5
"""Number of last epochs that the moving average of the weights covers, about."""


class Size(NamedTuple):
    """Dimension, epochs and batch size for graphs up to a size, see `GraphStatistics.size`."""

    up_to: float
    dim: int
    epochs: int
    batch_size: int


@dataclass(frozen=True)
class Recipe:
    """Settings that were best on some graphs, with sizes for small and large ones.

    Args:
        evidence: Where the settings come from.
        sizes: Dimension, epochs and batch size by the size of the graph, ascending.
        settings: All other settings by dotted key; those that are missing have their defaults.
    """

    evidence: str
    sizes: Sequence[Size]
    settings: Mapping[str, Any]

    def at(self, size: float, preset: str = "auto") -> Settings:
        """Return the settings for the size of a graph, at the scale of a preset.

        Example:
            >>> RECIPES["sparse"].at(200_000, "fast")["model.dim"]
            128
        """
        larger, longer = SCALES[preset]
        chosen = next(found for found in self.sizes if size <= found.up_to)
        epochs = max(1, round(chosen.epochs * longer))
        every = max(1, epochs // (8 if size <= LARGE else 4))
        common = {
            "model.dim": max(8, int(chosen.dim * larger) // 8 * 8),
            "training.epochs": epochs,
            "training.batch_size": chosen.batch_size,
            "training.ema_decay": ema_decay(epochs),
            "training.validate_every": every,
            "training.patience": 3,
        }
        return common | dict(self.settings)


def ema_decay(epochs: int) -> float:
    """Return a decay of the moving average of weights that suits the number of epochs.

    Example:
        >>> [ema_decay(epochs) for epochs in (4, 10, 25, 100)]
        [0.0, 0.5, 0.8, 0.9]
    """
    return round(min(0.9, max(0.0, 1 - AVERAGED / epochs)), 2)


def _cross_entropy(
    model: str, lr: float, regularizer: tuple[str, float], loss: Mapping[str, Any]
) -> Settings:
    """Return what recipes with a cross entropy have in common."""
    return {
        "model.name": model,
        "model.bidirectional": True,
        **{f"training.loss.{key}": value for key, value in loss.items()},
        "training.loss.dropout": 0.0,
        "training.regularizer.name": regularizer[0],
        "training.regularizer.weight": regularizer[1],
        "training.optimizer.name": "adagrad",
        "training.optimizer.lr": lr,
        "training.lr_schedule.decay": 1.0,
    }


# Every size: up to, dimension, epochs, batch size.
SMALL = [Size(4_000, 256, 40, 50), Size(20_000, 256, 60, 100), Size(INFINITE, 512, 24, 500)]
INNER = [
    Size(LARGE, 512, 16, 2000),
    Size(1_000_000, 256, 12, 2000),
    Size(4_000_000, 128, 8, 4000),
    Size(INFINITE, 64, 4, 8000),
]
DISTANCE = [
    Size(LARGE, 256, 16, 1000),
    Size(1_000_000, 128, 12, 2000),
    Size(4_000_000, 96, 8, 4000),
    Size(INFINITE, 48, 4, 8000),
]
LONGER = [Size(up_to, dim, 2 * epochs, batch) for up_to, dim, epochs, batch in INNER]
BCE = [Size(INFINITE, 128, 80, 64)]

ALL = {"name": "softmax"}
SAMPLE, LARGER_SAMPLE = (
    {"name": "sampled-softmax", "num_negatives": number} for number in (2048, 4096)
)

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "filled": Recipe(
            "nations: .833 on test (docs/results/small.md); with cross entropy .773 on validation",
            BCE,
            {"model.name": "nfe-1"},
        ),
        "filled-point": Recipe(
            "nations: .832 on test (docs/results/small.md)", BCE, {"model.name": "nfe-point"}
        ),
        "small-dense": Recipe(
            "umls: .950 on validation, .888 with the weight .05, .936 with bidirectional scoring;"
            " codex-s: .479 (codex-s/dropout-complex-flow of the benchmarks)",
            SMALL,
            _cross_entropy("complex-flow", 0.1, ("n3", 0.01), ALL) | {"model.bidirectional": False},
        ),
        "small-dense-complex": Recipe(
            "codex-s: .480 on validation (codex-s/dropout-complex of the benchmarks)",
            SMALL,
            _cross_entropy("complex", 0.1, ("n3", 0.01), ALL) | {"model.bidirectional": False},
        ),
        "small": Recipe(
            "dependencies of 2,933 packages: .566 on validation, .526 with the weight .01",
            SMALL,
            _cross_entropy("complex-flow", 0.1, ("n3", 0.05), ALL),
        ),
        "small-complex": Recipe(
            "as small, for ensembles with it",
            SMALL,
            _cross_entropy("complex", 0.1, ("n3", 0.05), ALL),
        ),
        "small-sparse": Recipe(
            "world: .852 on validation, .821 with the recipe small-dense; packages: .440",
            SMALL,
            _cross_entropy("nfe-1-complex", 0.2, ("dura", 0.1), ALL),
        ),
        "dense": Recipe(
            "fb15k-237: .352 on validation after 10 epochs (docs/results/notes.md)",
            INNER,
            _cross_entropy("complex-flow", 0.2, ("n3", 0.05), SAMPLE),
        ),
        "relations": Recipe(
            "fb15k-237: .378 on validation after 60 epochs with n = 1024, behind dense before 20"
            " (fb15k-237/relations-complex of the benchmarks)",
            LONGER,
            _cross_entropy("complex", 0.2, ("n3", 0.05), SAMPLE)
            | {"training.relation_prediction_weight": 4.0},
        ),
        "sparse": Recipe(
            "wn18rr: .477 on validation after 12 epochs with n = 192, .495 after 30 with n = 384"
            " (wn18rr/bidirectional-nfe-1-complex of the benchmarks)",
            DISTANCE,
            _cross_entropy("nfe-1-complex", 0.3, ("dura", 0.3), LARGER_SAMPLE),
        ),
        "sparse-quaternion": Recipe(
            "wn18rr: .487 on validation after 24 epochs with n = 512 (docs/results/notes.md)",
            DISTANCE,
            _cross_entropy("nfe-1-quaternion", 0.3, ("dura", 0.3), LARGER_SAMPLE),
        ),
        "paper": Recipe(
            "Tables 6 and 7 of the paper; fb15k-237: .345 on test, .355 in the paper"
            " (docs/results/notes.md)",
            [Size(INFINITE, 1024, 50, 1024)],
            {
                "model.name": "nfe-1",
                "training.batches": "facts",
                "training.ema_decay": 0.0,
                "training.loss.margin": 2.0,
                "training.loss.dropout": 0.0,
                "training.optimizer.lr": 0.001,
                "training.lr_schedule.decay": 0.93,
            },
        ),
    }
)
"""Recipes by name."""
