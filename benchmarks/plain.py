"""NFE-1 written straight from the paper: every triple a row of scores, autograd, a loop for ranks.

What a careful person writes first. It shares nothing with kgflow but the data it is given.
"""

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus


class NFE1(nn.Module):
    """Eq. 10."""

    def __init__(self, entities, relations, n):
        super().__init__()
        for name, count in (("entity", entities), ("relation", relations)):
            for part in ("mu", "sigma"):
                setattr(self, f"{name}_{part}", nn.Embedding(count, n))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def forward(self, h, r):
        """The scores of all tails, (batch, entities)."""
        scale = self.relation_sigma(r)
        mu = scale * self.entity_mu(h) + self.relation_mu(r)
        sigma = (scale * self.entity_sigma(h)).abs()
        t_mu, t_sigma = self.entity_mu.weight, self.entity_sigma.weight.abs()
        return -squared_distances(mu, t_mu) - squared_distances(sigma, t_sigma)


def squared_distances(x, y):
    """|x|² - 2xy + |y|² of every row of x and every row of y, (batch, entities)."""
    return (x**2).sum(1, keepdim=True) - 2 * x @ y.T + (y**2).sum(1)


def batches(triples, relations, size, seed):
    """Shuffled batches of all triples and their inverse_relations."""
    turned = triples[:, [2, 1, 0]] + np.array([0, relations, 0])
    both = torch.from_numpy(np.concatenate([triples, turned]))
    order = torch.randperm(len(both), generator=torch.Generator().manual_seed(seed))
    return both[order].split(size)


def step(model, optimizer, batch, margin):
    """One step on one batch."""
    logits = margin + model(batch[:, 0], batch[:, 1])
    sign = -torch.ones_like(logits)
    sign[torch.arange(len(batch)), batch[:, 2]] = 1
    loss = softplus(-sign * logits).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@torch.no_grad()
def ranks(model, triples, relations, known, size):
    """Filtered ranks of both sides, one query at a time; known: (h, r) to a set of tails."""
    found = []
    turned = triples[:, [2, 1, 0]] + np.array([0, relations, 0])
    both = torch.from_numpy(np.concatenate([triples, turned]))
    for batch in both.split(size):
        for scores, (h, r, t) in zip(model(batch[:, 0], batch[:, 1]), batch.tolist(), strict=True):
            target = scores[t].item()
            scores[list(known[h, r])] = -torch.inf
            found.append(1 + int((scores >= target).sum()))
    return found
