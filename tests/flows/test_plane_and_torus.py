"""Rotations and similarities of complex points and of points on the torus."""

import cmath
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgflow.flows import (
    ComplexNorm,
    Flow,
    InnerProduct,
    Point,
    Rotation,
    Scaling,
    SquaredWasserstein,
    TorusChord,
    TorusNorm,
    Translation,
    coordinates,
    integrate_wasserstein,
)
from laws import T, close, law

phases = st.lists(st.floats(-7, 7), min_size=2, max_size=2)
Z = torch.tensor([1 + 2j, -0.5 + 0.3j], dtype=torch.complex128)


def point(*numbers):
    return Flow(Point(1.0), Scaling(torch.tensor(numbers, dtype=torch.complex128)))


def angles(*turns):
    return Flow(Point(0.0), Translation(T(turns)))


@law
@given(phases, phases)
def test_rotations_are_a_group(one, other):
    f, g = Rotation(T(one)), Rotation(T(other))
    expected = [z * cmath.exp(1j * a) for z, a in zip(Z.tolist(), one, strict=True)]
    close(f(Z), torch.tensor(expected, dtype=torch.complex128), 1e-12)
    close(f(Z).abs(), Z.abs(), 1e-12)
    close((f @ g)(Z), f(g(Z)), 1e-12)
    close((f @ g)(Z), Rotation(T(one) + T(other))(Z), 1e-12)
    close(f.inverse()(f(Z)), Z, 1e-12)
    assert isinstance(f.inverse(), Rotation)


def test_similarities_of_complex_points():
    p, q = point(3 + 4j, 1j), point(0, 1 - 1j)
    close(ComplexNorm()(p, q), -(5 + math.sqrt(5)), 1e-12)
    close(SquaredWasserstein()(p, q), -30.0, 1e-12)
    close(integrate_wasserstein(p, q), 30.0, 1e-12)
    close(InnerProduct()(p, q), -1.0, 1e-12)  # Re(i conj(1 - i)) = Re(i - 1)


def test_a_real_and_a_complex_point_can_be_compared():
    real, p = Flow(Point(1.0), Scaling(T([3.0, 1.0]))), point(3 + 1j, 1)
    assert coordinates(real).basis != coordinates(p).basis
    close(SquaredWasserstein()(real, p), -1.0, 1e-12)


def test_complex_norm_has_a_gradient_at_equal_points():
    points = torch.zeros(2, 4, requires_grad=True)
    score = ComplexNorm().pairwise(points, torch.zeros(2, 4)).sum()
    close(score, torch.tensor(0.0), 1e-12)
    score.backward()
    assert points.grad.isfinite().all()
    assert points.grad.abs().max() <= 1


@law
@given(st.floats(-3, 3), st.floats(-3, 3), st.integers(-3, 3), st.integers(-3, 3))
def test_the_torus_wraps(x, y, k, m):
    gap = min(abs(x - y - k) for k in range(-8, 9))
    for D, expected in (
        (TorusNorm(1), 2 * gap),
        (TorusNorm(2), 4 * gap**2),
        (TorusChord(), math.sin(math.pi * gap) ** 2),
    ):
        close(D(angles(x), angles(y)), -expected, 1e-9)
        close(D(angles(x + k), angles(y + m)), -expected, 1e-9)


@pytest.mark.parametrize("D", [TorusNorm(1), TorusNorm(2), TorusChord()])
def test_half_a_turn_is_the_largest_distance(D):
    close(D(angles(0.1, 0.7, -0.2), angles(0.6, 0.2, 0.3)), -3.0, 1e-12)
    close(D(angles(0.1, 0.7, -0.2), angles(0.1, 0.7, -0.2)), 0.0, 1e-12)
