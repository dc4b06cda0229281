"""
Measure distances of flows
==========================

x0 is normal, f a two-piece linear function. The squared Wasserstein distance of two such flows is
a quadratic form of their parameters, with a Gram matrix that is integrated once: that is why
scores of all entities are one matrix product.
"""

import matplotlib.pyplot as plt
import torch

from kgflow.analysis.plots import COLOURS, STYLE
from kgflow.flows import Flow, Normal, SquaredWasserstein, TwoPiece, integrate_wasserstein

plt.rcParams.update(STYLE)


def flow(mu: float, left: float, right: float) -> Flow:
    parts = (torch.tensor([value], dtype=torch.float64) for value in (mu, left, right))
    return Flow(Normal(), TwoPiece(*parts))


p, q = flow(-1.0, 1.2, 0.5), flow(1.0, 0.4, 1.0)
x = torch.linspace(-5, 5, 400, dtype=torch.float64)[:, None]
figure, axes = plt.subplots(figsize=(6.5, 3.6))
for i, (name, law) in enumerate({"p": p, "q": q}.items()):
    density = law.log_prob(x).exp().squeeze(-1)
    axes.fill_between(x[:, 0], density, alpha=0.35, color=COLOURS[i], label=name)
axes.legend()
axes.set(xlabel="value", ylabel="density", title="Two flows of one coordinate")

# %%
# The closed form of the squared distance agrees with numerical integration; the similarity D is
# minus it.

print(f"closed form  {-float(SquaredWasserstein()(p, q)):.6f}")
print(f"integrated   {float(integrate_wasserstein(p, q)):.6f}")
