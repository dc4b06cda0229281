"""Other flows of docs/explanation/flows.md, each written as one `Function` without a closed
form of D.

Each is compared with a scalar function in plain Python, integrated by scipy.
"""

import math
from bisect import bisect

import pytest
import torch
from scipy import stats

from kgflow.flows import (
    Affine,
    Flow,
    Function,
    Inverse,
    KullbackLeibler,
    Normal,
    SquaredWasserstein,
    Uniform,
)
from kgflow.flows.quadrature import EDGE, rule
from laws import PPF, T, close, integral, wasserstein

X = torch.linspace(-3, 3, 25, dtype=torch.float64)[:, None] + 0.013


class Increasing(Function):
    """A new increasing f, given by `forward`; slope by autograd, inverse numerically."""

    def slope(self, x):
        with torch.enable_grad():
            x = x.expand(self.forward_shape(x.shape)).detach().requires_grad_()
            return torch.autograd.grad(self.forward(x).sum(), x)[0]

    @property
    def sign(self):
        return torch.ones(())

    def inverse(self):
        return Inverse(self)


class RationalQuadratic(Increasing):
    """Durkan et al. 2019: on each piece a quotient of two parabolas, given by values and slopes."""

    knots = (-1.0, 0.5, 1.5)

    def __init__(self, *parameters):
        super().__init__()
        self.y, self.d = parameters[:3], parameters[3:]

    def forward(self, x):
        first = self.y[0] + self.d[0] * (x - self.knots[0])
        last = self.y[-1] + self.d[-1] * (x - self.knots[-1])
        found = torch.where(x < self.knots[0], first, last)
        for i in range(2):
            low, high = self.knots[i : i + 2]
            z, width = (x - low) / (high - low), high - low
            rise, (d, e) = self.y[i + 1] - self.y[i], self.d[i : i + 2]
            s = rise / width
            value = rise * (s * z**2 + d * z * (1 - z)) / (s + (d + e - 2 * s) * z * (1 - z))
            found = torch.where((low <= x) & (x < high), self.y[i] + value, found)
        return found

    def kinks(self):
        return [T(knot) for knot in self.knots]


def rational_quadratic(y0, y1, y2, d0, d1, d2):
    knots, y, d = RationalQuadratic.knots, (y0, y1, y2), (d0, d1, d2)

    def f(x):
        i = bisect(knots, x) - 1
        if i in (-1, 2):
            return y[max(i, 0)] + d[max(i, 0)] * (x - knots[max(i, 0)])
        z, rise = (x - knots[i]) / (knots[i + 1] - knots[i]), y[i + 1] - y[i]
        s = rise / (knots[i + 1] - knots[i])
        below = s + (d[i + 1] + d[i] - 2 * s) * z * (1 - z)
        return y[i] + rise * (s * z * z + d[i] * z * (1 - z)) / below

    return f


class SumOfSquares(Increasing):
    """Jaini et al. 2019: the integral of squares, here of a + b u and of c."""

    def __init__(self, mu, a, b, c):
        super().__init__()
        self.mu, self.a, self.b, self.c = mu, a, b, c

    def forward(self, x):
        line = (self.a**2 + self.c**2) * x
        return self.mu + line + self.a * self.b * x**2 + self.b**2 * x**3 / 3


def sum_of_squares(mu, a, b, c):
    return lambda x: mu + ((a + b * x) ** 3 - a**3) / (3 * b) + c * c * x


class Sigmoidal(Increasing):
    """Huang et al. 2018: a neural network with positive weights, between sigmoid and logit."""

    def __init__(self, a, b, c, d):
        super().__init__()
        self.a, self.b, self.c, self.d = a, b, c, d

    def forward(self, x):
        return torch.logit(
            (torch.sigmoid(self.a * x + self.b) + torch.sigmoid(self.c * x + self.d)) / 2
        )


def sigmoidal(a, b, c, d):
    def s(x):
        return 1 / (1 + math.exp(-x))

    def f(x):
        # The shares above and below, so that neither end is rounded away.
        above = s(a * x + b) + s(c * x + d)
        below = s(-a * x - b) + s(-c * x - d)
        return math.log(above / below)

    return f


class Squared(Increasing):
    """Ziegler and Rush 2019: a line and a bump."""

    def __init__(self, a, b, c, d):
        super().__init__()
        self.a, self.b, self.c, self.d = a, b, c, d

    def forward(self, x):
        return self.a * x + self.b + self.c / (1 + (self.d * x) ** 2)


