"""Write a report as one HTML page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template

from kgflow.analysis.plots.style import new_figure
from kgflow.analysis.report.content import Content, Plot, all_plots, tag
from kgflow.analysis.report.section import (
    ReportContext,
    Section,
    contents_or_reason,
    registered_sections,
)
from kgflow.evaluation import Progress, no_progress
from kgflow.io import write_atomic
from kgflow.runs.run import Run

EVALUATION_SHARE = 0.5
"""Share of the progress bar for the evaluation of the runs."""


@dataclass(frozen=True)
class Report:
    """Written report: its context, files and section ids."""

    context: ReportContext
    page: Path
    plots: tuple[Path, ...]
    sections: tuple[str, ...]


def write_report(
    runs: Sequence[Run],
    out: str | Path,
    split: str = "test",
    entities: Sequence[str] = (),
    progress: Progress = no_progress,
    sections: Sequence[Section] | None = None,
) -> Report:
    """Write a self-contained HTML page, and its plots as PNG in the folder ``<name>_files``.

    Args:
        runs: one or more runs on the same data; the others are compared with the first.
        out: HTML file.
        split: train, valid or test.
        entities: names or labels of at most six entities to show.
        progress: callback that receives the completed fraction.
        sections: sections of the report; all registered ones by default.

    Example:
        >>> import kgflow, tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> run = kgflow.train("world", dim=4, epochs=1, out=folder / "run")
        >>> from kgflow.analysis.report.sections.settings import LearningCurve
        >>> write_report([run], folder / "run.html", sections=[LearningCurve()]).plots[0].name
        'learning-curve-1.png'
    """
    with new_figure():
        pass  # fails early without matplotlib
    context, out = ReportContext(runs, split, entities), Path(out)
    context.evaluate(lambda share: progress(EVALUATION_SHARE * share))
    chosen = registered_sections() if sections is None else sections
    chosen = [section for section in chosen if section.applies_to(context)]
    contents: list[list[Content]] = []
    for done, section in enumerate(chosen, start=1):
        contents.append(contents_or_reason(section.contents, context))
        progress(EVALUATION_SHARE + (1 - EVALUATION_SHARE) * done / len(chosen))
    plots = _write_plots(plot_folder(out), [p for part in contents for p in all_plots(part)])
    write_atomic(out, _page(context, chosen, contents).encode())
    return Report(context, out, plots, tuple(section.id for section in chosen))


def plot_folder(out: Path) -> Path:
    """Return the folder of a report's plots."""
    return out.with_name(f"{out.stem}_files")


def _write_plots(directory: Path, plots: Sequence[Plot]) -> tuple[Path, ...]:
    if plots:
        directory.mkdir(exist_ok=True)
    paths = tuple(directory / f"{plot.name}.png" for plot in plots)
    for path, plot in zip(paths, plots, strict=True):
        write_atomic(path, plot.png)
    return paths


def _page(
    context: ReportContext, sections: Sequence[Section], contents: Sequence[Sequence[Content]]
) -> str:
    links = (tag("li", tag("a", escape(s.title), href=f"#{s.id}")) for s in sections)
    parts = (_section(s, part) for s, part in zip(sections, contents, strict=True))
    date = datetime.now(UTC).date().isoformat()
    models = dict.fromkeys(run.config.model.name for run in context.runs)
    template, style = (_file(name) for name in ("page.html", "style.css"))
    return Template(template).substitute(
        title=escape(f"{', '.join(models)} on {context.data.name}"),
        about=escape(f"Report of kgflow {version('kgflow')}, {date}."),
        style=style,
        contents="".join(links),
        sections="\n".join(parts),
    )


def _section(section: Section, contents: Sequence[Content]) -> str:
    title = f"{section.id}-title"
    parts = [tag("h2", escape(section.title), id=title), *(c.html() for c in contents)]
    return tag("section", "\n".join(parts), id=section.id, **{"aria-labelledby": title})


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
