"""Whether probabilities are frequencies."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kgflow.analysis.plots.reliability import reliability_diagram
from kgflow.analysis.report.pieces import Note, Picture, Piece, Table
from kgflow.analysis.report.section import Section, beside
from kgflow.analysis.report.sections.metrics import run_column
from kgflow.analysis.report.subject import Subject
from kgflow.analysis.report.text import signed
from kgflow.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBERS = {"brier": "Brier score", "log_loss": "log loss (nats)", "ece": "calibration error"}


class Probabilities(Section):
    """Probabilities held against what is true, before and after calibration."""

    id, title = "probabilities", "Probabilities"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """What they mean, a diagram, the numbers, and the bins."""
        found = [run.reliability(subject.split) for run in subject.runs]
        yield Note(
            "A probability of 0.3 means: take a question with an answer that the graph does not "
            "hold; of its candidates, all entities not known to be answers, 3 in 10 of those with "
            "such a score are that answer."
        )
        for run, name in zip(subject.runs, subject.names, strict=True):
            yield Note(_learned(run, name))
        drawn = [_picture(subject, i, one) for i, one in enumerate(found)]
        yield from beside(drawn, _numbers(subject, found))
        yield _bins(subject, found)


def _learned(run: Run, name: str) -> str:
    calibration = run.predictor.calibration
    if not calibration.facts:
        return f"{name} is not calibrated, so before and after are alike: kgflow calibrate does it."
    own = len(calibration.by_relation)
    if not own and calibration.common.kind == "identity":
        kept = "kept the sigmoid of the loss, as nothing else was clearly better"
    else:
        per_relation = f" and {own:,} of a relation's own" if own else ""
        kept = f"learned one common map ({calibration.common.kind}){per_relation}"
    return f"Calibration of {name} {kept}, from {calibration.facts:,} validation facts."


def _picture(subject: Subject, place: int, found: dict[str, Any]) -> Picture:
    name = subject.names[place]

    def draw(figure: "Figure") -> None:
        upper, lower = figure.subplots(2, 1, height_ratios=(3, 1))
        bins = {when: found[when]["bins"] for when in ("before", "after")}
        reliability_diagram(upper, lower, bins, name)

    return Picture.of(
        f"reliability-{place + 1}",
        f"Reliability diagram of {name} before and after calibration, with counts below.",
        "Candidates of like probability, each bin with as many true answers: the nearer to the "
        "grey line, the better; below it the model says too much. Bars are 95 % if answers were "
        "independent. The lower part counts candidates: almost all are improbable.",
        draw,
        (5.6, 4.9),
    )


def _numbers(subject: Subject, found: list[dict[str, Any]]) -> Table:
    rows = []
    for name, one in zip(subject.names, found, strict=True):
        for key, title in NUMBERS.items():
            change, error = one["difference"][key]
            row = [title, one["before"][key], one["after"][key], signed(change), f"{error:.3f}"]
            rows.append([name, *row] if len(found) > 1 else row)
    return Table(
        f"On {found[0]['answers']:,} {subject.split} answers{_sample(subject, found)}, for a "
        "question with all its candidates; less is better. The error of the difference is a "
        "bootstrap over questions.",
        (*run_column(subject), "number", "before", "after", "difference", "error"),
        rows,
    )


def _sample(subject: Subject, found: list[dict[str, Any]]) -> str:
    of = 2 * len(subject.data.split(subject.split))
    return f" drawn from {of:,}" if found[0]["answers"] < of else ""


def _bins(subject: Subject, found: list[dict[str, Any]]) -> Table:
    rows = []
    for name, one in zip(subject.names, found, strict=True):
        for when in ("before", "after"):
            for b in one[when]["bins"]:
                shares = f"{b['probability']:.5f}", f"{b['frequency']:.5f}"
                row = [when, *shares, round(b["candidates"]), b["true"]]
                rows.append([name, *row] if len(found) > 1 else row)
    columns = "calibration", "probability", "true share", "candidates", "true answers"
    return Table("The bins of the diagram", (*run_column(subject), *columns), rows, folded=True)