def squared(a, b, c, d):
    return lambda x: a * x + b + c / (1 + (d * x) ** 2)


class Continuous(Increasing):
    """Grathwohl et al. 2019: where dx/dt = a tanh x leads from x, by steps of Runge and Kutta."""

    def __init__(self, mu, a):
        super().__init__()
        self.mu, self.a = mu, a

    def forward(self, x):
        step = 1 / 40
        for _ in range(40):
            one = self.a * torch.tanh(x)
            two = self.a * torch.tanh(x + step / 2 * one)
            three = self.a * torch.tanh(x + step / 2 * two)
            four = self.a * torch.tanh(x + step * three)
            x = x + step / 6 * (one + 2 * two + 2 * three + four)
        return x + self.mu


def continuous(mu, a):
    return lambda x: mu + math.asinh(math.exp(a) * math.sinh(x))


FLOWS = {
    "rational-quadratic": (RationalQuadratic, rational_quadratic, (-1.2, 0.1, 2.0, 0.6, 1.9, 0.4)),
    "sum of squares": (SumOfSquares, sum_of_squares, (0.3, 0.9, 0.4, 0.5)),
    "neural": (Sigmoidal, sigmoidal, (1.3, 0.8, 0.7, -1.5)),
    "squared": (Squared, squared, (1.2, -0.3, 0.8, 0.9)),
    "continuous": (Continuous, continuous, (0.4, 0.7)),
}

every = pytest.mark.parametrize("name", FLOWS)


def pair(name):
    family, twin, parameters = FLOWS[name]
    return family(*(T([p]) for p in parameters)), twin(*parameters)


@every
def test_values_and_inverse(name):
    f, twin = pair(name)
    close(f(X), T([[twin(float(x))] for x in X]), 1e-8)
    close(f.inverse()(f(X)), X, 1e-10)
    assert (f.slope(X) > 0).all()


@every
def test_densities_and_entropies_follow(name):
    f, twin = pair(name)
    flow = Flow(Normal(), f)
    ends = flow.quantile(T([[1e-9], [1 - 1e-9]]))
    x = ends[0] + (ends[1] - ends[0]) * torch.linspace(0, 1, 4001, dtype=torch.float64)[:, None]
    p = flow.log_prob(x).exp()
    close(torch.trapezoid(p, x[:, 0]), 1.0, 2e-3)
    step = 1e-5
    change = integral(
        lambda u: stats.norm._pdf(u) * math.log((twin(u + step) - twin(u - step)) / (2 * step)),
        *(-9, -1, 0, 0.5, 1.5, 9),
    )
    close(flow.entropy_change(), change, 1e-6)


@every
@pytest.mark.parametrize("x0", [Normal(), Uniform()], ids=str)
def test_wasserstein_is_integrated_and_relations_act(name, x0):
    f, twin = pair(name)
    f_r, ppf = Affine(T([0.4]), T([-0.8])), PPF[type(x0).__name__.lower()]
    head = Flow(x0, f_r @ f)
    for other in (name, "rational-quadratic"):
        g, g_twin = pair(other)
        expected = wasserstein(lambda x: -0.8 * twin(x) + 0.4, g_twin, ppf)
        close(-SquaredWasserstein()(head, Flow(x0, g)), expected, 1e-6)
    with pytest.raises(TypeError, match="closed form"):
        SquaredWasserstein().encode_keys(head)


@every
def test_kl_is_integrated(name):
    f, twin = pair(name)
    q, step = stats.norm(0.5, 1.4), 1e-5

    def gap(u):
        slope = (twin(u + step) - twin(u - step)) / (2 * step)
        return stats.norm._pdf(u) * (stats.norm._logpdf(u) - math.log(slope) - q.logpdf(twin(u)))

    expected = integral(gap, -9, -1, 0, 0.5, 1.5, 9)
    target = Flow(Normal(), Affine(T([0.5]), T([1.4])))
    close(-KullbackLeibler()(Flow(Normal(), f), target), expected, 1e-5)


@every
def test_quantiles_at_shared_nodes_factorize_any_flow(name):
    """W is the squared distance of the quantiles at shared nodes, to a quadrature's error."""
    z, weight = (part[:, None] for part in rule())
    z = z.clamp(EDGE, 1 - EDGE)
    flows = [Flow(Normal(), pair(other)[0]) for other in (name, "rational-quadratic")]
    u, v = (weight.sqrt() * flow.quantile(z) for flow in flows)
    close((u - v).square().sum(), -SquaredWasserstein()(*flows), 1e-3)
