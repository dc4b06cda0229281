"""Exception of kgflow, suggestions for misspelt names, and imports of optional packages."""

import difflib
from collections.abc import Iterable
from importlib import import_module
from typing import Any


class KgflowError(Exception):
    """Error that a user can correct, with a message of one sentence.

    The command line prints the message and exits with `exit_code`.

    Example:
        >>> raise KgflowError("dimension 0 is too small: give --dim 1 or more")
        Traceback (most recent call last):
        kgflow.errors.KgflowError: dimension 0 is too small: give --dim 1 or more
    """

    exit_code = 2


def suggest(name: str, known: Iterable[str], count: int = 3) -> str:
    """Return the names most similar to a misspelt one as the end of a sentence, or an empty text.

    Example:
        >>> suggest("Frence", ["France", "Greece", "Peru"], count=1)
        '; did you mean France?'
        >>> suggest("zzz", ["France"])
        ''
    """
    lowered = {k.lower(): k for k in reversed(list(known))}
    near = difflib.get_close_matches(name.lower(), lowered, n=count, cutoff=0.6)
    return f"; did you mean {', '.join(lowered[k] for k in near)}?" if near else ""


def require(module: str, purpose: str, extra: str) -> Any:  # noqa: ANN401
    """Import an optional module, or raise an error that names the extra to install.

    Example:
        >>> require("no_such_module", "an index", "ann")
        Traceback (most recent call last):
        kgflow.errors.KgflowError: an index needs no_such_module: install kgflow[ann]
    """
    try:
        return import_module(module)
    except ImportError:
        raise KgflowError(f"{purpose} needs {module}: install kgflow[{extra}]") from None
