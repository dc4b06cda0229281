"""TensorBoard as a training callback."""

from pathlib import Path

from kgflow.errors import KgflowError
from kgflow.training.callback import Record


class TensorBoard:
    """Writes every epoch's numbers as scalars.

    Args:
        directory: where TensorBoard's event files go.
    """

    def __init__(self, directory: Path) -> None:
        try:
            from torch.utils.tensorboard.writer import SummaryWriter
        except ImportError:
            raise KgflowError(
                "install TensorBoard first: pip install 'kgflow[tensorboard]'"
            ) from None
        self.writer = SummaryWriter(str(directory))

    def on_start(self, epoch: int, batches: int) -> None:
        """Nothing to write."""

    def on_batch(self, epoch: int, batch: int, loss: float | None) -> None:
        """Nothing to write."""

    def on_epoch(self, record: Record) -> None:
        """One point per number."""
        for name, value in record.items():
            if name != "epoch":
                self.writer.add_scalar(name, value, int(record["epoch"]))
        self.writer.flush()
