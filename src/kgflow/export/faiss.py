"""A folder for faiss."""

import json
from pathlib import Path

from kgflow.errors import KgflowError
from kgflow.export.format import FolderFormat
from kgflow.runs.run import Run
from kgflow.search.index import Index, require_faiss
from kgflow.search.method import METHODS
from kgflow.search.space import Distance

README = """# {name}: an index of {entities:,} entities

`index.faiss` holds a vector for each entity, in the order of `names.json`. The best answers to
(head, relation, ?) are the nearest to a query vector {measure}.

```python
import json, faiss, kgflow, torch

index, names = faiss.read_index("index.faiss"), json.load(open("names.json"))
run = kgflow.open("RUN")
h, r = run.data.entity_id({head!r}), run.data.relations.id({relation!r})
Q = run.model.query(torch.tensor([h]), torch.tensor([r])).Q.detach()
_, ids = index.search({vector}.numpy(), 10)
print([names[i] for i in ids[0]])
```

{alone}"""

ALONE = (
    "Without kgflow, `index.reconstruct(i)` is the vector of entity i, to look for entities like"
    " it.\n"
)
ANSWERS = "These vectors are for answers; the export to npz has those to look for entities alike.\n"


class FaissFolder(FolderFormat):
    """index.faiss (flat), names.json, and a README on how to ask it."""

    name = "faiss"
    about = "a flat faiss index of all entities, with names"

    def fill(self, run: Run, folder: Path) -> None:
        """The index of the model's own keys."""
        if run.model.interaction is not None:
            raise KgflowError(f"{run.config.model.name} is no matrix product to index")
        index = Index.build(run.predictor.entities, METHODS["flat"])
        require_faiss().write_index(index.found, str(folder / "index.faiss"))
        names = json.dumps(list(run.data.entities), ensure_ascii=False)
        (folder / "names.json").write_text(names, encoding="utf-8")
        (folder / "README.md").write_text(_read_me(run, index), encoding="utf-8")


def _read_me(run: Run, index: Index) -> str:
    distance = isinstance(index.space, Distance)
    scale = f"(Q / {2 * index.space.number:.9g})"
    return README.format(
        name=run.data.name,
        entities=len(run.data.entities),
        measure=f"{scale}, by distance" if distance else "(Q, 1), by inner product",
        head=run.data.entities[0],
        relation=run.data.relations[0],
        alone=ALONE if run.predictor.embedding_keys is run.predictor.entities else ANSWERS,
        vector=scale if distance else "torch.cat([Q, torch.ones(1, 1)], dim=1)",
    )
