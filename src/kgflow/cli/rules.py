"""kgflow rules."""

from pathlib import Path
from typing import Annotated

import typer

from kgflow.cli.options import Device, Json, RunPath
from kgflow.cli.output import check_image_path, frame_rows, print_note, show_json, table

COLUMNS = ("rule", "support", "confidence", "model_confidence", "distance", "agreement")


def rules(
    run: RunPath,
    relation: Annotated[
        str | None, typer.Option(help="Name of a relation that the rules must contain.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Kind of rules: symmetric, antisymmetric, inverse, implication or composition."
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Largest number of rules of each kind.")] = 20,
    include_all: Annotated[
        bool,
        typer.Option(
            "--all", help="Include rules without support, with low confidence, or equivalent ones."
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Plot the first rule of each kind to this PNG, SVG or PDF file."),
    ] = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """List rules that are true in the model or in the graph, with their evidence.

    - support: number of pairs of entities for which the body is true in the facts of all splits
    - confidence: share of these pairs for which the head is true
    - model_confidence: the same for triples that the model classifies as true, from 0 (chance) to
      1 (as for training facts)
    - distance: distance of body and head as functions, from 0 (equal) to 1 (mean of two relations)
    - agreement: where the confidence is at least 0.5: in the model, in the graph, in both

    Example: kgflow rules runs/world --kind inverse
    """
    from kgflow.analysis.rules import find_rules, rules_frame
    from kgflow.cli.progress import progress_bar
    from kgflow.runs.run import Run

    if plot is not None:
        check_image_path(plot)
    opened = Run.open(run, device)
    with progress_bar("rules") as progress:
        found = find_rules(opened, relation, kind, k, include_all, progress)
    if plot is not None:
        from kgflow.analysis.plots import rules_figure

        rules_figure(opened, [evaluated.rule for evaluated in found], plot)
    frame = rules_frame(opened, found)
    if json:
        show_json({"rules": frame.to_dicts()})
        return
    for name, rows in frame.group_by("kind", maintain_order=True):
        table(f"{name[0]} rules", COLUMNS, frame_rows(rows, COLUMNS))
    if not len(frame):
        print_note(
            "note: no such rule is true in the model or in the graph; --all shows all candidates"
        )
