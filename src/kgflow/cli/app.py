"""The commands of the program in groups, and its own options."""

from importlib.metadata import version
from typing import Annotated

import typer
from typer.core import TyperGroup

from kgflow.cli import data
from kgflow.cli.ask import ask
from kgflow.cli.evaluate import evaluate
from kgflow.cli.export import export
from kgflow.cli.lists import models, settings
from kgflow.cli.predict import predict
from kgflow.cli.report import report
from kgflow.cli.rules import rules
from kgflow.cli.runs import calibrate, discover, ensemble
from kgflow.cli.serve import serve
from kgflow.cli.train import TrainCommand, train
from kgflow.cli.tune import tune
from kgflow.cli.uncertainty import uncertainty
from kgflow.cli.update import update


class Program(TyperGroup):
    """The program, whose option --plugin may also stand after the command."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Move every --plugin to the front."""
        plugins: list[str] = []
        others: list[str] = []
        left = list(args)
        while left:
            argument = left.pop(0)
            if argument == "--":
                others += [argument, *left]
                break
            if argument == "--plugin":
                plugins += [argument, *left[:1]]
                del left[:1]
            else:
                (plugins if argument.startswith("--plugin=") else others).append(argument)
        return super().parse_args(ctx, [*plugins, *others])


app = typer.Typer(
    cls=Program,
    name="kgflow",
    help="Embed knowledge graphs by normalizing flows, and predict missing facts.\n\n"
    "Example: kgflow train world --out runs/world",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
TRAIN, USE, INSPECT, DATA = "Train", "Use", "Inspect", "Data"
app.command(cls=TrainCommand, rich_help_panel=TRAIN)(train)
for panel, command in (
    (TRAIN, evaluate),
    (USE, predict),
    (USE, ask),
    (USE, discover),
    (TRAIN, calibrate),
    (TRAIN, ensemble),
    (INSPECT, rules),
    (INSPECT, uncertainty),
    (INSPECT, report),
    (TRAIN, update),
    (USE, serve),
    (USE, export),
    (TRAIN, tune),
    (INSPECT, models),
    (INSPECT, settings),
):
    app.command(rich_help_panel=panel)(command)
app.add_typer(data.app, name="data", rich_help_panel=DATA)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(version("kgflow"))
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_show_version, help="Print the version.")
    ] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.py",
            help="Load additional models, losses, … from a Python file or an installed plugin "
            "(repeatable).",
        ),
    ] = None,
) -> None:
    if plugin:
        from kgflow.runs.plugins import load_plugin

        for source in plugin:
            load_plugin(source)
