"""Orthogonal maps of points are a group, and are refused for a random x0."""

import pytest
import torch

from kgflow.flows import Affine, BlockNorm, Flow, Normal, Point, Translation
from kgflow.models.bilinear import DihEdral
from kgflow.models.nage import so3, su2
from laws import close

ANGLES = torch.linspace(-3, 3, 18, dtype=torch.float64).reshape(3, 3, 2).unbind(0)
FREE = torch.cartesian_prod(*3 * [torch.tensor([-0.5, 0.5], dtype=torch.float64)]).T.unbind(0)

MAPS = {
    "so3": lambda: so3(*ANGLES),
    "su2": lambda: su2(*ANGLES),
    "dihedral": lambda: DihEdral(2, 2, 16).f_relation(*FREE),
}
every = pytest.mark.parametrize("name", MAPS)


def points(f):
    torch.manual_seed(0)
    return torch.randn(f.shape, dtype=torch.float64)


@every
def test_inverse_and_norms(name):
    f = MAPS[name]()
    x = points(f)
    close(f.inverse().forward(f.forward(x)), x, 1e-12)
    close((f @ f.inverse()).forward(x), x, 1e-12)
    close(f.forward(x).norm(dim=-1), x.norm(dim=-1), 1e-12)


@every
def test_blocks_are_orthogonal_with_determinant_one_for_rotations(name):
    blocks = MAPS[name]().blocks
    identity = torch.eye(blocks.shape[-1], dtype=torch.float64).expand_as(blocks)
    close(blocks @ blocks.mT, identity, 1e-12)
    if name != "dihedral":
        close(torch.linalg.det(blocks), torch.ones(blocks.shape[:-2]).double(), 1e-12)


def test_the_signs_give_each_of_the_eight_symmetries_of_the_square():
    blocks = MAPS["dihedral"]().blocks
    found = {tuple(block.flatten().tolist()) for block in blocks}
    corners = [(1, 0, 0, 1), (0, 1, 1, 0)]
    signs = [(a, b) for a in (1, -1) for b in (1, -1)]
    assert found == {(a * p, a * q, b * r, b * s) for p, q, r, s in corners for a, b in signs}


def test_so3_and_su2_do_not_commute():
    for f, g in ((so3(*ANGLES), so3(*ANGLES[::-1])), (su2(*ANGLES), su2(*ANGLES[::-1]))):
        assert (f.blocks @ g.blocks - g.blocks @ f.blocks).abs().max() > 0.1


@every
def test_a_flow_of_a_point_has_a_value_and_one_of_a_variable_is_refused(name):
    f = MAPS[name]()
    x = points(f)
    close(Flow(Point(0.0), f @ Translation(x)).value, f.forward(x), 1e-12)
    random = Flow(Normal(), f @ Affine(x, x))
    for ask in (lambda: random.quantile(x), random.entropy_change, lambda: random.log_prob(x)):
        with pytest.raises(TypeError, match="mixes coordinates"):
            ask()


def test_block_norm_pairwise_and_interaction_and_its_gradient_at_equal_points():
    torch.manual_seed(0)
    Q, K = torch.randn(5, 6).double(), torch.randn(40, 6).double()
    K[0] = Q[0]
    for size in (1, 2, 3, 6):
        D = BlockNorm(size)
        expected = [
            [-sum((q - k).unflatten(0, (-1, size)).norm(dim=1).tolist()) for k in K] for q in Q
        ]
        close(D.pairwise(Q[:, None], K), torch.tensor(expected).double(), 1e-6)
        close(D.interaction(Q, K), D.pairwise(Q[:, None], K), 1e-12)
        for interaction in (D.interaction, lambda Q, K, D=D: D.pairwise(Q[:, None], K)):
            x = Q.clone().requires_grad_()
            interaction(x, K)[0, 0].backward()
            assert (x.grad == 0).all()
