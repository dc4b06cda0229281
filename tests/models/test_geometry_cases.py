"""What Gaussian, boxed, spherical and hyperbolic models are in their limits, and their rules."""

import math

import pytest
import torch
from cases.uncertain import variance
from scipy import integrate, stats

from graphs import VARIANTS, build
from kgflow.errors import KgflowError
from kgflow.models import Model, entity_entropy, relation_entropy, variant
from kgflow.models.hyperbolic import MAX_NORM, exp_0, mobius_add, squared_distance
from laws import T, close

E, R, DIM = 6, 3, 4
IDS = torch.cartesian_prod(torch.arange(E), torch.arange(R), torch.arange(E)).unbind(1)
OURS = ["kg2e", "kg2e divergence=el", "transg", "boxe", "manifolde", "mobiuse", "roth", "atth"]
every = pytest.mark.parametrize("name", OURS)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def made(name: str, dim: int = DIM, **options) -> Model:
    """A model of random rows."""
    model = build(name, E, R, dim, options).double().eval()
    for table in (model.entity, model.relation):
        table.weight.data.normal_()
    return model


def parts(table) -> dict[str, torch.Tensor]:
    """Views of a table, by part."""
    return dict(zip(table.parts, table.split(table.weight.data), strict=True))


def best_tails(model: Model) -> torch.Tensor:
    return model.score(*IDS).view(E, R, E).argsort(-1)


# --- Gaussians ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kg2e", "kg2e divergence=el"])
def test_kg2e_is_the_integral(name):
    model = made(name, dim=1)
    for h, r, t in [(0, 0, 1), (2, 1, 3), (4, 2, 5), (5, 0, 5)]:
        (a, s), (b, u), (c, v) = (
            row.tolist() for row in (*model.entity.weight[[h, t]], model.relation.weight[r])
        )
        p = stats.norm(a - b, math.sqrt(variance(s) + variance(u)))
        q = stats.norm(c, math.sqrt(variance(v)))
        if name == "kg2e":
            found = -quad(lambda x, p=p, q=q: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), p)
        else:
            found = math.log(quad(lambda x, p=p, q=q: p.pdf(x) * q.pdf(x), p))
        close(model.score(*torch.tensor([[h], [r], [t]])), [found], 1e-6)


def quad(f, p) -> float:
    low, high = p.mean() - 12 * p.std(), p.mean() + 12 * p.std()
    return integrate.quad(f, low, high, epsabs=1e-12, limit=200)[0]


def test_a_divergence_is_none_where_the_difference_is_the_relation():
    model = made("kg2e")
    entity, relation = parts(model.entity), parts(model.relation)
    twice_the_variance(entity["spread"], relation["spread"])
    relation["mu"][0] = entity["mu"][0] - entity["mu"][1]
    close(model.score(*torch.tensor([[0], [0], [1]])), [0.0], 1e-12)
    assert (model.score(*IDS) <= 1e-12).all()


def test_variances_stay_within_their_bounds_and_keep_a_gradient():
    model = made("kg2e divergence=el").float()
    spread = parts(model.entity)["spread"]
    spread.copy_(torch.linspace(-4, 4, spread.numel()).view_as(spread))
    flow = model.flow(model.entity.weight)
    v = flow.f.sigma.square()
    assert 0.05 < v.min() < v.max() < 5
    v.sum().backward()
    assert (model.entity.weight.grad[:, DIM:] > 0).all()


def test_one_meaning_and_one_variance_order_tails_as_transe():
    transg, transe = made("transg", components=1), build("transe", E, R, DIM).double()
    for spread in (-50.0, 0.7):  # as small as can be, and larger
        parts(transg.entity)["spread"].fill_(spread)
        transe.entity.weight.data = parts(transg.entity)["mu"].clone()
        transe.relation.weight.data = parts(transg.relation)["mu"].clone()
        close(transg.score(*IDS) * 2 * variance(spread), transe.score(*IDS), 1e-10)
        assert torch.equal(best_tails(transg), best_tails(transe))


def test_equal_meanings_are_one():
    many, one = made("transg", components=3), made("transg", components=1)
    one.entity.weight.data = many.entity.weight.data
    parts(many.relation)["mu"].copy_(parts(one.relation)["mu"].repeat(1, 3))
    close(many.score(*IDS), one.score(*IDS), 1e-12)


@pytest.mark.parametrize("components", [0, -2])
def test_a_relation_has_a_component(components):
    with pytest.raises(KgflowError, match=f"'model.components' is {components}"):
        build("transg", 5, 4, 8, {"components": components})


