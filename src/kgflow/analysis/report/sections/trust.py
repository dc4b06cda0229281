"""Whether uncertainty tells good answers from bad."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kgflow.analysis.plots.rejection import rejection
from kgflow.analysis.report.pieces import Note, Picture, Piece, Table
from kgflow.analysis.report.section import Section, beside
from kgflow.analysis.report.sections.metrics import run_column
from kgflow.analysis.report.subject import Subject
from kgflow.analysis.report.text import signed
from kgflow.analysis.signals import BASELINES, ENTROPIES
from kgflow.analysis.study import Study, study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 2000
"""Facts that are studied: more would cost minutes on large graphs."""


class Trust(Section):
    """What is known of an answer before it is checked."""

    id, title = "trust", "Does uncertainty tell good answers from bad?"

    def pieces(self, subject: Subject) -> Iterator[Piece]:
        """What came out, rejection curves, and how well each signal tells hits from misses."""
        found = [study(run, subject.split, most=MOST) for run in subject.runs]
        for name, one in zip(subject.names, found, strict=True):
            yield Note(_outcome(name, one))
        drawn = [_picture(name, i, found[i]) for i, name in enumerate(subject.names)]
        yield from beside(drawn, _table(subject, found))


def _outcome(name: str, found: Study) -> str:
    if not found.has_entropy:
        return f"{name} knows no uncertainty ({found.model}): simpler signals are shown alone."
    (entropy, high), (simple, other) = (_best(found, names) for names in (ENTROPIES, BASELINES))
    word = "better" if high > other else "worse"
    said = (
        f"{name}: the best entropy ({entropy}, AUROC {high:.3f}) tells hits from misses {word} "
        f"than the best simple signal ({simple}, {other:.3f})."
    )
    if found.added is None:
        return said
    gain, low, high = found.added
    adds = "help" if low > 0 else "harm" if high < 0 else "add nothing that can be told"
    interval = f"{signed(low)} to {signed(high)}"
    return f"{said} Beside all simple ones, entropies {adds} ({signed(gain)}, {interval})."


def _best(found: Study, names: Sequence[str]) -> tuple[str, float]:
    rows = found.errors.filter(found.errors["signal"].is_in(list(names))).sort("auroc@1")
    return rows["signal"][-1], rows["auroc@1"][-1]


def _picture(name: str, place: int, found: Study) -> Picture:
    def draw(figure: "Figure") -> None:
        axes = figure.subplots()
        rejection(axes, found)
        axes.set_title(name)
        figure.legend(loc="outside lower center", ncols=3, fontsize=9)

    entropies = "; entropies are thick, simpler signals thin" if found.has_entropy else ""
    return Picture.of(
        f"rejection-{place + 1}",
        f"MRR of the surest share of answers by {name}, for each signal.",
        "If only the surest questions are answered, how good are the answers? The higher a curve, "
        f"the better its signal{entropies}. Grey lines: answering at random, and knowing the "
        "ranks (oracle).",
        draw,
        (5.6, 4.4),
    )


def _table(subject: Subject, found: list[Study]) -> Table:
    rows: list[list[Any]] = []
    for name, one in zip(subject.names, found, strict=True):
        asked = one.foreign.filter(one.foreign["drawn"] == "asked")
        foreign = dict(zip(asked["signal"], asked["auroc"], strict=True))
        for r in one.errors.sort("auroc@1", descending=True, nulls_last=True).to_dicts():
            interval = f"{r['low@1']:.3f} to {r['high@1']:.3f}"
            row = [r["signal"], r["auroc@1"], interval, foreign.get(r["signal"])]
            rows.append([name, *row] if len(found) > 1 else row)
    return Table(
        f"AUROC: the chance that a hit at 1 has the surer signal than a miss; 0.5 knows nothing. "
        f"{_sample(subject, found[0])} Foreign: the same for real questions against some about an "
        "entity that the relation never has there. Several signals together are a regression "
        "fitted to validation.",
        (*run_column(subject), "signal", "AUROC", "95 % interval", "foreign"),
        rows,
    )


def _sample(subject: Subject, found: Study) -> str:
    facts = len(subject.data.split(subject.split))
    drawn = f", of {MOST:,} facts drawn from {facts:,}" if facts > MOST else ""
    return f"{found.answers:,} {subject.split} answers{drawn}."
