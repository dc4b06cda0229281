"""Models whose entities are Gaussians, straight from their papers."""

import math

from cases.case import Case


def variance(s: float) -> float:
    """From 1/20 to 5, of a number without bounds."""
    return math.exp(math.log(0.05) + math.log(100) / (1 + math.exp(-s)))


def difference(h, r, t):
    """For each coordinate: mean and variance of h - t, mean and variance of r."""
    for i in range(len(h["mu"])):
        yield (
            h["mu"][i] - t["mu"][i],
            variance(h["spread"][i]) + variance(t["spread"][i]),
            r["mu"][i],
            variance(r["spread"][i]),
        )


def kg2e_kl(model, h, r, t):
    """He et al., Eq. 5: ½ (tr(Σr⁻¹Σe) + (μr-μe)'Σr⁻¹(μr-μe) - log(det Σe / det Σr) - n)."""
    e_det, r_det, trace, gap = 1.0, 1.0, 0.0, 0.0
    for e_mu, e_var, r_mu, r_var in difference(h, r, t):
        e_det, r_det = e_det * e_var, r_det * r_var
        trace += e_var / r_var
        gap += (r_mu - e_mu) ** 2 / r_var
    return -(trace + gap - math.log(e_det / r_det) - len(h["mu"])) / 2


def kg2e_el(model, h, r, t):
    """The logarithm of the density of N(μe - μr, Σe + Σr) at zero."""
    density = 1.0
    for e_mu, e_var, r_mu, r_var in difference(h, r, t):
        v = e_var + r_var
        density *= math.exp(-((e_mu - r_mu) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
    return math.log(density)


def transg(components):
    def score(model, h, r, t):
        n = len(h["mu"])
        weights = [math.exp(x) for x in r["weight"]]
        mixture = 0.0
        for m in range(components):
            move = r["mu"][m * n : (m + 1) * n]
            gap = sum((a + b - c) ** 2 for a, b, c in zip(h["mu"], move, t["mu"], strict=True))
            scale = variance(h["spread"][0]) + variance(t["spread"][0])
            mixture += weights[m] / sum(weights) * math.exp(-gap / scale)
        return math.log(mixture)

    return score


CASES = {
    "kg2e": Case("kg2e", kg2e_kl),
    "kg2e divergence=el": Case("kg2e divergence=el", kg2e_el),
    "transg": Case("transg", transg(4)),
    "transg 1": Case("transg", transg(1), {"components": 1}),
    "transg 3": Case("transg", transg(3), {"components": 3}, dim=2),
}