@pytest.mark.parametrize(
    ("name", "copies"), [("kg2e", 1), ("kg2e divergence=el", 1), ("transg", DIM)]
)
def test_the_entropy_is_the_gaussians(name, copies):
    """Over that of the standard normal, in nats."""
    model = made(name)
    spread = parts(model.entity)["spread"].tolist()
    expected = [
        sum(
            stats.norm(0, math.sqrt(variance(s))).entropy() - stats.norm(0, 1).entropy()
            for s in row * copies
        )
        for row in spread
    ]
    close(entity_entropy(model), expected, 1e-10)
    assert relation_entropy(model) is None


@pytest.mark.parametrize("name", ["boxe", "manifolde", "mobiuse", "roth", "atth"])
def test_points_have_no_entropy(name):
    assert entity_entropy(made(name)) is None


# --- boxes and spheres ----------------------------------------------------------------------------


def test_a_point_inside_its_box_scores_better_than_outside():
    model = build("boxe", 3, 1, 1).double()
    model.relation.weight.data = T([[0.0, 2.0, 0.0, 2.0]])  # [-1, 1], twice
    # Two tails within their box, one out of it; all at the bump 0.
    model.entity.weight.data = T([[0.0, 0.0], [0.9, 0.0], [1.1, 0.0]])
    scores = model.score(*torch.tensor([[0, 0, 0], [0, 0, 0], [0, 1, 2]]))
    close(scores, [0.0, -0.9 / 3, -(1.1 * 3 - (3 - 1 / 3))], 1e-12)
    assert scores[0] > scores[1] > scores[2]
    # A step over the rim costs w² times a step before it.
    model.entity.weight.data = T([[0.0, 0.0], [1 - 1e-6, 0.0], [1 + 1e-6, 0.0]])
    before, after = model.score(*torch.tensor([[0, 0], [0, 0], [1, 2]])) + 1 / 3
    close(after / before, -9, 1e-4)


def test_a_bump_brings_the_other_into_its_box():
    model = build("boxe", 2, 1, 1).double()
    model.relation.weight.data = T([[5.0, 1.0, 0.0, 1.0]])
    model.entity.weight.data = T([[0.0, 0.0], [0.0, 5.0]])  # the tail bumps the head to 5
    close(model.score(*torch.tensor([[0, 0], [0, 0], [1, 0]]))[0], 0.0, 1e-12)
    assert model.score(*torch.tensor([[0], [0], [0]])) < -1


def test_no_radius_is_transe_squared():
    model, transe = made("manifolde"), build("transe", E, R, DIM).double()
    parts(model.relation)["radius"].zero_()
    transe.entity.weight.data = model.entity.weight.data
    transe.relation.weight.data = parts(model.relation)["mu"].clone()
    close(model.score(*IDS), -transe.score(*IDS).square(), 1e-10)


def test_tails_on_the_sphere_score_best():
    model = made("manifolde")
    entity, relation = parts(model.entity), parts(model.relation)
    way = torch.randn(DIM, dtype=torch.float64)
    entity["mu"][1] = entity["mu"][0] + relation["mu"][0] + 1.7 * way / way.norm()
    relation["radius"][0] = -1.7
    close(model.score(*torch.tensor([[0], [0], [1]])), [0.0], 1e-12)
    assert (model.score(*IDS) <= 0).all()


# --- rings ----------------------------------------------------------------------------------------


def test_without_a_twist_the_ring_is_a_torus():
    model = made("mobiuse", twist=0.0)
    h, r, t = IDS
    gap = model.entity.weight[h] + model.relation.weight[r] - model.entity.weight[t]
    close(model.score(h, r, t), -(gap - gap.round()).abs().sum(-1), 1e-12)


def test_one_turn_is_the_opposite_side_and_two_are_none():
    model, moved = made("mobiuse"), made("mobiuse")
    moved.load_state_dict(model.state_dict())
    moved.relation.weight.data += T([1, 1, 0, 0])
    assert (model.score(*IDS) - moved.score(*IDS)).abs().max() > 0.1
    moved.relation.weight.data += T([0, 0, -0.5, 0.5])
    close(moved.score(*IDS), model.score(*IDS), 1e-12)
    moved.relation.weight.data += T([1, 1, 0.5, 0.5])
    close(moved.score(*IDS), model.score(*IDS), 1e-12)


