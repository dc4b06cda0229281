"""The program `kgflow`, and how its commands end."""

import io
import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer
from typer.core import TyperGroup

from kgflow.cli import (
    calibrate,
    data,
    discover,
    ensemble,
    evaluate,
    export,
    models,
    predict,
    report,
    rules,
    serve,
    settings,
    train,
    tune,
    uncertainty,
)
from kgflow.errors import KgflowError


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
    help="Knowledge graph embedding by normalizing flows: the missing facts, ranked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("train", cls=train.TrainCommand)(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("predict")(predict.predict)
app.command("discover")(discover.discover)
app.command("ensemble")(ensemble.ensemble)
app.command("calibrate")(calibrate.calibrate)
app.command("uncertainty")(uncertainty.uncertainty)
app.command("rules")(rules.rules)
app.command("report")(report.report)
app.command("serve")(serve.serve)
app.command("export")(export.export)
app.command("tune")(tune.tune)
app.command("models")(models.models)
app.command("settings")(settings.settings)
app.add_typer(data.app, name="data")


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
            help="Python file, or installed plugin, with more models, losses, …; repeatable.",
        ),
    ] = None,
) -> None:
    if plugin:
        from kgflow.runs.plugins import load_plugin

        for source in plugin:
            load_plugin(source)


def main() -> None:
    """Run the program: exit with 0, 1 (failed), 2 (bad usage or input) or 130 (interrupted)."""
    for stream in (sys.stdout, sys.stderr):
        # Names are Unicode whatever the terminal's locale says.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(_run())


def _run() -> int:
    try:
        return app(standalone_mode=False) or 0
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except BrokenPipeError:
        # The reader went away (`| head`): not an error, and nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return _judge(error)


def _judge(error: Exception) -> int:
    if isinstance(error, KgflowError):
        return _complain(str(error), error.exit_code)
    if isinstance(error, FloatingPointError):
        return _complain(str(error), 1)
    if isinstance(error, MemoryError) or _out_of_memory(error):
        return _complain("out of memory: try a smaller --dim or --batch-size", 1)
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename else ""
        return _complain(f"{named}{error.strerror.lower()}", 2)
    message = getattr(error, "format_message", None)
    if message is None:
        raise error
    return _complain(message(), 2)


def _out_of_memory(error: Exception) -> bool:
    # torch's allocators raise RuntimeError with words of their own.
    words = ("out of memory", "can't allocate", "not enough memory")
    return isinstance(error, RuntimeError) and any(word in str(error).lower() for word in words)


def _complain(sentence: str, code: int) -> int:
    print(f"kgflow: {sentence}", file=sys.stderr)
    return code
