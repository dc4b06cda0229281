"""A run on disk, and what it can do: evaluate, predict, discover, calibrate, build an ensemble."""
