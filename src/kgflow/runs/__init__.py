"""A run on disk, and what it can do: evaluate, predict, discover, calibrate, be combined."""
