"""Models of points and distances, straight from their papers."""

import cmath
import math

from cases.case import Case, coordinatewise


def transe_l1(h, r, t):
    return -abs(h[0] + r[0] - t[0])


def transe_l2(model, h, r, t):
    gaps = zip(h["mu"], r["mu"], t["mu"], strict=True)
    return -math.sqrt(sum((a + b - c) ** 2 for a, b, c in gaps))


def moved(h, r, t):
    """Where a rotation of h misses t."""
    return complex(*h) * cmath.exp(1j * r[0]) - complex(*t)


def torus(h, r, t):
    """The distance of two points of the circle: the shorter of the ways to the right and left."""
    right = (h[0] + r[0] - t[0]) % 1
    return min(right, 1 - right)


def circle(h, r, t):
    """The distance of two points of the circle, straight through the plane."""
    return abs(cmath.exp(2j * math.pi * (h[0] + r[0])) - cmath.exp(2j * math.pi * t[0]))


CASES = {
    "transe norm=l1": Case("transe norm=l1", coordinatewise(transe_l1)),
    "transe norm=l2": Case("transe norm=l2", transe_l2),
    "rotate": Case("rotate", coordinatewise(lambda *rows: -abs(moved(*rows))), dim=6),
    "rotate norm=squared-l2": Case(
        "rotate norm=squared-l2", coordinatewise(lambda *rows: -(abs(moved(*rows)) ** 2)), dim=6
    ),
    "toruse": Case("toruse", coordinatewise(lambda *rows: -2 * torus(*rows))),
    "toruse norm=l2": Case("toruse norm=l2", coordinatewise(lambda *rows: -4 * torus(*rows) ** 2)),
    "toruse norm=el2": Case(
        "toruse norm=el2", coordinatewise(lambda *rows: -(circle(*rows) ** 2) / 4)
    ),
}
