"""The functions of a spline: B-splines and their integrals, as scipy has them."""

import numpy as np
import pytest
import torch
from scipy.interpolate import BSpline

from kgflow.flows import VARIABLES, Basis
from laws import T, close

X = torch.linspace(-4, 4, 161, dtype=torch.float64) + 0.003
KNOTS = [(-0.7, 0.7), (-1.5, -0.2, 0.2, 1.5), (-1.0, 0.3, 0.4, 2.0, 3.0), (0.5, 1.0), (-2.0, -1.0)]

any_knots = pytest.mark.parametrize("knots", KNOTS)
any_degree = pytest.mark.parametrize("degree", [1, 2, 3, 4])


@any_degree
@any_knots
def test_slopes_and_values_are_scipys(degree, knots):
    basis = Basis(degree, knots)
    # A step function has no outermost knots: any will do.
    inner = np.array([-9.0, *knots, 9.0] if degree == 1 else knots)
    t, x = np.pad(inner, degree - 1, mode="edge"), X.numpy()
    near, origin = np.clip(x, inner[0], inner[-1]), np.clip(0.0, inner[0], inner[-1])
    size = len(t) - degree
    slopes, values = basis.slopes(X), basis.values(X)
    assert len(slopes) == len(values) == size
    for k, unit in enumerate(np.eye(size)):
        slope = BSpline(t, unit, degree - 1)
        area = slope.antiderivative()
        close(slopes[k], T(slope(near)), 1e-12)
        at_zero = area(origin) - origin * slope(origin)
        close(values[k], T(area(near) + (x - near) * slope(near) - at_zero), 1e-12)


@any_degree
@pytest.mark.parametrize("knots", [*KNOTS, (-1.0, -1.0, 1.0, 1.0), (0.0, 0.0, 0.0)])
def test_slopes_add_up_to_one_and_values_to_x(degree, knots):
    basis = Basis(degree, knots)
    assert all((slope >= 0).all() for slope in basis.slopes(X))
    close(sum(basis.slopes(X)), torch.ones_like(X), 1e-12)
    close(sum(basis.values(X)), X, 1e-12)
    close(torch.stack(basis.values(T(0.0))), torch.zeros(len(basis.slopes(X))).double(), 1e-15)


@any_degree
@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("x0", VARIABLES)
def test_the_basis_of_a_symmetric_variable_is_symmetric(x0, size, degree):
    basis = Basis.over(VARIABLES[x0], degree, size)
    assert basis.symmetric
    values, inverse_relation = basis.values(X), basis.values(-X)
    assert len(values) == size
    for one, other in zip(values, reversed(inverse_relation), strict=True):
        close(one, -other, 1e-12)
    if VARIABLES[x0].continuous:
        z = VARIABLES[x0].cdf(T([-1e9, *basis.knots, 1e9])).diff()
        close(z, torch.full_like(z, 1 / len(z)), 1e-12)


@any_knots
def test_symmetry_is_recognized(knots):
    assert Basis(2, knots).symmetric == (knots in KNOTS[:2])


@pytest.mark.parametrize("factor", [0.3, -2.0])
@any_degree
@any_knots
def test_a_rescaled_basis_is_the_basis_at_a_multiple(degree, knots, factor):
    basis = Basis(degree, knots)
    values, shrunk = basis.values(factor * X), basis.rescaled(factor).values(X)
    for one, other in zip(values, shrunk if factor > 0 else reversed(shrunk), strict=True):
        close(one, factor * other, 1e-12)


@pytest.mark.parametrize(("degree", "knots"), [(0, (0.0,)), (2, (0.0,)), (3, ()), (1, (1.0, -1.0))])
def test_invalid_bases_are_refused(degree, knots):
    with pytest.raises(ValueError, match="no basis"):
        Basis(degree, knots)
