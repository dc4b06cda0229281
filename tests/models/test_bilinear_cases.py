"""What the models of points are of one another, and which relations turn both ways."""

import math

import pytest
import torch

from graphs import build
from kgflow.models import Model
from laws import close

E, R, DIM = 6, 4, 12
IDS = torch.cartesian_prod(torch.arange(E), torch.arange(R), torch.arange(E)).unbind(1)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def filled(name: str, entity, relation) -> Model:
    """A model with the given rows."""
    model = build(name, E, R, DIM).double()
    for table, rows in ((model.entity, entity), (model.relation, relation)):
        assert table.weight.shape == rows.shape
        table.weight.data = rows
    return model


def rows(count: int, width: int = DIM) -> torch.Tensor:
    return torch.randn(count, width, dtype=torch.float64)


def signs(width: int) -> torch.Tensor:
    return rows(R, width).sign()


def same(one: Model, other: Model) -> None:
    close(one.score(*IDS), other.score(*IDS), 1e-12)


def turned(model: Model) -> torch.Tensor:
    """The scores of (t, r, h) in the places of (h, r, t)."""
    h, r, t = IDS
    return model.score(t, r, h)


def test_rotate_by_half_turns_is_distmult_with_signs():
    entity, sign = rows(E), signs(DIM // 2)
    rotate = filled("rotate norm=squared-l2", entity, torch.pi * (sign < 0).double())
    distmult = filled("distmult", entity, torch.cat([sign, sign], dim=1))
    h, _, t = IDS
    length = entity.square().sum(-1)
    close(rotate.score(*IDS), 2 * distmult.score(*IDS) - length[h] - length[t], 1e-12)


def test_rotate_with_one_complex_number_needs_no_square():
    entity, relation = rows(E, 2), rows(R, 1)
    moduli, squared = (
        build(name, E, R, 2).double() for name in ("rotate", "rotate norm=squared-l2")
    )
    for model in (moduli, squared):
        model.entity.weight.data, model.relation.weight.data = entity, relation
    close(-moduli.score(*IDS).square(), squared.score(*IDS), 1e-12)


def test_rotate_on_unit_circles_is_toruse_by_angles():
    turns, r_turns = rows(E, DIM), rows(R, DIM)
    angle = 2 * math.pi * turns
    torus = filled("toruse norm=el2", turns, r_turns)
    rotate = build("rotate norm=squared-l2", E, R, 2 * DIM).double()
    rotate.entity.weight.data = torch.cat([angle.cos(), angle.sin()], dim=1)
    rotate.relation.weight.data = 2 * math.pi * r_turns
    close(torus.score(*IDS), rotate.score(*IDS) / 4, 1e-12)


@pytest.mark.parametrize(
    ("torus", "flat"), [("toruse", "transe norm=l1"), ("toruse norm=l2", "transe")]
)
def test_a_small_piece_of_the_torus_is_flat(torus, flat):
    entity, relation = 0.02 * rows(E), 0.02 * rows(R)
    scale = {"transe norm=l1": 2, "transe": 4}[flat]
    expected = scale * filled(flat, entity, relation).score(*IDS)
    close(filled(torus, entity, relation).score(*IDS), expected, 1e-12)


def test_the_norms_of_transe():
    entity, relation = rows(E), rows(R)
    squared, l2 = (filled(name, entity, relation) for name in ("transe", "transe norm=l2"))
    close(-l2.score(*IDS).square(), squared.score(*IDS), 1e-12)


def test_complex_without_imaginary_parts_is_distmult():
    entity, relation = rows(E, DIM // 2), rows(R, DIM // 2)
    distmult = build("distmult", E, R, DIM // 2).double()
    distmult.entity.weight.data, distmult.relation.weight.data = entity, relation
    pad = torch.nn.functional.pad
    width = (0, DIM // 2)
    same(filled("complex", pad(entity, width), pad(relation, width)), distmult)


def test_complex_relations_real_and_imaginary():
    """A real one is symmetric, an imaginary one turns its sign."""
    entity, parts = rows(E), rows(R, DIM // 2)
    nothing = torch.zeros_like(parts)
    real = filled("complex", entity, torch.cat([parts, nothing], dim=1))
    imaginary = filled("complex", entity, torch.cat([nothing, parts], dim=1))
    close(turned(real), real.score(*IDS), 1e-12)
    close(turned(imaginary), -imaginary.score(*IDS), 1e-12)


def test_complex_by_a_rotation_is_rotate_but_for_the_lengths():
    entity, phase = rows(E), rows(R, DIM // 2)
    bilinear = filled("complex", entity, torch.cat([phase.cos(), phase.sin()], dim=1))
    rotate = filled("rotate norm=squared-l2", entity, phase)
    h, _, t = IDS
    length = entity.square().sum(-1)
    close(rotate.score(*IDS), 2 * bilinear.score(*IDS) - length[h] - length[t], 1e-12)


def test_quate_with_real_relations_is_an_inner_product():
    entity, sign, scale = rows(E), signs(DIM // 4), rows(R, DIM // 4).exp()
    relation = torch.cat([sign * scale, torch.zeros(R, 3 * DIM // 4).double()], dim=1)
    quate = filled("quate", entity, relation)
    same(quate, filled("distmult", entity, torch.cat([sign] * 4, dim=1)))
    close(turned(quate), quate.score(*IDS), 1e-12)


def test_quate_without_j_and_k_is_complex_with_unit_relations():
    entity, phase = rows(E, DIM // 2), rows(R, DIM // 4)
    unit = torch.cat([phase.cos(), phase.sin()], dim=1)
    bilinear = build("complex", E, R, DIM // 2).double()
    bilinear.entity.weight.data, bilinear.relation.weight.data = entity, unit
    pad = torch.nn.functional.pad
    same(filled("quate", pad(entity, (0, DIM // 2)), pad(3 * unit, (0, DIM // 2))), bilinear)


def test_quate_relations_have_no_length():
    entity, relation = rows(E), rows(R)
    same(filled("quate", entity, relation), filled("quate", entity, 7 * relation))


def test_quate_with_a_conjugate_relation_is_the_inverse():
    entity, relation = rows(E), rows(R)
    conjugate = torch.cat([relation[:, : DIM // 4], -relation[:, DIM // 4 :]], dim=1)
    same_way_back = turned(filled("quate", entity, conjugate))
    close(same_way_back, filled("quate", entity, relation).score(*IDS), 1e-12)


def test_rescal_with_diagonal_matrices_is_distmult():
    entity, diagonal = rows(E), rows(R)
    same(
        filled("rescal", entity, torch.diag_embed(diagonal).flatten(1)),
        filled("distmult", entity, diagonal),
    )


def test_rescal_with_a_transposed_matrix_is_the_inverse():
    entity, matrices = rows(E), rows(R, DIM * DIM)
    transposed = matrices.unflatten(1, (DIM, DIM)).mT.flatten(1)
    way_back = turned(filled("rescal", entity, transposed))
    close(way_back, filled("rescal", entity, matrices).score(*IDS), 1e-12)


@pytest.mark.parametrize("name", ["rotate", "rotate norm=squared-l2", "toruse", "toruse norm=l2"])
def test_half_a_turn_is_symmetric(name):
    """While some pairs of different entities have the best score there is."""
    entity = rows(E)
    if name.startswith("rotate"):
        relation, other = torch.pi * torch.ones(R, DIM // 2).double(), -entity[0]
    else:
        relation, other = torch.ones(R, DIM).double() / 2, entity[0] + 0.5
    entity[1] = other
    model = filled(name, entity, relation)
    close(turned(model), model.score(*IDS), 1e-12)
    close(model.score(*torch.tensor([[0, 1], [0, 0], [1, 0]])), [0.0, 0.0], 1e-12)


@pytest.mark.parametrize("name", ["rotate", "rotate norm=squared-l2"])
def test_phases_start_anywhere_on_the_circle(name):
    phase = build(name, 2, 200, 128).relation.weight.detach()
    assert phase.abs().max() <= math.pi
    assert float(phase.std()) == pytest.approx(math.pi / math.sqrt(3), rel=0.03)
