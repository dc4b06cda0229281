"""Names found by their beginning, and in spite of typing errors."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SIMILAR = 0.4
"""The share of a query's trigrams that a name must have."""
MANY = 100
"""Similar names that are worth showing."""
LONGEST = 200
"""Letters of a name or a query that are compared."""
PRIME = np.uint32(1_000_003)

Ids = NDArray[np.int64]
Codes = NDArray[np.uint32]
"""Trigrams as numbers; two that share one by chance do little harm."""


class Names:
    """Names and labels of entities, to be searched.

    Upper and lower case are alike. Names that begin as the query are found by bisection, similar
    ones by the trigrams they share: all trigrams of all names, sorted, in two arrays.

    Args:
        names: by id.
        labels: by id; the same as the name where there is none.

    Example:
        >>> names = Names(["Q142", "Q419", "Q298"], ["France", "Peru", "Chile"])
        >>> names.search("Fra"), names.search("q41"), names.search("Pery"), names.search("zzz")
        ([0], [1], [1], [])
    """

    def __init__(self, names: Sequence[str], labels: Sequence[str]) -> None:
        texts = [(fold(name), i) for i, name in enumerate(names)]
        pairs = enumerate(zip(names, labels, strict=True))
        texts += [(fold(label), i) for i, (name, label) in pairs if label != name]
        texts.sort()
        self.texts = [text for text, _ in texts]
        self.ids: Ids = np.array([i for _, i in texts], dtype=np.int64)
        codes, owners = trigrams(self.texts)
        order = np.argsort(codes)
        self._codes, self._owners = codes[order], owners[order]
        self._sizes = np.bincount(owners, minlength=len(texts))

    def search(self, query: str) -> list[int]:
        """Ids: names that begin with the query, in order, then similar ones, best first."""
        text = fold(query)
        low = bisect_left(self.texts, text)
        high = bisect_right(self.texts, text, low, key=lambda name: name[: len(text)])
        return list(dict.fromkeys([*self.ids[low:high].tolist(), *self._similar(text).tolist()]))

    def _similar(self, text: str) -> Ids:
        wanted = np.unique(trigrams([text])[0])
        starts = np.searchsorted(self._codes, wanted, side="left")
        ends = np.searchsorted(self._codes, wanted, side="right")
        owners = [self._owners[a:b] for a, b in zip(starts, ends, strict=True)]
        shared = np.bincount(np.concatenate(owners), minlength=len(self.texts))
        near = np.flatnonzero(shared >= max(1.0, SIMILAR * len(wanted)))
        # Dice's coefficient: what is shared, out of what either has.
        share = 2 * shared[near] / (len(wanted) + self._sizes[near])
        return self.ids[near[np.argsort(-share, kind="stable")[:MANY]]]


def fold(text: str) -> str:
    """What is compared of a name."""
    return text[:LONGEST].casefold()


def trigrams(texts: Sequence[str]) -> tuple[Codes, NDArray[np.int32]]:
    """The trigrams of texts, each with two spaces before and one after: code, and which text.

    Example:
        >>> codes, owners = trigrams(["ab", "abc"])
        >>> owners.tolist()  # "  a", " ab", "ab " and "  a", " ab", "abc", "bc "
        [0, 0, 0, 1, 1, 1, 1]
        >>> bool(codes[0] == codes[3])
        True
    """
    padded = "".join(f"  {text} " for text in texts)
    letters = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    lengths = np.array([len(text) + 3 for text in texts], dtype=np.int64)
    owners = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
    codes = (letters[:-2] * PRIME + letters[1:-1]) * PRIME + letters[2:]
    inside = owners[:-2] == owners[2:]
    return codes[inside], owners[:-2][inside]
