"""All sections as one page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template

from kgflow.analysis.plots.style import picture
from kgflow.analysis.report.pieces import Note, Picture, Piece, pictures
from kgflow.analysis.report.section import Section
from kgflow.analysis.report.sections.answer_sets import PredictionSets
from kgflow.analysis.report.sections.data import DataCard
from kgflow.analysis.report.sections.densities import Densities
from kgflow.analysis.report.sections.learning import Learning
from kgflow.analysis.report.sections.map import Map
from kgflow.analysis.report.sections.metrics import MetricsTables
from kgflow.analysis.report.sections.probabilities import Probabilities
from kgflow.analysis.report.sections.relations import Relations
from kgflow.analysis.report.sections.rules import Rules
from kgflow.analysis.report.sections.settings import Settings
from kgflow.analysis.report.sections.summary import Summary
from kgflow.analysis.report.sections.trust import Trust
from kgflow.analysis.report.sections.uncertainty import Uncertainty
from kgflow.analysis.report.sections.versus import Versus
from kgflow.analysis.report.subject import Subject
from kgflow.analysis.report.text import tag
from kgflow.errors import KgflowError
from kgflow.io import write_atomic
from kgflow.runs.run import Run

SECTIONS: tuple[Section, ...] = (
    Summary(),
    Versus(),
    MetricsTables(),
    Relations(),
    Probabilities(),
    PredictionSets(),
    Trust(),
    Uncertainty(),
    Densities(),
    Rules(),
    Map(),
    Learning(),
    DataCard(),
    Settings(),
)
"""The sections, in the order of the page."""

RANKING = 0.5
"""The share of the work that ranking takes, as the progress bar has it."""

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<header><h1>$title</h1><p>$about</p></header>
<nav aria-label="Contents"><ul>$contents</ul></nav>
<main>
$sections
</main>
</body>
</html>
""")


@dataclass(frozen=True)
class Report:
    """What was written."""

    subject: Subject
    page: Path
    pictures: tuple[Path, ...]
    sections: tuple[str, ...]


def write_report(
    runs: Sequence[Run],
    out: str | Path,
    split: str = "test",
    entities: Sequence[str] = (),
    progress: Callable[[float], None] = lambda share: None,
    sections: Sequence[Section] = SECTIONS,
) -> Report:
    """One HTML file that needs no other, and its pictures as PNG in ``<name>_files`` beside it.

    Args:
        runs: one or more of the same data; the first is what others are compared with.
        out: the HTML file.
        split: train, valid or test.
        entities: names or labels of at most six entities to show.
        progress: called with the share of the work that is done.
        sections: what it holds.

    Example:
        >>> import kgflow, tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> run = kgflow.train("world", dim=4, epochs=1, out=folder / "run")
        >>> write_report([run], folder / "run.html", sections=[Learning()]).pictures[0].name
        'learning-1.png'
    """
    with picture():
        pass  # without matplotlib there is no report: better now than later
    subject, out = Subject(runs, split, entities), Path(out)
    subject.rank(lambda share: progress(RANKING * share))
    wanted = [section for section in sections if section.wanted(subject)]
    parts: list[list[Piece]] = []
    for done, section in enumerate(wanted, start=1):
        parts.append(_pieces(section, subject))
        progress(RANKING + (1 - RANKING) * done / len(wanted))
    found = [p for pieces in parts for p in pictures(pieces)]
    written = _write_pictures(folder(out), found)
    write_atomic(out, _page(subject, wanted, parts).encode())
    return Report(subject, out, written, tuple(section.id for section in wanted))


def folder(out: Path) -> Path:
    """Where the pictures of a report go."""
    return out.with_name(f"{out.stem}_files")


def _pieces(section: Section, subject: Subject) -> list[Piece]:
    try:
        return list(section.pieces(subject))
    except KgflowError as error:
        return [Note(f"{error}.")]


def _write_pictures(directory: Path, found: Sequence[Picture]) -> tuple[Path, ...]:
    if found:
        directory.mkdir(exist_ok=True)
    paths = tuple(directory / f"{picture.name}.png" for picture in found)
    for path, one in zip(paths, found, strict=True):
        write_atomic(path, one.png)
    return paths


def _page(subject: Subject, wanted: Sequence[Section], parts: Sequence[Sequence[Piece]]) -> str:
    contents = (tag("li", tag("a", escape(s.title), href=f"#{s.id}")) for s in wanted)
    sections = (
        tag("section", f"{_heading(s)}\n" + "\n".join(p.html() for p in pieces), **_named(s))
        for s, pieces in zip(wanted, parts, strict=True)
    )
    date = datetime.now(UTC).date().isoformat()
    return PAGE.substitute(
        title=escape(_title(subject)),
        about=escape(f"Made by kgflow {version('kgflow')} on {date}."),
        style=Path(__file__).with_name("style.css").read_text(encoding="utf-8"),
        contents="".join(contents),
        sections="\n".join(sections),
    )


def _title(subject: Subject) -> str:
    models = dict.fromkeys(run.config.model.name for run in subject.runs)
    return f"{', '.join(models)} on {subject.data.name}"


def _heading(section: Section) -> str:
    return tag("h2", escape(section.title), id=f"{section.id}-title")


def _named(section: Section) -> dict[str, str]:
    return {"id": section.id, "aria-labelledby": f"{section.id}-title"}
