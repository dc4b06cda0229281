"""Core tensors, groups of block matrices and convolutions, straight from their papers."""

import cmath
import math

from cases.case import Case


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def relu(x):
    return max(x, 0.0)


def softplus(x):
    return math.log1p(math.exp(x))


def normalized(norm, channel, x):
    """What batch normalization makes of one number, outside of training."""
    weight, bias, mean, variance = (
        part[channel].item() for part in (norm.weight, norm.bias, norm.mean, norm.variance)
    )
    return weight * (x - mean) / math.sqrt(variance + 1e-5) + bias


# --- core tensors -------------------------------------------------------------------------------


def tucker(model, h, r, t):
    W, n = model.core.tolist(), range(model.dim)  # W[j][i][k]
    head = [normalized(model.norm_head, i, x) for i, x in enumerate(h["e"])]
    query = [sum(W[j][i][k] * head[i] * r["r"][j] for i in n for j in n) for k in n]
    return dot([normalized(model.norm_query, k, x) for k, x in enumerate(query)], t["e"])


def tucker_flow(model, h, r, t):
    W, p, n = model.core.tolist(), range(model.options.components), model.dim

    def numbers(row, i):
        """μ and σ of the i-th function, coordinate by coordinate."""
        here = slice(i * n, (i + 1) * n)
        return list(zip(row["mu"][here], row["sigma"][here], strict=True))

    def eq10(i, j, k):
        rows = zip(numbers(h, i), numbers(r, j), numbers(t, k), strict=True)
        return -sum(
            (s * m + b - nu) ** 2 + (abs(s * d) - abs(tau)) ** 2
            for (m, d), (b, s), (nu, tau) in rows
        )

    return sum(softplus(W[i][j][k]) * eq10(i, j, k) for i in p for j in p for k in p)


# --- groups -------------------------------------------------------------------------------------


def blocks(x, size):
    return [x[i : i + size] for i in range(0, len(x), size)]


def dihedral(model, h, r, t):
    """The k-th rotation or the k-th reflection, k told by the signs of the two β."""
    quarter = {(True, True): 0, (True, False): 1, (False, False): 2, (False, True): 3}
    cosines, sines = (1, 0, -1, 0), (0, 1, 0, -1)
    total = 0.0
    numbers = zip(r["alpha"], r["beta_1"], r["beta_2"], strict=True)
    sides = zip(blocks(h["e"], 2), numbers, blocks(t["e"], 2), strict=True)
    for (x, y), (alpha, beta_1, beta_2), (u, v) in sides:
        k = quarter[beta_1 >= 0, beta_2 >= 0]
        c, s = cosines[k], sines[k]
        R = ((c, -s), (s, c)) if alpha >= 0 else ((c, s), (s, -c))
        total += x * (R[0][0] * u + R[0][1] * v) + y * (R[1][0] * u + R[1][1] * v)
    return total


def so3_gaps(h, r, t):
    """Rh - t, block by block, with the matrix of Euler angles written out."""
    angles = zip(r["phi"], r["theta"], r["psi"], strict=True)
    for x, (phi, theta, psi), y in zip(blocks(h["mu"], 3), angles, blocks(t["mu"], 3), strict=True):
        (a, b, c), (d, e, f) = (
            [g(angle) for angle in (phi, theta, psi)] for g in (math.cos, math.sin)
        )
        R = (
            (c * a - b * d * f, c * d + b * a * f, f * e),
            (-f * a - b * d * c, -f * d + b * a * c, c * e),
            (e * d, -e * a, b),
        )
        yield [dot(row, x) - z for row, z in zip(R, y, strict=True)]


def su2_gaps(h, r, t):
    """Uh - t, block by block, in complex numbers."""
    angles = zip(r["alpha"], r["theta"], r["phi"], strict=True)
    for (a, b, c, d), (alpha, theta, phi), (e, f, g, k) in zip(
        blocks(h["mu"], 4), angles, blocks(t["mu"], 4), strict=True
    ):
        x, y = complex(a, b), complex(c, d)
        first = complex(math.cos(alpha), math.sin(alpha) * math.sin(theta))
        second = 1j * cmath.exp(-1j * phi) * math.sin(alpha) * math.cos(theta)
        # A matrix of determinant 1 that is its own inverse's adjoint has this second row.
        u = first * x + second * y - complex(e, f)
        v = -second.conjugate() * x + first.conjugate() * y - complex(g, k)
        yield [abs(u), abs(v)]


def distance(gaps):
    return lambda model, h, r, t: -sum(math.sqrt(dot(gap, gap)) for gap in gaps(h, r, t))


def squared(gaps):
    return lambda model, h, r, t: -sum(dot(gap, gap) for gap in gaps(h, r, t))


# --- convolutions -------------------------------------------------------------------------------


def projected(layer, maps, t):
    """The score of feature maps, each a list of numbers."""
    vector = [x for one in maps for x in one]
    rows = zip(layer.full.weight.tolist(), layer.full.bias.tolist(), strict=True)
    full = [dot(row, vector) + c for row, c in rows]
    return (
        dot([relu(normalized(layer.norm, k, x)) for k, x in enumerate(full)], t["e"])
        + (t["bias"][0])
    )


def conve(model, h, r, t):
    """12 numbers are an image of 3 x 4; h stands above r."""
    image = [
        [normalized(model.norm_image, 0, x) for x in line]
        for line in blocks(h["e"], 4) + blocks(r["r"], 4)
    ]
    three = range(3)
    maps = []
    for c, (omega, bias) in enumerate(
        zip(model.convolve.weight.tolist(), model.convolve.bias.tolist(), strict=True)
    ):
        pixels = [
            sum(omega[0][a][b] * image[i + a][j + b] for a in three for b in three) + bias
            for i in range(4)
            for j in range(2)
        ]
        maps.append([relu(normalized(model.norm_maps, c, x)) for x in pixels])
    return projected(model.project, maps, t)


def hyper(model, h, r, t):
    """12 numbers have 4 places for a filter of 9."""
    head = [normalized(model.norm_head, 0, x) for x in h["e"]]
    rows = zip(model.filters.weight.tolist(), model.filters.bias.tolist(), strict=True)
    filters = blocks([dot(row, r["r"]) + d for row, d in rows], 9)
    maps = [
        [normalized(model.norm_maps, c, dot(head[i : i + 9], omega)) for i in range(4)]
        for c, omega in enumerate(filters)
    ]
    return projected(model.project, maps, t)


CASES = {
    "tucker": Case("tucker", tucker),
    "tucker, no dropout": Case("tucker", tucker, {"hidden_dropout": 0.0}),
    "tucker-flow": Case("tucker-flow", tucker_flow),
    "tucker-flow 1": Case("tucker-flow", tucker_flow, {"components": 1}),
    "tucker-flow 3": Case("tucker-flow", tucker_flow, {"components": 3}),
    "dihedral": Case("dihedral", dihedral, dim=6, stepped=True),
    "nage-so3": Case("nage-so3", distance(so3_gaps), dim=6),
    "nage-so3 norm=squared-l2": Case("nage-so3 norm=squared-l2", squared(so3_gaps), dim=6),
    "nage-su2": Case("nage-su2", distance(su2_gaps), dim=8),
    "nage-su2 norm=squared-l2": Case("nage-su2 norm=squared-l2", squared(su2_gaps), dim=8),
    "conve": Case("conve", conve, {"channels": 3, "hidden_dropout": 0.5}, dim=12),
    "hyper": Case("hyper", hyper, {"channels": 3, "hidden_dropout": 0.5}, dim=12),
}
