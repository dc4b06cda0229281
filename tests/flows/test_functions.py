"""f: the group of the paper's first Remark, over every family and every orientation."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgflow.flows import (
    Affine,
    Basis,
    Composition,
    Function,
    Inverse,
    NotInvertibleError,
    Scaling,
    Spline,
    Translation,
    TwoPiece,
)
from laws import FUNCTIONS, INVERTIBLE, SINGULAR, T, close, law

X = torch.linspace(-4, 4, 33, dtype=torch.float64)[:, None] + T([0.013, 0.029])
"""Points on both sides of every kink, for n = 2."""

every = pytest.mark.parametrize("name", FUNCTIONS)
invertible = pytest.mark.parametrize("name", INVERTIBLE)
singular = pytest.mark.parametrize("name", SINGULAR)


def by_twin(twins, x):
    return T([[f(float(v)) for f, v in zip(twins, row, strict=True)] for row in x])


@every
def test_values_follow_the_formula(name):
    f, twins = FUNCTIONS[name]()
    close(f(X), by_twin(twins, X), 1e-12)


@invertible
def test_the_inverse_is_a_left_and_right_inverse(name):
    f, _ = INVERTIBLE[name]()
    close(f.inverse()(f(X)), X, 1e-12)
    close(f(f.inverse()(X)), X, 1e-12)
    close(f.inv(f(X)), X, 1e-12)
    close(f.inverse().inverse()(X), f(X), 1e-12)


@singular
def test_a_zero_scale_has_no_inverse(name):
    f, _ = SINGULAR[name]()
    with pytest.raises(NotInvertibleError):
        f.inverse()


@every
def test_the_slope_is_the_derivative(name):
    f, twins = FUNCTIONS[name]()
    x = X.clone().requires_grad_()
    (derivative,) = torch.autograd.grad(f(x).sum(), x)
    close(f.slope(X), derivative, 1e-12)
    step = 1e-6
    close(f.slope(X), (by_twin(twins, X + step) - by_twin(twins, X - step)) / (2 * step), 1e-8)


@every
def test_the_log_determinant_is_the_logarithm_of_the_slope(name):
    f, _ = FUNCTIONS[name]()
    close(f.log_abs_det_jacobian(X, f(X)), f.slope(X).abs().log(), 1e-12)


@invertible
def test_the_inverse_has_the_opposite_log_determinant(name):
    f, _ = INVERTIBLE[name]()
    y = f(X)
    back = f.inverse().log_abs_det_jacobian(y, X)
    close(back + f.log_abs_det_jacobian(X, y), torch.zeros_like(X), 1e-12)


@every
def test_the_sign_is_that_of_the_slope(name):
    f, twins = FUNCTIONS[name]()
    rise = T([math.copysign(1, g(9.0) - g(-9.0)) if g(9.0) != g(-9.0) else 0 for g in twins])
    close(f.sign.expand(2), rise, 0)


@every
def test_shapes_follow_the_parameters(name):
    f, _ = FUNCTIONS[name]()
    assert f.shape == (2,)
    assert f.forward_shape(torch.Size([5, 1])) == f(X[:5, :1]).shape == (5, 2)
    assert f.inverse_shape(torch.Size([7, 2])) == (7, 2)


@every
def test_composition_is_applying_one_after_the_other(name):
    f, f_twins = FUNCTIONS[name]()
    for inner in FUNCTIONS.values():
        g, g_twins = inner()
        composed = f @ g
        assert isinstance(composed, Function)
        close(composed(X), by_twin(f_twins, by_twin(g_twins, X)), 1e-12)
        close(composed.slope(X), f.slope(g(X)) * g.slope(X), 1e-12)
        close(composed.sign * T([1, 1]), f.sign * g.sign * T([1, 1]), 0)


@invertible
def test_composition_with_the_identity(name):
    f, _ = INVERTIBLE[name]()
    for identity in (Translation(T([0, 0])), Scaling(T([1, 1])), Affine(T([0, 0]), T([1, 1]))):
        close((f @ identity)(X), f(X), 0)
        close((identity @ f)(X), f(X), 0)


@invertible
def test_the_inverse_of_a_product_is_the_product_of_inverses_reversed(name):
    f, _ = INVERTIBLE[name]()
    for other in INVERTIBLE.values():
        g, _ = other()
        close((f @ g).inverse()(X), (g.inverse() @ f.inverse())(X), 1e-11)
        close((f @ g).inverse()((f @ g)(X)), X, 1e-11)


@law
@given(st.lists(st.sampled_from(list(FUNCTIONS)), min_size=3, max_size=3))
def test_composition_is_associative(names):
    f, g, h = (FUNCTIONS[name]()[0] for name in names)
    close(((f @ g) @ h)(X), (f @ (g @ h))(X), 1e-11)


@pytest.mark.parametrize(
    ("outer", "inner", "family"),
    [
        ("translation", "translation", Translation),
        ("scaling", "scaling, negative", Scaling),
        ("affine", "affine, negative", Affine),
        ("translation", "scaling", Affine),
        ("scaling", "translation", Affine),
        ("affine, negative", "two-piece", TwoPiece),
        ("translation", "two-piece, mixed", TwoPiece),
        ("two-piece, negative", "scaling, negative", TwoPiece),
        ("affine, negative", "linear spline", Spline),
        ("scaling", "quadratic spline", Spline),
        ("translation", "cubic spline", Spline),
    ],
)
def test_families_are_closed(outer, inner, family):
    """So that for every h and r there is a t with f_t = f_r ∘ f_h, and it is of h's family."""
    assert type(FUNCTIONS[outer]()[0] @ FUNCTIONS[inner]()[0]) is family


