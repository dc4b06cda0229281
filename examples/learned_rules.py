"""
Read the rules that a model has learned
=======================================

Symmetric, antisymmetric, inverse and composed relations that hold in the parameters of the model,
beside their support and confidence in the graph.
"""

import kgflow
from kgflow.analysis import find_rules, rules_frame

run = kgflow.open("runs/world")
rules_frame(run, find_rules(run, k=3)).select("rule", "model_confidence", "support", "confidence")
