"""kgflow reproduce uncertainty: many studies on one page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgflow.cli.output import say, show_json

if TYPE_CHECKING:
    from kgflow.insight import Study


def show_studies(runs: Mapping[str, Path], page: Path | None, json: bool) -> None:
    """Study runs, by the command that trained each, and print what came out or write the page."""
    from kgflow.insight import study, study_page
    from kgflow.run import Run

    studies = []
    for command, directory in runs.items():
        say(f"studying {command}")
        studies.append(study(Run.open(directory)))
    if page is not None:
        _write(page, studies, list(runs))
    if json:
        found = [s.to_dict() | {"command": c} for c, s in zip(runs, studies, strict=True)]
        show_json({"studies": found})
    else:
        print(study_page(studies))


def _write(page: Path, studies: Sequence["Study"], commands: Sequence[str]) -> None:
    from kgflow.insight import study_page
    from kgflow.provenance import provenance
    from kgflow.training import write_atomic

    drawn = page.with_suffix(".png")
    draw(studies, drawn)
    text = "\n".join(
        [
            "# Does uncertainty help?\n",
            "Printed by `kgflow reproduce uncertainty`, which trains what is missing and measures"
            " each run as `kgflow uncertainty RUN --study` does.\n",
            study_page(studies),
            f"\n![MRR of the surest answers, by each signal]({drawn.name})\n",
            "Trained by\n",
            *(f"    {command}" for command in commands),
            f"\n{provenance()}\n",
        ]
    )
    write_atomic(page, text.encode())


def draw(studies: Sequence["Study"], path: Path) -> None:
    """The rejection curves of studies side by side, with one legend."""
    from kgflow.insight.plots import picture, rejection
    from kgflow.insight.plots.style import save

    columns = min(3, len(studies))
    lines = -(-len(studies) // columns)
    with picture(0.5 + 3.6 * columns, 0.7 + 3 * lines) as figure:
        grid = figure.subplots(lines, columns, squeeze=False).flatten()
        for axes, found in zip(grid, studies, strict=False):
            rejection(axes, found)
        for axes in grid[len(studies) :]:
            axes.remove()
        handles = grid[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=4, fontsize=9)
        save(figure, path)
