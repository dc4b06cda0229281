"""Style of all plots, and export of figures."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgflow.errors import KgflowError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Safe for colour blindness (Okabe and Ito); dashes and markers differ as well.
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
    # Names in the data may contain $.
    "text.parse_math": False,
}


@contextmanager
def new_figure(width: float = 5, height: float = 3.6) -> Iterator["Figure"]:
    """Create an empty figure (size in inches); draw and save it inside the `with` block."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise KgflowError("plots need matplotlib: pip install 'kgflow[plot]'") from None
    with mpl.rc_context(STYLE):
        yield Figure(figsize=(width, height))


def save_figure(figure: "Figure", path: Path) -> Path:
    """Write a figure; the file extension determines the format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    return path


def to_svg(figure: "Figure") -> str:
    """Return a figure as an SVG element for HTML; the same figure gives the same text."""
    import matplotlib as mpl

    buffer = StringIO()
    with mpl.rc_context({"svg.hashsalt": "kgflow", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