def test_the_way_around_a_ring_is_a_metric():
    """d(x, x) = 0, symmetric, with the triangle's inequality."""
    model = made("mobiuse", twist=1 / 3)
    model.relation.weight.data.zero_()
    d = -model.score(*IDS).view(E, R, E)[:, 0]
    close(d.diagonal(), torch.zeros(E, dtype=torch.float64), 1e-12)
    close(d, d.T, 1e-12)
    assert (d[:, None] <= d[:, :, None] + d[None] + 1e-12).all()


# --- hyperbolic balls -----------------------------------------------------------------------------


def hyperbolic(x, v, c):
    return squared_distance(x.square().sum(-1), v.square().sum(-1), (x * v).sum(-1), c[..., 0])


def test_the_distance_is_that_of_the_mobius_difference():
    c = T([[0.3], [1.0], [2.5]])
    u, v = torch.randn(2, 3, DIM, dtype=torch.float64) / 2
    x, y = exp_0(u, c), exp_0(v, c)
    gap = mobius_add(-x, y, c).norm(dim=-1)
    root = c[..., 0].sqrt()
    close(hyperbolic(x, v, c).sqrt(), 2 / root * (root * gap).atanh(), 1e-10)


def test_a_flat_ball_is_euclidean():
    """Up to the ball's factor of 2 at the origin."""
    u, v = torch.randn(2, 5, DIM, dtype=torch.float64)
    for c, error in ((1e-4, 1e-2), (1e-8, 1e-6)):
        curvature = torch.full((5, 1), c, dtype=torch.float64)
        x = exp_0(u, curvature)
        close(hyperbolic(x, v, curvature), 4 * (u - v).square().sum(-1), error)
        close(mobius_add(x, exp_0(v, curvature), curvature), u + v, error)


def test_distances_stay_finite_and_differentiable_at_the_origin_the_meeting_and_the_rim():
    for scale in (0.0, 1e-30, 1e-4, 1.0, 30.0, 1e4):
        for kappa in (-30.0, 0.0, 5.0):
            model = build("atth", E, R, DIM)
            model.entity.weight.data.normal_().mul_(scale)
            model.relation.weight.data.normal_().mul_(scale)
            parts(model.relation)["curvature"].fill_(kappa)
            query, keys = model.query(IDS[0], IDS[1]), model.keys(torch.arange(E))
            for scores in (model.score(*IDS), model.interaction(query.Q, keys.K)):
                model.zero_grad()
                scores.sum().backward(retain_graph=True)
                assert scores.isfinite().all()
                for table in (model.entity, model.relation):
                    assert table.weight.grad.isfinite().all()


def test_single_precision_tells_points_near_the_rim_apart():
    c = torch.ones(1, 1)
    v = torch.tensor([[9.0, 0.0], [9.0, 1.0]])
    x = exp_0(v, c)
    assert x.norm(dim=-1).max() <= MAX_NORM + 1e-6
    single, double = (
        hyperbolic(x.to(d), v.flip(0).to(d), c.to(d)) for d in (v.dtype, torch.double)
    )
    close(single.double(), double, 1e-2 * double.max())
    close(hyperbolic(x, v, c), torch.zeros(2), 0.1)


def test_attention_that_sees_only_the_rotation_is_roth():
    roth, atth = made("roth"), made("atth")
    atth.entity.weight.data = roth.entity.weight.data
    rows, own = parts(roth.relation), parts(atth.relation)
    # The first plane is turned by 0 and mirrored to its negative: the context can tell.
    parts(roth.entity)["mu"][:, 0] = parts(roth.entity)["mu"][:, 0].abs() + 0.1
    rows["theta"][:, 0] = 0
    for part in rows:
        own[part].copy_(rows[part])
    own["phi"][:, 0] = math.pi
    own["context"].copy_(T([1e4, 0, 0, 0]).expand(R, DIM))
    close(atth.score(*IDS), roth.score(*IDS), 1e-12)


# --- rules: what a relation alone can do ----------------------------------------------------------


def symmetric(model: Model, r: int) -> None:
    """Make relation r symmetric."""
    relation = parts(model.relation)
    match model.name:
        case "transg":  # there and back
            there, back, *_ = relation["mu"][r].view(model.options.components, DIM)
            back.copy_(-there)
            relation["weight"][r] = T([0, 0, -80, -80])
        case "boxe":
            relation["tail_centre"][r] = relation["head_centre"][r]
            relation["tail_size"][r] = relation["head_size"][r]
        case "manifolde":
            relation["mu"][r] = 0
        case "mobiuse":  # half of a turn, that twice is none
            relation["mu"][r] = T([0, 1, 0.5, 0])
        case "roth":
            relation["theta"][r] = math.pi
            relation["mu"][r] = 0


