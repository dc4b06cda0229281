"""
Explain a prediction
====================

Why does the model believe that Portugal borders Spain? The rules that imply it, and the training
triples most similar to it.
"""

import kgflow
from kgflow.analysis import explain

run = kgflow.open("runs/world")
for reason in explain(run, "Portugal", "borders", "Spain", n=4):
    print("•", reason.text)
