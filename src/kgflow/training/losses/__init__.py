"""Losses: 1-vs-all, KvsAll, softmax, sampled softmax, margin ranking, self-adversarial."""
