"""Boxes, spheres, rings and hyperbolic balls, straight from their papers."""

import math
from itertools import product

from cases.case import Case


def boxe(model, h, r, t):
    def side(position, bump, centre, size):
        total = 0.0
        for e, b, c, s in zip(position, bump, centre, size, strict=True):
            x, low, high = e + b, c - abs(s) / 2, c + abs(s) / 2
            w = high - low + 1
            kappa = (w - 1) / 2 * (w - 1 / w)
            total += (abs(x - c) / w if low <= x <= high else abs(x - c) * w - kappa) ** 2
        return math.sqrt(total)

    return -side(h["position"], t["bump"], r["head_centre"], r["head_size"]) - side(
        t["position"], h["bump"], r["tail_centre"], r["tail_size"]
    )


def manifolde(model, h, r, t):
    gap = sum((a + b - c) ** 2 for a, b, c in zip(h["mu"], r["mu"], t["mu"], strict=True))
    return -((gap - r["radius"][0] ** 2) ** 2)


def mobiuse(twist):
    """By trying every way around a ring, of which no more than a few turns can be the shortest."""

    def score(model, h, r, t):
        half, total = len(h["mu"]) // 2, 0.0
        gap = [a + b - c for a, b, c in zip(h["mu"], r["mu"], t["mu"], strict=True)]
        for x, u in zip(gap[:half], gap[half:], strict=True):
            turns = product(range(-12, 13), range(-20, 21))
            total += min(abs(x + i) + abs(u - i * twist + j) for i, j in turns)
        return -total

    return score


# --- the Poincaré ball ----------------------------------------------------------------------------


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def within(x, c):
    """Off the rim, at most 0.996 of the radius."""
    norm = math.sqrt(c * dot(x, x))
    return [a * min(1, 0.996 / norm) for a in x] if norm else x


def exp_0(v, c):
    norm = math.sqrt(c * dot(v, v))
    return within([math.tanh(norm) * a / norm for a in v], c)


def add(x, y, c):
    bottom = 1 + 2 * c * dot(x, y) + c**2 * dot(x, x) * dot(y, y)
    left, right = 1 + 2 * c * dot(x, y) + c * dot(y, y), 1 - c * dot(x, x)
    return [(left * a + right * b) / bottom for a, b in zip(x, y, strict=True)]


def distance(x, y, c):
    gap = add([-a for a in x], y, c)
    return 2 / math.sqrt(c) * math.atanh(math.sqrt(c * dot(gap, gap)))


def rotation(angles, v):
    """Each pair (v_i, v_{n/2+i}) as a complex number, times one of modulus 1."""
    half = len(v) // 2
    turned = [
        complex(v[i], v[half + i]) * complex(math.cos(a), math.sin(a)) for i, a in enumerate(angles)
    ]
    return [z.real for z in turned] + [z.imag for z in turned]


def reflection(angles, v):
    half = len(v) // 2
    return rotation(angles, v[:half] + [-y for y in v[half:]])


def hyperbolic(moved, h, r, t):
    c = math.log(1 + math.exp(r["curvature"][0]))
    q = within(add(exp_0(moved, c), exp_0(r["mu"], c), c), c)
    return -(distance(q, exp_0(t["mu"], c), c) ** 2) + h["head"][0] + t["tail"][0]


def roth(model, h, r, t):
    return hyperbolic(rotation(r["theta"], h["mu"]), h, r, t)


def atth(model, h, r, t):
    sides = rotation(r["theta"], h["mu"]), reflection(r["phi"], h["mu"])
    one, two = (math.exp(dot(r["context"], side)) for side in sides)
    mean = [(one * a + two * b) / (one + two) for a, b in zip(*sides, strict=True)]
    return hyperbolic(mean, h, r, t)


CASES = {
    "boxe": Case("boxe", boxe),
    "manifolde": Case("manifolde", manifolde),
    "mobiuse": Case("mobiuse", mobiuse(0.5), dim=4),
    "mobiuse 1/3": Case("mobiuse", mobiuse(1 / 3), {"twist": 1 / 3}, dim=6),
    "roth": Case("roth", roth, dim=4),
    "atth": Case("atth", atth, dim=4),
}
