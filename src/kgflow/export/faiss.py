"""Export to a faiss index."""

import json
from pathlib import Path

from kgflow.errors import KgflowError
from kgflow.export.base import DirectoryFormat
from kgflow.runs.run import Run
from kgflow.search.index import INDEX_METHODS, Index, require_faiss
from kgflow.search.transform import DistanceTransform

SAME_KEYS = (
    "Without kgflow, `index.reconstruct(i)` returns the vector of entity i, with which similar"
    " entities are found.\n"
)
OTHER_KEYS = (
    "These vectors are for answering queries; to find similar entities, use the vectors of"
    " `kgflow export --format npz`.\n"
)


class FaissIndex(DirectoryFormat):
    """index.faiss (flat), names.json, and a README.md with an example query."""

    name, summary = "faiss", "flat faiss index of all entities, with their names"

    def fill(self, run: Run, path: Path) -> None:
        if run.model.interaction is not None:
            raise KgflowError(
                f"{run.config.model.name} is not an inner-product model: it cannot be indexed"
            )
        index = Index.build(run.predictor.entities, INDEX_METHODS["flat"])
        require_faiss().write_index(index.faiss_index, str(path / "index.faiss"))
        names = json.dumps(list(run.data.entities), ensure_ascii=False)
        (path / "names.json").write_text(names, encoding="utf-8")
        (path / "README.md").write_text(_readme(run, index), encoding="utf-8")


def _readme(run: Run, index: Index) -> str:
    by_distance = isinstance(index.transform, DistanceTransform)
    scaled = f"(Q / {2 * index.transform.parameter:.9g})"
    same = run.predictor.embedding_keys is run.predictor.entities
    template = Path(__file__).with_name("faiss_readme.md").read_text(encoding="utf-8")
    return template.format(
        name=run.data.name,
        entities=len(run.data.entities),
        measure=f"{scaled}, by distance" if by_distance else "(Q, 1), by inner product",
        head=run.data.entities[0],
        relation=run.data.relations[0],
        similarity=SAME_KEYS if same else OTHER_KEYS,
        vector=scaled if by_distance else "torch.cat([Q, torch.ones(1, 1)], dim=1)",
    )
