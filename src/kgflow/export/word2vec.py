"""The text format of word2vec."""

import re
from pathlib import Path

from kgflow.export.format import FileFormat, keys
from kgflow.runs.run import Run


class Word2Vec(FileFormat):
    """A line "entities width", then one of name and numbers for each entity.

    Numbers have nine digits, which give the same float32 again.
    """

    name = "word2vec"
    about = "text, a line of key vector for each entity"

    def fill(self, run: Run, file: Path) -> None:
        """Block by block."""
        entities = iter(run.data.entities)
        with file.open("w", encoding="utf-8", newline="\n") as out:
            for place, block in enumerate(keys(run)):
                if not place:
                    out.write(f"{len(run.data.entities)} {block.shape[1]}\n")
                for row in block:
                    numbers = " ".join(f"{x:.9g}" for x in row.tolist())
                    out.write(f"{escape(next(entities))} {numbers}\n")


def escape(name: str) -> str:
    """A name without white space, which would end it: percent-encoded, as in addresses.

    Example:
        >>> escape("New York"), escape("50%")
        ('New%20York', '50%25')
    """
    return re.sub(r"[\s%\x00-\x1f]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), name)
