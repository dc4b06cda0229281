"""TensorBoard's embedding projector."""

import re
from pathlib import Path

from kgflow.export.format import FolderFormat, keys
from kgflow.runs.run import Run

CONFIG = """embeddings {
  tensor_name: "entities"
  tensor_path: "tensors.tsv"
  metadata_path: "metadata.tsv"
}
"""


class Projector(FolderFormat):
    """tensors.tsv, metadata.tsv and projector_config.pbtxt, for ``tensorboard --logdir``."""

    name = "projector"
    about = "key vectors for TensorBoard's projector"

    def fill(self, run: Run, folder: Path) -> None:
        """Vectors in one file; name, label and types of each in another."""
        data = run.data
        with (folder / "tensors.tsv").open("w", encoding="utf-8", newline="\n") as out:
            for block in keys(run):
                out.writelines("\t".join(f"{x:.9g}" for x in row) + "\n" for row in block.tolist())
        with (folder / "metadata.tsv").open("w", encoding="utf-8", newline="\n") as out:
            out.write("name\tlabel\ttypes\n")
            for i, name in enumerate(data.entities):
                cells = (name, data.label(i), ", ".join(data.types.get(name, ())))
                out.write("\t".join(map(_cell, cells)) + "\n")
        (folder / "projector_config.pbtxt").write_text(CONFIG)


def _cell(text: str) -> str:
    # The projector knows no way to write a tab or a line's end.
    return re.sub(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", " ", text)
