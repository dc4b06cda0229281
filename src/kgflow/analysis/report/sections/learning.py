"""How training went."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from kgflow.analysis.plots import learning_curve
from kgflow.analysis.report.pieces import Picture, Piece, Row
from kgflow.analysis.report.section import Section, attempt
from kgflow.analysis.report.subject import Subject
from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Learning(Section):
    """The learning curve of every run."""

    id, title = "learning", "Learning"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """A curve for each run."""
        yield Row([attempt(partial(_curve, subject, i)) for i in range(len(subject.runs))])


def _curve(subject: Subject, place: int) -> Picture:
    run, name = subject.runs[place], subject.names[place]
    history = run.history
    if run.config.model.members:
        raise KgflowError(f"{run.directory} is a mean of runs: each of them has its learning curve")
    if not history:
        raise KgflowError(f"{run.directory} has finished no epoch yet: there is no learning curve")
    seconds = sum(record["seconds"] for record in history)

    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        learning_curve(axes, run)
        axes.set_title(name)

    return Picture.of(
        f"learning-{place + 1}",
        f"Training loss and validation MRR of {name} over {len(history)} epochs.",
        f"Training loss (dashed, left, logarithmic) and validation MRR (solid, right) of {name}. "
        f"The model of epoch {run.best_epoch} of {len(history)} is kept; all took {seconds:,.0f} "
        "seconds.",
        draw,
    )
