"""Nearest-neighbour search over the keys of a model: exact, or by an index of faiss."""
