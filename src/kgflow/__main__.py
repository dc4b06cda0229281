"""The program `kgflow`, or `python -m kgflow`, and its exit codes."""

import io
import os
import sys

from kgflow.cli.app import app
from kgflow.errors import KgflowError


def main() -> None:
    """Run the program: exit with 0, 1 (failed), 2 (bad usage or input) or 130 (interrupted)."""
    for stream in (sys.stdout, sys.stderr):
        # Names are Unicode, whatever the locale of the terminal.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(run())


def run() -> int:
    """Run the command of `sys.argv` and return its exit code; errors are printed to stderr."""
    try:
        return app(standalone_mode=False) or 0
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        # The reader went away (`| head`): not an error, and nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KgflowError as error:
        return _fail(str(error), error.exit_code)
    except FloatingPointError as error:
        return _fail(str(error), 1)
    except Exception as error:
        return _report(error)


def _report(error: Exception) -> int:
    if isinstance(error, MemoryError) or _out_of_memory(error):
        return _fail("out of memory: try a smaller --dim or --batch-size", 1)
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename else ""
        return _fail(f"{named}{error.strerror.lower()}", 2)
    message = getattr(error, "format_message", None)  # of click's errors of usage
    if message is None:
        raise error
    return _fail(message(), 2)


def _out_of_memory(error: Exception) -> bool:
    # The allocators of torch raise a RuntimeError.
    words = ("out of memory", "can't allocate", "not enough memory")
    return isinstance(error, RuntimeError) and any(word in str(error).lower() for word in words)


def _fail(sentence: str, code: int) -> int:
    print(f"kgflow: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
