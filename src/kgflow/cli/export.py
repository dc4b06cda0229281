"""kgflow export."""

from typing import Annotated

import typer

from kgflow.cli.options import Device, Json, RunPath, parse_setting
from kgflow.cli.output import show_json, table


def _print_formats(wanted: bool) -> None:
    if wanted:
        from kgflow.export import FORMATS

        rows = [[n, f.summary, ", ".join(f.model_fields)] for n, f in sorted(FORMATS.items())]
        table("export formats", ("format", "contents", "options"), rows)
        raise typer.Exit


def export(
    run: RunPath,
    format: Annotated[  # noqa: A002
        str,
        typer.Option(
            "--format", "--to", help="Name of the export format, such as npz; --formats lists all."
        ),
    ],
    out: Annotated[
        str,
        typer.Option(help="File or directory to write, or address of a SPARQL endpoint."),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE",
            help="Option of the format, such as k=500 for ntriples (repeatable).",
        ),
    ] = None,
    _: Annotated[
        bool,
        typer.Option(
            "--formats", callback=_print_formats, is_eager=True, help="List the export formats."
        ),
    ] = False,
    device: Device = "cpu",
    json: Json = False,
) -> None:  # fmt: skip
    """Export embeddings, key vectors, predicted triples or the whole run for other programs.

    Example: kgflow export runs/world --format projector --out world-vectors
    """
    from kgflow.export import make_format
    from kgflow.runs.run import Run

    chosen = make_format(format, **dict(map(parse_setting, settings or ())))
    path = chosen.write(Run.open(run, device), out)
    if json:
        show_json({"format": format, "path": path})
    else:
        print(f"wrote {path}: {chosen.summary}")
