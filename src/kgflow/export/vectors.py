"""Export formats of embeddings and key vectors: npz, Parquet, word2vec, TensorBoard projector."""

import re
from pathlib import Path

import numpy as np

from kgflow.export.base import (
    DirectoryFormat,
    FileFormat,
    embedding_names,
    embeddings,
    key_vectors,
)
from kgflow.runs.run import Run

PROJECTOR_CONFIG = """embeddings {
  tensor_name: "entities"
  tensor_path: "tensors.tsv"
  metadata_path: "metadata.tsv"
}
"""


class Npz(FileFormat):
    """One .npz file without pickle: entity.names, relation.names, entity.mu and so on."""

    name, summary = "npz", "embeddings as NumPy arrays"

    def fill(self, run: Run, path: Path) -> None:
        kinds = ("entity", "relation")
        names = {f"{kind}.names": np.array(embedding_names(run, kind)) for kind in kinds}
        arrays = {
            f"{kind}.{part}": x for kind in kinds for part, x in embeddings(run, kind).items()
        }
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **names, **arrays)


class Parquet(DirectoryFormat):
    """entities.parquet and relations.parquet: names, labels, types, a column for each part."""

    name, summary = "parquet", "tables of entities and relations with their embeddings"

    def fill(self, run: Run, path: Path) -> None:
        import polars as pl

        data = run.data
        entities = pl.DataFrame(
            {
                "name": embedding_names(run, "entity"),
                "label": [data.label(i) for i in range(len(data.entities))],
                "types": [list(data.types.get(name, ())) for name in data.entities],
            },
            schema={"name": pl.String, "label": pl.String, "types": pl.List(pl.String)},
        )
        names = {"name": embedding_names(run, "relation")}
        relations = pl.DataFrame(names, schema={"name": pl.String})
        for kind, frame in (("entity", entities), ("relation", relations)):
            columns = [pl.Series(part, x) for part, x in embeddings(run, kind).items()]
            file = "entities.parquet" if kind == "entity" else "relations.parquet"
            frame.with_columns(columns).write_parquet(path / file)


class Word2Vec(FileFormat):
    """The text format of word2vec: a line "count width", then a line "name vector" per entity.

    Nine significant digits are enough to restore the same float32.
    """

    name, summary = "word2vec", "key vectors of entities as text"

    def fill(self, run: Run, path: Path) -> None:
        entities = iter(run.data.entities)
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for i, block in enumerate(key_vectors(run)):
                if i == 0:
                    file.write(f"{len(run.data.entities)} {block.shape[1]}\n")
                for vector in block.tolist():
                    cells = " ".join(f"{x:.9g}" for x in vector)
                    file.write(f"{escape_name(next(entities))} {cells}\n")


class Projector(DirectoryFormat):
    """tensors.tsv, metadata.tsv and projector_config.pbtxt, for ``tensorboard --logdir``."""

    name, summary = "projector", "key vectors of entities for the TensorBoard embedding projector"

    def fill(self, run: Run, path: Path) -> None:
        data = run.data
        with (path / "tensors.tsv").open("w", encoding="utf-8", newline="\n") as file:
            for block in key_vectors(run):
                file.writelines("\t".join(f"{x:.9g}" for x in v) + "\n" for v in block.tolist())
        with (path / "metadata.tsv").open("w", encoding="utf-8", newline="\n") as file:
            file.write("name\tlabel\ttypes\n")
            for i, name in enumerate(data.entities):
                cells = (name, data.label(i), ", ".join(data.types.get(name, ())))
                file.write("\t".join(map(_replace_separators, cells)) + "\n")
        (path / "projector_config.pbtxt").write_text(PROJECTOR_CONFIG)


def escape_name(name: str) -> str:
    """Percent-encode the white space of a name, since a space ends the name in word2vec.

    Example:
        >>> escape_name("New York"), escape_name("50%")
        ('New%20York', '50%25')
    """
    return re.sub(r"[\s%\x00-\x1f]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), name)


def _replace_separators(text: str) -> str:
    # The projector has no escape sequence for tabs and line breaks.
    return re.sub(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", " ", text)
