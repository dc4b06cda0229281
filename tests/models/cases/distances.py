"""Models of points and distances, straight from their papers."""

from cases.case import Case

CASES = {
    "transe-l1": Case(
        "transe-l1",
        lambda model, h, r, t: (
            -sum(abs(a + b - c) for a, b, c in zip(h["mu"], r["mu"], t["mu"], strict=True))
        ),
    ),
}
