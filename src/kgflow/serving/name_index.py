"""Search of names by prefix and by trigram similarity."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MIN_SHARED = 0.4
"""Smallest fraction of the searched trigrams that a similar name contains."""
MAX_SIMILAR = 100
"""Largest number of similar names."""
MAX_LENGTH = 200
"""Number of compared characters."""
PRIME = np.uint32(1_000_003)

Ids = NDArray[np.int64]
Codes = NDArray[np.uint32]
"""Hash codes of trigrams; a rare collision only adds a similar name."""


class NameIndex:
    """Case-insensitive search in the names and labels of entities.

    Names that begin with the searched text are found by bisection, similar names by common
    trigrams: the trigrams of all names, sorted, in two arrays.

    Args:
        names: names in the order of ids.
        labels: labels in the order of ids; the name where there is no label.

    Example:
        >>> index = NameIndex(["Q142", "Q419", "Q298"], ["France", "Peru", "Chile"])
        >>> index.search("Fra"), index.search("q41"), index.search("Pery"), index.search("zzz")
        ([0], [1], [1], [])
    """

    def __init__(self, names: Sequence[str], labels: Sequence[str]) -> None:
        texts = [(normalize(name), i) for i, name in enumerate(names)]
        pairs = enumerate(zip(names, labels, strict=True))
        texts += [(normalize(label), i) for i, (name, label) in pairs if label != name]
        texts.sort()
        self.texts = [text for text, _ in texts]
        self.ids: Ids = np.array([i for _, i in texts], dtype=np.int64)
        codes, owners = trigrams(self.texts)
        order = np.argsort(codes)
        self._codes, self._owners = codes[order], owners[order]
        self._sizes = np.bincount(owners, minlength=len(texts))

    def search(self, text: str) -> list[int]:
        """Return the ids of names that begin with a text, then of similar names, best first."""
        text = normalize(text)
        low = bisect_left(self.texts, text)
        high = bisect_right(self.texts, text, low, key=lambda name: name[: len(text)])
        return list(dict.fromkeys([*self.ids[low:high].tolist(), *self._similar(text).tolist()]))

    def _similar(self, text: str) -> Ids:
        wanted = np.unique(trigrams([text])[0])
        starts = np.searchsorted(self._codes, wanted, side="left")
        ends = np.searchsorted(self._codes, wanted, side="right")
        owners = [self._owners[a:b] for a, b in zip(starts, ends, strict=True)]
        shared = np.bincount(np.concatenate(owners), minlength=len(self.texts))
        near = np.flatnonzero(shared >= max(1.0, MIN_SHARED * len(wanted)))
        dice = 2 * shared[near] / (len(wanted) + self._sizes[near])  # Dice coefficient
        return self.ids[near[np.argsort(-dice, kind="stable")[:MAX_SIMILAR]]]


def normalize(text: str) -> str:
    """Return the case-folded beginning of a text, which is compared."""
    return text[:MAX_LENGTH].casefold()


def trigrams(texts: Sequence[str]) -> tuple[Codes, NDArray[np.int32]]:
    """Return the trigrams of texts, padded with two spaces before and one after.

    Returns:
        Hash code and text number of each trigram.

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