@pytest.mark.parametrize("outer", [name for name in INVERTIBLE if "two-piece" in name])
@pytest.mark.parametrize("inner", [name for name in INVERTIBLE if "two-piece" in name])
def test_two_two_piece_functions_make_three_pieces(outer, inner):
    """Why relations stay linear (below Eq. 6): two pieces are not closed under composition."""
    composed = INVERTIBLE[outer]()[0] @ INVERTIBLE[inner]()[0]
    assert isinstance(composed, Composition)
    slopes = composed.slope(torch.linspace(-9, 9, 20001, dtype=torch.float64)[:, None])
    assert ((slopes[1:] != slopes[:-1]).sum(0) == 2).all(), "three pieces have two kinks"


def test_the_three_pieces_have_three_slopes():
    f = TwoPiece(T([0.0]), T([2.0]), T([3.0])) @ TwoPiece(T([1.0]), T([5.0]), T([7.0]))
    close(f.slope(T([-1.0, -0.1, 1.0])), [2 * 5, 3 * 5, 3 * 7], 0)  # kinks at -1/5 and at 0


def test_a_function_that_is_not_monotone_is_refused():
    """Slopes of both signs: σ₁ σ₂ > 0 is the constraint below Eq. 6."""
    fold = TwoPiece(T([0.0, 0.0]), T([1.0, -1.0]), T([1.0, 2.0]))
    for use in (lambda: fold.sign, fold.inverse, fold.increasing_scales):
        with pytest.raises(NotInvertibleError, match="one sign"):
            use()


@pytest.mark.parametrize("name", [n for n in INVERTIBLE if "spline" in n])
@pytest.mark.parametrize("factor", [0.4, -2.5, 0.0])
def test_one_scaling_for_all_moves_the_knots(name, factor):
    """x0/k of Proposition 5: it keeps splines splines, so that they have coordinates."""
    f, twins = INVERTIBLE[name]()
    if isinstance(f, Spline):
        moved = f @ Scaling(T(factor))
        assert type(moved) is Spline
        close(moved(X), by_twin(twins, factor * X), 1e-12)


def test_knots_that_would_differ_or_learn_do_not_move():
    f, _ = INVERTIBLE["cubic spline"]()
    for sigma in (T([0.5, 2.0]), T(0.5).requires_grad_()):
        assert isinstance(f @ Scaling(sigma), Composition)


@pytest.mark.parametrize("name", [n for n in INVERTIBLE if "three" not in n])
def test_the_numerical_inverse_is_the_inverse_with_its_gradient(name):
    f, _ = INVERTIBLE[name]()
    y = (10 * X).requires_grad_()
    solved, formula = Inverse(f), f.inverse()
    close(solved(y), formula(y), 1e-11)
    close(f(solved(y)), y, 1e-11)
    close(solved.slope(X), formula.slope(X), 1e-10)
    (gradient,) = torch.autograd.grad(solved(y).sum(), y)
    close(gradient, formula.slope(y.detach()), 1e-10)


def test_the_numerical_inverse_has_the_gradient_by_parameters():
    def back(mu, *scales):
        return Spline(Basis(3, (-0.5, 0.5)), mu, scales).inverse()(X[::4])

    parameters = [T([p]).requires_grad_() for p in (0.3, 0.8, 1.7, 0.5)]
    assert torch.autograd.gradcheck(back, parameters)


@every
def test_float32_stays_float32(name):
    f, _ = FUNCTIONS[name]()
    narrow = _narrow(f)
    assert narrow(X.float()).dtype == torch.float32


def _narrow(f: Function) -> Function:
    if isinstance(f, Composition):
        return _narrow(f.outer) @ _narrow(f.inner)
    if isinstance(f, Spline):
        return f.like(f.mu.float(), [scale.float() for scale in f.scales])
    parts = {"Translation": "mu", "Scaling": "sigma", "Affine": "mu sigma"}
    return type(f)(*(getattr(f, part).float() for part in parts[type(f).__name__].split()))
