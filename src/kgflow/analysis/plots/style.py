"""How all pictures look, and how they become files."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Readable in grey and by the colour-blind (Okabe and Ito), told apart by dashes and markers too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1)), ":")
STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "savefig.dpi": 160,
    "figure.constrained_layout.use": True,
    # Names of the data are no formulas, whatever signs they hold.
    "text.parse_math": False,
}


@contextmanager
def picture(width: float = 5, height: float = 3.6) -> Iterator["Figure"]:
    """An empty figure (inches) in the style of the house; draw and save it inside the `with`."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise KgflowError("pictures need matplotlib: pip install 'kgflow[plot]'") from None
    with mpl.rc_context(STYLE):
        yield Figure(figsize=(width, height))


def save(figure: "Figure", path: Path) -> Path:
    """Write a picture; the file's ending says what kind it becomes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    return path


def svg(figure: "Figure") -> str:
    """A picture as text that HTML can hold; the same figure gives the same text."""
    import matplotlib as mpl

    text = StringIO()
    with mpl.rc_context({"svg.hashsalt": "kgflow", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    found = text.getvalue()
    return found[found.index("<svg") :]
