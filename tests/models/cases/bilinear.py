"""Bilinear models, straight from their papers."""

import math

from cases.case import Case, coordinatewise


def rescal(model, h, r, t):
    n = len(h["e"])
    return sum(h["e"][i] * r["R"][n * i + j] * t["e"][j] for i in range(n) for j in range(n))


def complex_product(h, r, t):
    return (complex(*h) * complex(*r) * complex(*t).conjugate()).real


TIMES = {
    **{("1", unit): (1, unit) for unit in "1ijk"},
    **{(unit, "1"): (1, unit) for unit in "ijk"},
    **{(unit, unit): (-1, "1") for unit in "ijk"},
    **{
        pair: (1, unit)
        for pair, unit in {("i", "j"): "k", ("j", "k"): "i", ("k", "i"): "j"}.items()
    },
    **{
        pair: (-1, unit)
        for pair, unit in {("j", "i"): "k", ("k", "j"): "i", ("i", "k"): "j"}.items()
    },
}
"""Hamilton's i² = j² = k² = ijk = -1, all sixteen products of two units."""


def times(p, q):
    """The product of two quaternions, by the table of units."""
    product = dict.fromkeys("1ijk", 0.0)
    for u, x in zip("1ijk", p, strict=True):
        for v, y in zip("1ijk", q, strict=True):
            sign, unit = TIMES[u, v]
            product[unit] += sign * x * y
    return list(product.values())


def quaternion_product(h, r, t):
    """One quaternion each."""
    length = math.sqrt(sum(x * x for x in r))
    return sum(x * z for x, z in zip(times(h, r), t, strict=True)) / length


def quaternion_affine(h, r, t):
    """Three quaternions and two scales: the squared distance of two places and two sizes."""
    gaps = [x + y - z for x, y, z in zip(times(h[:4], r[:4]), r[4:], t[:4], strict=True)]
    sizes = math.sqrt(sum(x * x for x in r[:4])) * abs(h[4]) - abs(t[4])
    return -sum(gap * gap for gap in gaps) - sizes**2


CASES = {
    "rescal": Case("rescal", rescal),
    "complex": Case("complex", coordinatewise(complex_product), dim=6),
    "quate": Case("quate", coordinatewise(quaternion_product), dim=12),
    "nfe-1-quaternion": Case("nfe-1-quaternion", coordinatewise(quaternion_affine), dim=12),
}
