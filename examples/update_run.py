"""
Add a country to a trained run
==============================

New entities get embeddings that are fitted to their facts while all others stay as they are:
seconds instead of a training. `run.update` writes another run; the old one is unchanged.
"""

import kgflow

run = kgflow.open("runs/world")
updated = run.update(
    [
        ("Avalon", "borders", "France"),
        ("Avalon", "borders", "Belgium"),
        ("Avalon", "has_currency", "Euro"),
        ("France", "borders", "Spain"),
    ],
    "runs/world-and-avalon",
    force=True,
)
(record,) = updated.updates.updates
print(f"{record.facts} facts added, {record.known} known already")

# %%
# What it probably borders as well, and how certain its embedding is with three facts.

updated.predict(head="Avalon", relation="borders", k=5, new=True).select(
    "answer", "score", "probability", "certainty", "note"
)
