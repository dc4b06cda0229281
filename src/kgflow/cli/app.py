"""The program `kgflow`, and how its commands end."""

import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from kgflow.cli import data, discover, evaluate, models, predict, train
from kgflow.errors import KgflowError

app = typer.Typer(
    name="kgflow",
    help="Knowledge graph embedding by normalizing flows: the missing facts, ranked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("predict")(predict.predict)
app.command("discover")(discover.discover)
app.command("models")(models.models)
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
) -> None:
    pass


def main() -> None:
    """Run the program: exit with 0, 1 (failed), 2 (bad usage or input) or 130 (interrupted)."""
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
    if isinstance(error, FloatingPointError | MemoryError):
        return _complain(str(error) or "out of memory: try a smaller --dim or --batch-size", 1)
    if isinstance(error, PermissionError | IsADirectoryError | NotADirectoryError):
        return _complain(f"{error.filename}: {error.strerror}", 2)
    message = getattr(error, "format_message", None)
    if message is None:
        raise error
    return _complain(message(), 2)


def _complain(sentence: str, code: int) -> int:
    print(f"kgflow: {sentence}", file=sys.stderr)
    return code
