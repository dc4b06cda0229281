"""How large, and how often."""

from dataclasses import dataclass

from kgflow.errors import KgflowError

SCALES = {"paper": 1, "half": 2, "quarter": 4}
"""What the dimension n is divided by."""


@dataclass(frozen=True)
class Options:
    """The scale of a study's models, and the number of its seeds, from 0.

    Example:
        >>> Options("half").dim(512)
        256
        >>> Options("half", 3).words
        ' --scale half --seeds 3'
    """

    scale: str = "paper"
    seeds: int = 1

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise KgflowError(f"unknown scale '{self.scale}': give {', '.join(SCALES)}")

    @property
    def words(self) -> str:
        """As a user types them; nothing where nothing was chosen."""
        scale = f" --scale {self.scale}" if self.scale != "paper" else ""
        return scale + (f" --seeds {self.seeds}" if self.seeds != 1 else "")

    def dim(self, printed: int) -> int:
        """The dimension at this scale."""
        return max(1, printed // SCALES[self.scale])
