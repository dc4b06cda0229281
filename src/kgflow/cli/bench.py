"""kgflow bench."""

import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from kgflow.cli.output import Json
from kgflow.errors import KgflowError

SCRIPT = Path("benchmarks/bench.py")


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="FB15k-237 at n=256 only.")] = False,
    out: Annotated[Path, typer.Option(help="Where page and picture go.")] = Path("docs/benchmarks"),
    json: Json = False,
) -> None:
    """Measure kgflow against a plain program, PyKEEN and the bare matrix product.

    Example: kgflow bench --quick
    """
    if not SCRIPT.exists():
        raise KgflowError(f"{SCRIPT} is not here: run this in a checkout of kgflow")
    sys.argv = [str(SCRIPT), "--out", str(out), *["--quick"] * quick, *["--json"] * json]
    sys.path.insert(0, str(SCRIPT.parent.absolute()))
    runpy.run_path(str(SCRIPT), run_name="__main__")
