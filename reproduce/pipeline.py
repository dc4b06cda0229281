"""PyKEEN's `pipeline` with its defaults, for the table of presets.

python -m reproduce.pipeline GRAPH MODEL --seed 0 --out DIRECTORY
"""

import argparse
import logging
from pathlib import Path
from typing import Any

from kgflow.data import Dataset, Triples, load
from kgflow.io import write_atomic
from reproduce.results import Record, provenance
from reproduce.running import RECORD

NAMES = {
    "mrr": "inverse_harmonic_mean_rank",
    "hits@1": "hits_at_1",
    "hits@3": "hits_at_3",
    "hits@10": "hits_at_10",
}


def factories(data: Dataset) -> list[Any]:
    """Return the splits as PyKEEN's factories of triples, with the same ids."""
    import numpy as np
    from pykeen.triples import TriplesFactory

    entities = {name: i for i, name in enumerate(data.entities)}
    relations = {name: i for i, name in enumerate(data.relations)}

    def factory(triples: Triples) -> Any:  # noqa: ANN401
        names = [
            (data.entities[h], data.relations[r], data.entities[t])
            for h, r, t in triples.array().tolist()
        ]
        return TriplesFactory.from_labeled_triples(
            np.array(names), entity_to_id=entities, relation_to_id=relations
        )

    return [factory(data.split(split)) for split in ("train", "valid", "test")]


def main() -> None:
    """Train a model by PyKEEN's pipeline, and store its metrics."""
    words = argparse.ArgumentParser(prog="python -m reproduce.pipeline")
    words.add_argument("graph")
    words.add_argument("model")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--out", type=Path, required=True)
    words.add_argument("--force", action="store_true")
    chosen = words.parse_args()
    logging.disable(logging.WARNING)
    from pykeen.pipeline import pipeline

    train, valid, test = factories(load(chosen.graph))
    found = pipeline(
        training=train,
        validation=valid,
        testing=test,
        model=chosen.model,
        random_seed=chosen.seed,
        training_kwargs={"use_tqdm": False, "use_tqdm_batch": False},
        evaluation_kwargs={"use_tqdm": False},
    )
    values = {name: found.get_metric(f"both.realistic.{key}") for name, key in NAMES.items()}
    record = Record(
        "presets",
        f"{chosen.graph}/pykeen-{chosen.model}",
        chosen.seed,
        {"data": chosen.graph, "model": {"name": chosen.model}},
        {"test": {"realistic": values}},
        [],
        provenance(),
    )
    chosen.out.mkdir(parents=True, exist_ok=True)
    write_atomic(chosen.out / RECORD, record.to_line().encode())


if __name__ == "__main__":
    main()
