"""Nearest-neighbour search over the key vectors of a model: exact, or approximate with faiss."""
