"""Add a country that training did not have to a trained run."""

import tempfile
from pathlib import Path

import kgflow

FACTS = [
    ("Avalon", "borders", "France"),
    ("Avalon", "borders", "Belgium"),
    ("Avalon", "has_currency", "Euro"),
    ("France", "borders", "Spain"),
]


def main() -> None:
    """Train, add four facts, and predict neighbours of the new country."""
    place = Path(tempfile.mkdtemp())
    settings = {"training.batch_size": 1000, "training.optimizer.lr": 0.1}
    run = kgflow.train("world", dim=32, epochs=10, settings=settings, out=place / "world")
    updated = run.update(FACTS, place / "world-2")
    (record,) = updated.updates.updates
    print(f"{record.facts} facts added, {record.known} known already")
    avalon = updated.data.entities.id("Avalon")
    print(f"certainty of Avalon: {updated.predictor.certainty(avalon):.0f} of 100")
    print(updated.predict(head="Avalon", relation="borders", k=5, new=True)["answer"].to_list())


if __name__ == "__main__":
    main()
