"""kgflow rules."""

from pathlib import Path
from typing import Annotated

import typer

from kgflow.cli.output import (
    Device,
    Json,
    RunPath,
    check_image_path,
    frame_rows,
    print_note,
    show_json,
    table,
)

SHOWN = ("rule", "belief", "distance", "support", "confidence", "verdict")


def rules(
    run: RunPath,
    relation: Annotated[str | None, typer.Option(help="Only rules with this relation.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="Only symmetric, antisymmetric, inverse, implication or composition."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Rules of each kind.")] = 20,
    everything: Annotated[
        bool, typer.Option("--all", help="Also rules without a case, and other words for others.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the best rule of each kind here: PNG, SVG or PDF.")
    ] = None,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """The rules that the model believes, beside what the graph holds.

    belief: how often the model accepts what follows, from 0, as often as by chance, to 1, as often
    as facts. distance: how far apart a rule's two sides are as functions, from 0, the same, to 1,
    as far as any two relations. support and confidence: the rule's cases in the facts of all
    splits, and the share of them that holds.

    Example: kgflow rules runs/world --kind inverse
    """
    from kgflow.analysis.rules import beliefs, rules_frame
    from kgflow.cli.progress import progress_bar
    from kgflow.runs.run import Run

    if picture is not None:
        check_image_path(picture)
    opened = Run.open(run, device)
    with progress_bar("rules") as progress:
        believed = beliefs(opened, relation, kind, k, everything, progress)
    if picture is not None:
        from kgflow.analysis.plots import rules_picture

        rules_picture(opened, [belief.rule for belief in believed], picture)
    found = rules_frame(opened, believed)
    if json:
        show_json({"rules": found.to_dicts()})
        return
    for name, rows in found.group_by("kind", maintain_order=True):
        table(str(name[0]), SHOWN, frame_rows(rows, SHOWN))
    if not len(found):
        print_note(
            "note: neither the model nor the graph is for any such rule; --all shows the rest"
        )
