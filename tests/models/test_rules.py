"""Proposition 6 for every model: which rules its parameters can hold, and which none can.

Without reciprocal relations, f(h, r, t) being the score, and for *all* entities h, t, a at once:

- symmetry: f(h, r, t) = f(t, r, h) for some r under which two entities prefer each other to
  themselves, f(h, r, t) > f(h, r, h) and f(h, r, t) > f(t, r, t).
- antisymmetry: f(h, r, t) > f(t, r, h) for some r, h and t.
- inverse: f(h, r, t) = f(t, r', h) for some r' and some r that is not symmetric.
- composition: some relations, neither all symmetric nor all with the same best answers, are closed
  under it: for r and r' there is r'' such that, with b the best answer to (a, r, ?) and c the best
  answer to (b, r', ?), c is the best answer to (a, r'', ?).

The best answer is the best of all conceivable rows; where D is an inner product, of all as long as
a. Biases of entities, which no relation changes, are zero. What all relations share (a core, a
network) may be chosen too. KL, which has a direction, keeps it when h and t change places:
D(f_r ∘ f_h, f_t) = D(f_h, f_r' ∘ f_t), which for all other D says the same as above.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Any

import pytest
import torch
from torch import Tensor, cat
from torch.nn.functional import normalize, softplus

from graphs import ALL_MODELS, VARIANTS, build
from kgflow.flows import KullbackLeibler
from kgflow.models import Model, variant
from kgflow.models.quaternion import hamilton
from laws import close

E, R, DIM = 9, 5, 12
RULES = ("symmetry", "antisymmetry", "inverse", "composition")
HALF = DIM // 2
BIASES = ("head", "tail", "bias")


def make(name: str) -> Model:
    """In float64, its rows random but the biases, its scales off zero."""
    torch.manual_seed(0)
    model = build(name, E, R, DIM).double().eval().requires_grad_(False)
    for table in (model.entity, model.relation):
        table.weight.normal_(0, 0.5)
        for part, values in zip(table.parts, table.split(table.weight), strict=True):
            if part in BIASES:
                values.zero_()
            if part.startswith("sigma"):
                values.add_(0.3 * values.sign())
    return model


def write(model: Model, r: int, **parts: Tensor | float) -> None:
    """Set parts of a relation, those of them that it has."""
    table = model.relation
    for part, values in zip(table.parts, table.split(table.weight[r]), strict=True):
        if part in parts:
            values.copy_(torch.as_tensor(parts[part], dtype=torch.float64))


def scores(model: Model, r: int, h: Tensor | None = None, t: Tensor | None = None) -> Tensor:
    """Of heads ``(..., w)`` and tails ``(..., w)`` side by side, or of all pairs of entities."""
    if h is None or t is None:
        rows = model.entity.weight
        h, t = (x.flatten(0, 1) for x in torch.broadcast_tensors(rows[:, None], rows))
        return scores(model, r, h, t).view(E, E)
    query = model.encode_query(h, model.relation.weight[r].expand(len(h), -1))
    keys = model.encode_keys(t)
    return model.pairwise(query.Q, keys.K) + query.a + keys.b


def is_best(model: Model, h: Tensor, r: int, t: Tensor, sphere: bool) -> None:
    """No row near t or far from it is a better answer to (h, r, ?)."""
    best = scores(model, r, h, t)
    free = [torch.full((n,), part not in BIASES) for part, n in model.entity.parts.items()]
    for size in (1e-3, 1e-2, 0.1, 0.5, 2.0):
        for _ in range(20):
            other = t + size * torch.randn_like(t) * cat(free)
            if sphere:
                other = normalize(other) * h.norm(dim=-1, keepdim=True)
            assert (scores(model, r, h, other) <= best + 1e-9 * (1 + best.abs())).all()


# --- relations that keep rules, by family --------------------------------------------------------


@dataclass
class Family:
    """Relations of a model as elements of something that can be inverted and composed.

    put: make a relation of the model this element.
    best: the best answers to rows ``(N, w)`` under an element, in a model.
    sample: a random element; of those that are isometries if this is asked for.
    involution: a symmetric element.
    """

    put: Callable[[Model, int, Any], None]
    best: Callable[[Model, Tensor, Any], Tensor]
    sample: Callable[[Model, bool], Any]
    involution: Callable[[Model], Any] | None = None
    inverse: Callable[[Any], Any] | None = None
    compose: Callable[[Any, Any], Any] | None = None
    sphere: bool = False
    prepare: Callable[[Model], None] = lambda model: None
    partner: Callable[[Model], Tensor] | None = None


def shifts(
    part: str, half: Sequence[float] | None = None, sign: float = 1.0, spread: float | None = None
) -> Family:
    """Translations; `half` of a way around is its own inverse; best answers have this spread."""

    def put(model: Model, r: int, x: Tensor) -> None:
        write(model, r, **{part: x.repeat(getattr(model.options, "components", 1))})
        # ManifoldE: a sphere of radius 0; KG2E: narrower than any difference of two entities;
        # TransG: components of one weight.
        write(model, r, radius=0.0, spread=-3.0, weight=0.0)

    def best(model: Model, h: Tensor, x: Tensor) -> Tensor:
        t = h.clone()
        t[:, :DIM] += sign * x
        if spread is not None:
            t[:, DIM:] = spread
        return t

    return Family(
        put,
        best,
        sample=lambda model, isometric: 0.5 * torch.randn(DIM).double(),
        involution=None if half is None else lambda model: torch.tensor(half).double(),
        inverse=lambda x: -x,
        compose=lambda y, x: x + y,
    )


def manifold() -> Family:
    """Spheres around h, of radius 1, are symmetric; spheres of radius 0 are translations."""
    family = shifts("mu")

    def put(model: Model, r: int, x: Tensor) -> None:
        shifts("mu").put(model, r, x)
        if not x.any():
            write(model, r, radius=1.0)

    family.put, family.involution = put, lambda model: torch.zeros(DIM)
    family.partner = lambda model: model.entity.weight + torch.eye(DIM)[0]
    return family


def mixture() -> Family:
    """Translations that are as likely one way as the other are symmetric."""
    family = shifts("mu")
    both = torch.cat([torch.full((DIM,), 2.0), torch.full((DIM,), -2.0)]).repeat(2)

    def put(model: Model, r: int, x: Tensor) -> None:
        write(model, r, mu=x if len(x) > DIM else x.repeat(4), weight=0.0)

    family.put, family.involution = put, lambda model: both
    family.partner = lambda model: shifts("mu").best(model, model.entity.weight, both[:DIM])
    return family


def spreads() -> Family:
    """h - t as wide as r: two entities, each narrow where the other is wide, make it up."""
    family = shifts("mu", half=[0.0] * DIM, sign=-1.0, spread=-40.0)

    def put(model: Model, r: int, x: Tensor) -> None:
        write(model, r, mu=x, spread=-3.0 if x.any() else 3.0)

    def partner(model: Model) -> Tensor:
        mu, spread = model.entity.split(model.entity.weight)
        spread.copy_(torch.tensor([3.0, -3.0]).repeat(HALF))
        return cat([mu, -spread], dim=1)

    family.put, family.partner = put, partner
    return family


def turned(h: Tensor, angle: Tensor) -> Tensor:
    x, y = h[:, :HALF], h[:, HALF:DIM]
    cos, sin = angle.cos(), angle.sin()
    return cat([cos * x - sin * y, sin * x + cos * y, h[:, DIM:]], dim=1)


def turns(put: Callable[[Model, int, Tensor], None], sphere: bool = False) -> Family:
    """Rotations of the coordinates i and n/2 + i, by angles."""
    return Family(
        put,
        lambda model, h, angle: turned(h, angle),
        sample=lambda model, isometric: (torch.rand(HALF).double() - 0.5) * 2 * pi,
        involution=lambda model: torch.full((HALF,), pi, dtype=torch.float64),
        inverse=lambda angle: -angle,
        compose=lambda y, x: x + y,
        sphere=sphere,
    )


def action(model: Model, r: int) -> Tensor:
    """The matrix by which an orthogonal relation acts on rows of entities."""
    Q = model.encode_query(torch.eye(DIM).double(), model.relation.weight[[r]].expand(DIM, -1)).Q
    return (Q / Q[0].norm()).T


def matrices(
    put: Callable[[Model, int, Tensor], None],
    involution: Callable[[Model], Tensor],
    sample: Callable[[Model, bool], Tensor] | None = None,
    sphere: bool = False,
    prepare: Callable[[Model], None] = lambda model: None,
) -> Family:
    """Orthogonal matrices; a random one is that of random parameters."""

    def drawn(model: Model, isometric: bool) -> Tensor:
        model.relation.weight[0].uniform_(-pi, pi)
        return action(model, 0)

    return Family(
        put,
        lambda model, h, M: h @ M.T,
        sample or drawn,
        involution,
        inverse=lambda M: M.T,
        compose=lambda N, M: N @ M,
        sphere=sphere,
        prepare=prepare,
    )


def blocks(M: Tensor, size: int) -> Tensor:
    """The blocks on the diagonal, ``(n / size, size, size)``."""
    return torch.stack([M[i : i + size, i : i + size] for i in range(0, DIM, size)])


def put_so3(model: Model, r: int, M: Tensor) -> None:
    B = blocks(M, 3)
    phi, psi = torch.atan2(B[:, 2, 0], 0 - B[:, 2, 1]), torch.atan2(B[:, 0, 2], B[:, 1, 2])
    write(model, r, phi=phi, theta=B[:, 2, 2].acos(), psi=psi)


def put_su2(model: Model, r: int, M: Tensor) -> None:
    a, b, c, d = (blocks(M, 4)[:, :, 0] * torch.tensor([1, 1, -1, 1])).unbind(1)
    alpha = torch.atan2((b**2 + c**2 + d**2).sqrt(), a)
    write(model, r, alpha=alpha, theta=torch.atan2(b, c.hypot(d)), phi=torch.atan2(c, d))


def put_d4(model: Model, r: int, M: Tensor) -> None:
    B = blocks(M.T, 2)
    cos, sin = B[:, 0, 0], B[:, 1, 0]
    write(model, r, alpha=B.det(), beta_1=cos + sin, beta_2=cos - sin)


def put_quaternion(model: Model, r: int, M: Tensor) -> None:
    model.relation.weight[r] = M[:, : DIM // 4].sum(1)  # what becomes of h = 1


def put_slice(model: Model, r: int, M: Tensor) -> None:
    model.core[r] = M.T
    model.relation.weight[r] = torch.eye(DIM)[r]


def orthogonal(model: Model, isometric: bool) -> Tensor:
    return torch.linalg.qr(torch.randn(DIM, DIM).double())[0]


def mirror(model: Model) -> Tensor:
    Q = orthogonal(model, True)
    return Q @ torch.diag(torch.tensor([1.0, -1.0]).repeat(HALF).double()) @ Q.T


def minus(model: Model) -> Tensor:
    return -torch.eye(DIM).double()


def half_turn(model: Model) -> Tensor:
    return torch.diag(torch.tensor([1.0, -1.0, -1.0]).repeat(DIM // 3).double())


def affine(mirrors: bool = True) -> Family:
    """σ x + μ: isometries where |σ| = 1. A negative σ reverses the scales of an entity."""

    def put(model: Model, r: int, f: tuple[Tensor, Tensor]) -> None:
        copies = model.relation.parts["mu"] // DIM
        write(model, r, mu=f[0].repeat(copies), sigma=f[1].repeat(copies))

    def sample(model: Model, isometric: bool) -> tuple[Tensor, Tensor]:
        sigma = torch.ones(DIM) if isometric else torch.rand(DIM) + 0.5
        if mirrors:
            sigma[::3] *= -1
        return torch.randn(DIM).double(), sigma.double()

    def best(model: Model, h: Tensor, f: tuple[Tensor, Tensor]) -> Tensor:
        mu, sigma = f
        if hasattr(model, "core"):  # the mean of several functions' images, for each of them
            means, scales = h.unflatten(1, (2, -1, DIM)).unbind(1)
            t = torch.stack([sigma * means + mu, (sigma * scales).abs()], dim=1)
            return t.mean(2, keepdim=True).expand(-1, -1, model.options.components, -1).flatten(1)
        scales = sigma[:, None].abs() * h[:, DIM:].unflatten(1, (-1, DIM)).mT
        scales = torch.where(sigma[:, None] < 0, scales.flip(-1), scales).mT
        return cat([sigma * h[:, :DIM] + mu, scales.flatten(1)], dim=1)

    return Family(
        put,
        best,
        sample,
        involution=lambda model: (torch.randn(DIM).double(), -torch.ones(DIM).double()),
        inverse=lambda f: (-f[0] / f[1], 1 / f[1]),
        compose=lambda g, f: (g[1] * f[0] + g[0], g[1] * f[1]),
    )


def planes() -> Family:
    """σ x + μ of complex numbers: isometries where |σ| = 1; the scales take |σ|."""

    def put(model: Model, r: int, f: tuple[Tensor, Tensor]) -> None:
        mu, sigma = f
        write(model, r, re=sigma.real, im=sigma.imag, mu_re=mu.real, mu_im=mu.imag)

    def drawn() -> Tensor:
        return torch.complex(torch.randn(HALF).double(), torch.randn(HALF).double())

    def sample(model: Model, isometric: bool) -> tuple[Tensor, Tensor]:
        sigma = drawn()
        return drawn(), sigma / sigma.abs() if isometric else sigma

    def best(model: Model, h: Tensor, f: tuple[Tensor, Tensor]) -> Tensor:
        x, y, scales = h.split(HALF, dim=1)
        image = f[1] * torch.complex(x, y) + f[0]
        return cat([image.real, image.imag, f[1].abs() * scales], dim=1)

    return Family(
        put,
        best,
        sample,
        involution=lambda model: (drawn(), -torch.ones_like(drawn())),
        inverse=lambda f: (-f[0] / f[1], 1 / f[1]),
        compose=lambda g, f: (g[1] * f[0] + g[0], g[1] * f[1]),
    )


def spaces() -> Family:
    """x ⊗ σ + μ of quaternions: isometries where |σ| = 1; the scales take |σ|."""

    def put(model: Model, r: int, f: tuple[Tensor, Tensor]) -> None:
        model.relation.weight[r] = cat([f[1].flatten(), f[0].flatten()])

    def drawn() -> Tensor:
        return torch.randn(4, DIM // 4).double()

    def sample(model: Model, isometric: bool) -> tuple[Tensor, Tensor]:
        sigma = drawn()
        return drawn(), normalize(sigma, dim=0) if isometric else sigma

    def best(model: Model, h: Tensor, f: tuple[Tensor, Tensor]) -> Tensor:
        image = hamilton(h[:, :DIM].unflatten(1, (4, -1)), f[1]) + f[0]
        return cat([image.flatten(1), f[1].norm(dim=0) * h[:, DIM:]], dim=1)

    def one() -> Tensor:
        return torch.eye(4)[:1].T.expand(4, DIM // 4).double()

    def inverse(f: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        back = (2 * one() - 1) * f[1] / f[1].square().sum(0)
        return -hamilton(f[0], back), back

    return Family(
        put,
        best,
        sample,
        involution=lambda model: (drawn(), -one()),
        inverse=inverse,
        compose=lambda g, f: (hamilton(f[0], g[1]) + g[0], hamilton(f[1], g[1])),
    )


def scalings(**given: Any) -> Family:
    """σ x of scales alone."""
    return Family(
        lambda model, r, s: write(model, r, sigma=s),
        lambda model, h, s: s * h,
        sample=lambda model, isometric: torch.rand(DIM).double() + 0.5,
        compose=lambda y, x: x * y,
        **given,
    )


Boxes = tuple[Tensor, Tensor, Tensor, Tensor]


def boxes() -> Family:
    """Two boxes, which change places for the inverse; the best answer puts both in the middle."""

    def put(model: Model, r: int, x: Boxes) -> None:
        names = ("head_centre", "head_size", "tail_centre", "tail_size")
        write(model, r, **dict(zip(names, x, strict=True)))

    def sample(model: Model, isometric: bool) -> Boxes:
        return tuple(torch.randn(4, DIM).double())

    return Family(
        put,
        lambda model, h, x: cat([x[2] - h[:, DIM:], x[0] - h[:, :DIM]], dim=1),
        sample,
        involution=lambda model: sample(model, True)[:2] * 2,
        inverse=lambda x: x[2:] + x[:2],
    )


def attention() -> Family:
    """Even attention projects each plane onto a line; then it may be turned round, or not."""

    def put(model: Model, r: int, sign: Tensor) -> None:
        angle = (1 - sign) * pi / 2
        write(model, r, theta=angle, phi=angle, context=0.0, mu=0.0, curvature=0.0)

    def best(model: Model, h: Tensor, sign: Tensor) -> Tensor:
        return cat([sign * h[:, :HALF], torch.zeros_like(h[:, HALF:])], dim=1)

    return Family(
        put,
        best,
        sample=lambda model, isometric: torch.randn(HALF).sign().double(),
        compose=lambda y, x: x * y,
    )


ORDER = 6


def filtered() -> Family:
    """HypER's filters pick coordinates, its projection permutes them: powers of a cycle."""

    def prepare(model: Model) -> None:
        for layer in (model.filters, model.project.full):
            layer.weight.zero_()
            layer.bias.zero_()
        for g in range(ORDER):
            for i in range(3):  # the filter of one channel sees coordinates 4i to 4i + 3
                model.filters.weight[(3 * g + i) * 9 + 4 * i, g] = 1
                for p in range(4):
                    to = (4 * i + p + g * DIM // ORDER) % DIM
                    model.project.full.weight[to, (3 * g + i) * 4 + p] = 1

    def put(model: Model, r: int, g: int) -> None:
        model.relation.weight[r] = torch.eye(DIM)[g]

    def best(model: Model, h: Tensor, g: int) -> Tensor:
        e = h[:, :-1]
        t = normalize(e.relu().roll(g * DIM // ORDER, 1)) * e.norm(dim=1, keepdim=True)
        return cat([t, h[:, -1:]], dim=1)

    steps = iter([1, 2, 1] * 9)
    return Family(
        put,
        best,
        sample=lambda model, isometric: next(steps),
        compose=lambda y, x: (x + y) % ORDER,
        sphere=True,
        prepare=prepare,
    )


def put_complex(model: Model, r: int, angle: Tensor) -> None:
    write(model, r, re=angle.cos(), im=angle.sin())


def spins() -> Family:
    """Turns of locations; the scales stay."""

    def best(model: Model, h: Tensor, angle: Tensor) -> Tensor:
        return cat([turned(h[:, :DIM], angle), h[:, DIM:]], dim=1)

    return replace(turns(put_complex, sphere=True), best=best)


def put_phase(model: Model, r: int, angle: Tensor) -> None:
    write(model, r, phase=angle)


def put_roth(model: Model, r: int, angle: Tensor) -> None:
    write(model, r, theta=angle, mu=0.0, curvature=0.0)


def put_rescal(model: Model, r: int, M: Tensor) -> None:
    write(model, r, R=M.T.flatten())


FAMILIES: dict[str, Callable[[], Family]] = {
    **dict.fromkeys(
        ("transe", "transe norm=l1", "transe norm=l2", "nfe-1-mu"), lambda: shifts("mu")
    ),
    **dict.fromkeys(
        ("toruse", "toruse norm=l2", "toruse norm=el2"), lambda: shifts("angle", [0.5] * DIM)
    ),
    "mobiuse": lambda: shifts("mu", [0.0] * HALF + [0.5] * HALF),
    "manifolde": manifold,
    "transg": mixture,
    "kg2e": spreads,
    "kg2e divergence=el": lambda: shifts("mu", sign=-1.0, spread=-40.0),
    "rotate": lambda: turns(put_phase),
    "rotate norm=squared-l2": lambda: turns(put_phase),
    "complex": lambda: turns(put_complex, sphere=True),
    "complex-flow": spins,
    "roth": lambda: turns(put_roth),
    "atth": attention,
    "nage-so3": lambda: matrices(put_so3, half_turn),
    "nage-so3 norm=squared-l2": lambda: matrices(put_so3, half_turn),
    "nage-su2": lambda: matrices(put_su2, minus),
    "nage-su2 norm=squared-l2": lambda: matrices(put_su2, minus),
    "dihedral": lambda: matrices(put_d4, minus, sphere=True),
    "quate": lambda: matrices(put_quaternion, minus, sphere=True),
    "rescal": lambda: matrices(put_rescal, mirror, orthogonal, sphere=True),
    "tucker": lambda: matrices(put_slice, mirror, orthogonal, sphere=True),
    "distmult": lambda: scalings(involution=lambda model: -torch.ones(DIM).double()),
    "nfe-1-sigma": scalings,
    "nfe-1-complex": planes,
    "nfe-1-quaternion": spaces,
    **dict.fromkeys(("nfe-point", "nfe-1", "nfe-2", "nfe-3", "tucker-flow"), affine),
    **dict.fromkeys(("nfe-k", "nfe-k degree=2", "nfe-k degree=3"), affine),
    "nfe-2 form=paper": lambda: affine(mirrors=False),
    "boxe": boxes,
    "hyper": filtered,
}


def swapped(model: Model, family: Family, r: int, element: Any) -> Tensor:
    """f(t, r, h) at (h, t); for KL D(f_h, f_r ∘ f_t)."""
    if not isinstance(getattr(model, "D", None), KullbackLeibler):
        return scores(model, r).T
    query = model.D.encode_query(model.flow(model.entity.weight))
    keys = model.encode_keys(family.best(model, model.entity.weight, element))
    return query.Q @ keys.K.T + query.a[:, None] + keys.b


def differ(a: Tensor, b: Tensor) -> bool:
    return bool((a - b).abs().max() > 1e-3)


# --- arguments why no relation keeps a rule ------------------------------------------------------


def translations_are_not_symmetric(model: Model) -> None:
    """f(h, r, h + r) is the maximum, f(h + r, r, h) only where 2r = 0; then h is its own answer."""
    S = scores(model, 0)
    assert differ(S, S.T)
    model.relation.weight.zero_()
    S = scores(model, 0)
    assert (S.diagonal()[:, None] >= S).all()


def scales_are_not_symmetric(model: Model) -> None:
    """Equal scores take h to |r||r'| h, and distances to themselves: |r| = 1, h its own answer."""
    S = scores(model, 0)
    assert differ(S, S.T)
    model.relation.weight[0].sign_()
    S = scores(model, 0)
    close(S, S.T, 1e-12)
    assert (S.diagonal()[:, None] >= S).all()


def scales_have_no_inverse(model: Model) -> None:
    """(|r||h| - |t|)² = (|r'||t| - |h|)² needs |r| = |r'| = 1, and all such r are symmetric."""
    write(model, 1, sigma=1 / model.relation.weight[0])
    assert differ(scores(model, 0), scores(model, 1).T)
    scales_are_not_symmetric(model)


def print_is_not_symmetric(model: Model) -> None:
    """The terms μσ of h and of t agree for r_σ = 1 only, then r_μ = 0, and h is its own answer."""
    for sigma in (-1.0, 0.7):
        write(model, 0, mu=0.0, sigma=sigma)
        S = scores(model, 0)
        assert differ(S, S.T)
    write(model, 0, mu=0.3, sigma=1.0)
    S = scores(model, 0)
    assert differ(S, S.T)
    write(model, 0, mu=0.0)
    S = scores(model, 0)
    close(S, S.T, 1e-12)
    assert (S.diagonal()[:, None] >= S - 1e-12).all()


def likelihood_is_not_symmetric(model: Model) -> None:
    """Only r_μ = 0; -log v is convex, so f(h, r, t) is at most the mean of f(h, r, h), f(t, r, t).

    Of two entities one prefers itself, then.
    """
    S = scores(model, 0)
    assert differ(S, S.T)
    write(model, 0, mu=0.0)
    S = scores(model, 0)
    close(S, S.T, 1e-12)
    own = S.diagonal()
    assert ((own[:, None] + own) / 2 >= S - 1e-12).all()


def softplus_is_no_inverse(model: Model) -> None:
    """Means ask for r_σ r'_σ = 1, deviations for s(r_σ) s(r'_σ) = 1: never both.

    For the best answer is N(r_σ h_μ + r_μ, s(r_σ) s(h_σ)), and r' is to lead back from it.
    """
    h, (mu, sigma) = model.entity.weight, model.relation.split(model.relation.weight[0])
    deviation = softplus(sigma) * softplus(h[:, DIM:])
    t = cat([sigma * h[:, :DIM] + mu, deviation.expm1().log()], dim=1)
    is_best(model, h, 0, t, sphere=False)
    x = torch.logspace(-3, 3, 1000).double()
    assert (softplus(x) * softplus(1 / x) > 1.7).all()
    assert (softplus(-x) * softplus(-1 / x) < 0.1).all()


def softplus_is_not_closed(model: Model) -> None:
    """Means ask for the scales x^k of r, r ∘ r, …, deviations for s(x^k) = s(x)^k: for no x."""
    softplus_is_no_inverse(model)
    x, k = torch.linspace(-3, 3, 2001).double()[:, None], torch.arange(1, 9)
    assert ((softplus(x**k) - softplus(x) ** k).abs().amax(1) > 0.05).all()


def networks_are_not_linear(model: Model) -> None:
    """f(h, r, t) = q(h)ᵀ t is linear in t, q'(t)ᵀ h was to be; but q' ≥ 0, and linear only as 0."""
    e = model.entity.weight
    q, opposite = (
        model.encode_query(s * e, model.relation.weight[:1].expand(E, -1)).Q for s in (1, -1)
    )
    assert (q >= 0).all()
    assert (opposite >= 0).all()
    assert q.any()
    S = scores(model, 0)
    assert differ(S, S.T)


def long_heads_have_one_answer(model: Model) -> None:
    """A relation only adds to what comes before the first ReLU: for long heads all answer alike."""
    long = 1e9 * model.entity.weight
    q, other = (
        normalize(model.encode_query(long, model.relation.weight[[r] * E]).Q) for r in (0, 1)
    )
    close(q, other, 1e-6)
    near, far = (
        model.encode_query(model.entity.weight, model.relation.weight[[r] * E]).Q for r in (0, 1)
    )
    assert differ(near, far)


def attention_forgets_a_sign(model: Model) -> None:
    """Some h and -h have all their answers in common, so no r' can lead back from these to both.

    Where R h = -S h, attention weighs the two by α and 1 - α for h, by 1 - α and α for -h.
    """
    theta, phi, *_ = model.relation.split(model.relation.weight[0])
    length = torch.randn(E, HALF).double()
    across = (phi - theta + pi) / 2
    h = torch.zeros_like(model.entity.weight)
    h[:, :DIM] = cat([length * across.cos(), length * across.sin()], dim=1)
    close(scores(model, 0, h, model.entity.weight), scores(model, 0, -h, model.entity.weight), 1e-9)
    S = scores(model, 0)
    assert differ(S, S.T)


def products_are_symmetric(model: Model) -> None:
    """h r t is t r h: every relation is symmetric."""
    for r in range(R):
        close(scores(model, r), scores(model, r).T, 1e-12)


def bumps_do_not_compose(model: Model) -> None:
    """The best answer's position follows the bump of a; after two relations it follows a itself."""
    family, a = boxes(), model.entity.weight
    x, y = family.sample(model, False), family.sample(model, False)
    for r, element in enumerate((x, y)):
        family.put(model, r, element)
    b = family.best(model, a, x)
    c = family.best(model, b, y)
    is_best(model, a, 0, b, sphere=False)
    is_best(model, b, 1, c, sphere=False)
    apart = a[1:] - a[0]
    close((b[1:] - b[0])[:, :DIM], -apart[:, DIM:], 1e-12)
    close((c[1:] - c[0])[:, :DIM], apart[:, :DIM], 1e-12)


NO: dict[tuple[str, str], Callable[[Model], None]] = {
    **{(n, "symmetry"): translations_are_not_symmetric for n in ("transe", "transe norm=l1")},
    **{(n, "symmetry"): translations_are_not_symmetric for n in ("transe norm=l2", "nfe-1-mu")},
    ("nfe-1-sigma", "symmetry"): scales_are_not_symmetric,
    ("nfe-1-sigma", "inverse"): scales_have_no_inverse,
    ("nfe-2 form=paper", "symmetry"): print_is_not_symmetric,
    ("nfe-3 scale=softplus", "symmetry"): softplus_is_no_inverse,
    ("nfe-3 scale=softplus", "inverse"): softplus_is_no_inverse,
    ("nfe-3 scale=softplus", "composition"): softplus_is_not_closed,
    ("kg2e divergence=el", "symmetry"): likelihood_is_not_symmetric,
    ("atth", "symmetry"): attention_forgets_a_sign,
    ("atth", "inverse"): attention_forgets_a_sign,
    **{(n, rule): networks_are_not_linear for n in ("conve", "hyper") for rule in RULES[::2]},
    ("conve", "composition"): long_heads_have_one_answer,
    ("boxe", "composition"): bumps_do_not_compose,
    **{("distmult", rule): products_are_symmetric for rule in RULES[1:]},
}
"""Why not: each cell with a no."""


@pytest.mark.parametrize("name", ALL_MODELS)
def test_every_cell_has_a_construction_or_an_argument(name):
    cells = {rule: rule in variant(*VARIANTS[name]).card.patterns for rule in RULES}
    assert cells == {rule: (name, rule) not in NO for rule in RULES}
    assert name in FAMILIES or not any(cells[rule] for rule in RULES if rule != "antisymmetry")


def test_tables_name_models_only():
    assert {*FAMILIES, *(name for name, _ in NO)} == {*ALL_MODELS}


def models_with(rule: str) -> list[str]:
    return [name for name in ALL_MODELS if (name, rule) not in NO]


@pytest.mark.parametrize("name", models_with("symmetry"))
def test_symmetry(name):
    model, family = make(name), FAMILIES[name]()
    family.prepare(model)
    element = family.involution(model)
    family.put(model, 0, element)
    S = scores(model, 0)
    close(S, swapped(model, family, 0, element), 1e-9)
    h = model.entity.weight
    t = family.partner(model) if family.partner else family.best(model, h, element)
    both = scores(model, 0, h, t)
    assert (both > torch.maximum(scores(model, 0, h, h), scores(model, 0, t, t)) + 1e-3).any()


@pytest.mark.parametrize("name", models_with("antisymmetry"))
def test_antisymmetry(name):
    model = make(name)
    S = scores(model, 0)
    assert (S - S.T).max() > 1e-2 * S.std()


@pytest.mark.parametrize("name", models_with("inverse"))
def test_inverse(name):
    model, family = make(name), FAMILIES[name]()
    family.prepare(model)
    element = family.sample(model, True)
    back = family.inverse(element)
    family.put(model, 0, element)
    family.put(model, 1, back)
    close(scores(model, 0), swapped(model, family, 1, back), 1e-9)
    assert differ(scores(model, 0), swapped(model, family, 0, element))


@pytest.mark.parametrize("name", models_with("composition"))
def test_composition(name):
    model, family = make(name), FAMILIES[name]()
    family.prepare(model)
    first, second, third = (family.sample(model, False) for _ in range(3))
    two = family.compose(second, first)
    three = family.compose(third, two)
    for r, element in enumerate((first, second, third, two, three)):
        family.put(model, r, element)
    a = model.entity.weight
    b = family.best(model, a, first)
    c = family.best(model, b, second)
    d = family.best(model, c, third)
    for head, r, tail in [(a, 0, b), (b, 1, c), (c, 2, d), (a, 3, c), (a, 4, d)]:
        is_best(model, head, r, tail, family.sphere)
    pairs = enumerate((first, second, third))
    assert any(differ(scores(model, r), swapped(model, family, r, x)) for r, x in pairs)
    assert differ(scores(model, 0, a, b), scores(model, 0, a, c))


@pytest.mark.parametrize(("name", "rule"), NO)
def test_why_not(name, rule):
    NO[name, rule](make(name))
