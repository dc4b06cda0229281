"""Lists of missing facts for people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

MIN_SYMMETRY = 0.5
"""Share of training facts with a reverse from which a relation counts as symmetric."""


def without_reverse(found: "pl.DataFrame", symmetry: Mapping[str, float]) -> "pl.DataFrame":
    """Leave out triples of symmetric relations whose reverse is in a row above.

    Args:
        found: Table with the columns head, relation and tail.
        symmetry: Share of the facts of each relation that have a reverse.

    Example:
        >>> import polars as pl
        >>> rows = [("Mali", "borders", "Togo"), ("Togo", "borders", "Mali")]
        >>> found = pl.DataFrame(rows, schema=["head", "relation", "tail"], orient="row")
        >>> len(without_reverse(found, {"borders": 0.9})), len(without_reverse(found, {}))
        (1, 2)
    """
    seen, kept = set[tuple[str, str, str]](), []
    for h, r, t in found.select("head", "relation", "tail").iter_rows():
        kept.append(symmetry.get(r, 0.0) < MIN_SYMMETRY or (t, r, h) not in seen)
        seen.add((h, r, t))
    return found.filter(kept)
