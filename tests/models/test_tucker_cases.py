"""What TuckER and its flows hold within them: DistMult, ComplEx, QuatE, and NFE-1."""

import itertools
import math

import pytest
import torch

from graphs import build
from laws import close

E, R, DIM = 5, 4, 8
IDS = torch.cartesian_prod(torch.arange(E), torch.arange(R), torch.arange(E)).unbind(1)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def distmult(h, r, t):
    return sum(a * b * c for a, b, c in zip(h, r, t, strict=True))


def complex_numbers(x):
    """The first half of the numbers is real parts, the second imaginary ones."""
    half = len(x) // 2
    return [complex(a, b) for a, b in zip(x[:half], x[half:], strict=True)]


def complex_score(h, r, t):
    """ComplEx: Re <h, r, conj t>."""
    rows = zip(*map(complex_numbers, (h, r, t)), strict=True)
    return sum((a * b * c.conjugate()).real for a, b, c in rows)


def hamilton(p, q):
    (a, b, c, d), (e, f, g, h) = p, q
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


def quaternions(x):
    return [x[i : i + 4] for i in range(0, len(x), 4)]


def quate(h, r, t):
    """QuatE for relations of unit length: the inner product of h ⊗ r and t."""
    rows = zip(*map(quaternions, (h, r, t)), strict=True)
    return sum(sum(map(math.prod, zip(hamilton(a, b), c, strict=True))) for a, b, c in rows)


def with_core(core):
    """TuckER in evaluation with this W_ijk, and normalizations that change nothing."""
    model = build("tucker", E, R, DIM).double().eval()
    for table in (model.entity, model.relation):
        table.weight.data.normal_()
    model.core.data = torch.tensor(core, dtype=torch.float64).permute(1, 0, 2)
    for norm in (model.norm_head, model.norm_query):
        norm.variance.fill_(1 - 1e-5)
    return model


@pytest.mark.parametrize("score", [distmult, complex_score, quate])
def test_tucker_holds_other_models_by_a_fixed_core(score):
    """A form that is linear in h, r and t has its values at unit vectors as its core."""
    unit = torch.eye(DIM).tolist()
    core = [[[score(h, r, t) for t in unit] for r in unit] for h in unit]
    assert {x for x in itertools.chain(*itertools.chain(*core)) if x} <= {1, -1}
    model = with_core(core)
    if score is quate:
        relations = model.relation.weight.data.unflatten(1, (-1, 4))
        relations /= relations.norm(dim=-1, keepdim=True)
    e, r = model.entity.weight.tolist(), model.relation.weight.tolist()
    expected = [score(e[h], r[i], e[t]) for h, i, t in zip(*IDS, strict=True)]
    close(model.score(*IDS), expected, 1e-10)


def test_tucker_flow_of_one_function_is_nfe_1():
    flow = build("tucker-flow", E, R, DIM, {"components": 1}).double()
    nfe = build("nfe-1", E, R, DIM).double()
    nfe.load_state_dict({k: v for k, v in flow.state_dict().items() if k != "core"})
    close(torch.nn.functional.softplus(flow.core), torch.ones(1, 1, 1).double(), 1e-6)
    flow.core.data.fill_(math.log(math.e - 1))
    close(flow.score(*IDS), nfe.score(*IDS), 1e-12)


def test_tucker_flow_picks_its_functions_by_the_core():
    """With all weight on one entry of the core it is NFE-1 of those three functions."""
    flow = build("tucker-flow", E, R, DIM, {"components": 3}).double()
    i, j, k = 2, 0, 1
    flow.core.data.fill_(-math.inf)
    flow.core.data[i, j, k] = math.log(math.e - 1)

    def parts(table, component):
        return [part.unflatten(1, (3, DIM))[:, component] for part in table.split(table.weight)]

    nfe = build("nfe-1", E, R, DIM).double()
    nfe.relation.weight.data = torch.cat(parts(flow.relation, j), dim=1).detach()
    heads, tails = (torch.cat(parts(flow.entity, c), dim=1) for c in (i, k))
    h, r, t = IDS
    query, keys = nfe.encode_query(heads[h], nfe.relation(r)), nfe.encode_keys(tails[t])
    close(flow.score(*IDS), nfe.pairwise(query.Q, keys.K) + query.a + keys.b, 1e-12)
