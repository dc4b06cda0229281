"""Queries of several hops: their language, trees, probabilities and answers."""
