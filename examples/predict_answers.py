"""
Predict answers to a query
==========================

The best answers to (Peru, has_currency, ?), with their probabilities. `known` marks facts of the
graph; `new=True` leaves them out.
"""

import kgflow

run = kgflow.open("runs/world")
columns = ("answer", "score", "probability", "certainty", "known")
run.predict(head="Peru", relation="has_currency", k=5).select(columns)

# %%
# Heads, and relations between two entities, are queries as well.

run.predict(relation="capital_of", tail="Kenya", k=5).select(columns)

# %%

run.predict(head="Portugal", tail="Spain", k=5).select(columns)