def opposite(model: Model, r: int, s: int) -> None:
    """Make relation s the inverse of r."""
    relation = parts(model.relation)
    model.relation.weight.data[s] = model.relation.weight.data[r]
    match model.name:
        case "boxe":
            for part in ("centre", "size"):
                relation[f"head_{part}"][s] = relation[f"tail_{part}"][r]
                relation[f"tail_{part}"][s] = relation[f"head_{part}"][r]
        case "roth":
            relation["mu"][[r, s]] = 0
            relation["theta"][s] *= -1
        case _:
            relation["mu"][s] *= -1


def unbiased(name: str) -> Model:
    model = made(name)
    for part, values in parts(model.entity).items():
        if part in ("head", "tail"):
            values.zero_()
    return model


@pytest.mark.parametrize("name", ["transg", "boxe", "manifolde", "mobiuse", "roth"])
def test_a_symmetric_relation(name):
    assert "symmetry" in variant(*VARIANTS[name]).card.patterns
    model, (h, r, t) = unbiased(name), IDS
    symmetric(model, 0)
    there, back = (model.score(*ids)[r == 0] for ids in ((h, r, t), (t, r, h)))
    close(there, back, 1e-12)
    other = model.score(h, r, t)[r == 1] - model.score(t, r, h)[r == 1]
    assert other.abs().max() > 0.1


@pytest.mark.parametrize("name", [name for name in OURS if name != "atth"])
def test_an_inverse_relation(name):
    assert "inverse" in variant(*VARIANTS[name]).card.patterns
    model, (h, r, t) = unbiased(name), IDS
    opposite(model, 0, 1)
    close(model.score(h, r, t)[r == 0], model.score(t, r, h)[r == 1], 1e-12)


@pytest.mark.parametrize("name", ["kg2e", "transg", "manifolde", "mobiuse", "roth"])
def test_a_composed_relation(name):
    """Where r leads to b and s from there to c, one of r and s together leads to c."""
    assert "composition" in variant(*VARIANTS[name]).card.patterns
    model = unbiased(name)
    composed(model)
    close(model.score(*torch.tensor([[0, 1, 0], [0, 1, 2], [1, 2, 2]])), [0.0] * 3, 1e-12)
    assert (model.score(*IDS) <= 1e-12).all()
    assert (model.score(*IDS) < -1e-3).double().mean() > 0.8


def composed(model: Model) -> None:
    """Make relation 2 of 0 and 1, and entity 1 and 2 of entity 0."""
    entity, relation = parts(model.entity), parts(model.relation)
    if model.name == "roth":
        relation["mu"].zero_()
        angles = relation["theta"]
        angles[2] = angles[0] + angles[1]
        turn = torch.polar(torch.ones_like(angles), angles)
        points = torch.complex(*entity["mu"].chunk(2, dim=-1))
        points[1:3] = torch.stack([points[0] * turn[0], points[0] * turn[2]])
        entity["mu"].copy_(torch.cat([points.real, points.imag], dim=-1))
        return
    relation["mu"][2] = relation["mu"][0] + relation["mu"][1]
    sign = -1 if model.name == "kg2e" else 1
    for i in (0, 1):
        entity["mu"][i + 1] = entity["mu"][i] + sign * relation["mu"][i, :DIM]
    match model.name:
        case "kg2e":
            twice_the_variance(entity["spread"], relation["spread"])
        case "transg":  # one meaning for sure
            relation["weight"].copy_(T([0, -800, -800, -800]).expand(R, -1))
        case "manifolde":
            relation["radius"].zero_()


def twice_the_variance(entity: torch.Tensor, relation: torch.Tensor) -> None:
    """One variance for all entities, and for all relations that of a difference of entities."""
    entity.fill_(-1.0)
    share = math.log(2 * variance(-1.0) / 0.05) / math.log(100)
    relation.fill_(math.log(share / (1 - share)))


@every
def test_an_antisymmetric_relation(name):
    """A random relation tells one way from the other."""
    assert "antisymmetry" in variant(*VARIANTS[name]).card.patterns
    model, (h, r, t) = made(name), IDS
    gap = (model.score(h, r, t) - model.score(t, r, h))[h != t]
    assert (gap.abs() > 1e-3).double().mean() > 0.9


@every
def test_rows_are_as_wide_as_they_say(name):
    model = build(name, E, R, 12)
    row = variant(*VARIANTS[name]).card
    assert model.entity.weight.shape[1] == eval(row.entity, {"n": 12})
    assert model.relation.weight.shape[1] == eval(row.relation, {"n": 12})
