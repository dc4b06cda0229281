"""A model's row of the paper's Table 3."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """What a model is, in symbols: f(h, r, t) = D(f_r ∘ f_h (x0), f_t (x0)).

    A model that is not of this form has a dash for x0 and the functions, and its whole scoring
    function for D.

    The four rules are to hold for all entities, by relations alone and without reciprocal ones. The
    best answer is the best of all conceivable rows; under an inner product, of those as long as a.
    Biases of entities are left aside, and a divergence keeps its direction: D(f_r ∘ f_h, f_t) =
    D(f_h, f_r' ∘ f_t) is what an inverse has to fulfil.

    Args:
        x0: the initial object.
        f_entity: f_h and f_t.
        f_relation: f_r.
        D: the similarity.
        entity: numbers per entity, as an expression in n, the dimension.
        relation: numbers per relation, likewise.
        symmetry: whether f(h, r, t) = f(t, r, h) for some r under which two entities prefer each
            other to themselves.
        antisymmetry: whether f(h, r, t) > f(t, r, h) for some r, h and t.
        inverse: whether f(h, r, t) = f(t, r', h) for some r' and some r that is not symmetric.
        composition: whether some relations, neither all symmetric nor all alike, are closed under
            it: r'' leads from a to where r' leads from where r leads from a, to the best answer.
        year: of the paper.
    """

    x0: str
    f_entity: str
    f_relation: str
    D: str
    entity: str
    relation: str
    symmetry: bool
    antisymmetry: bool
    inverse: bool
    composition: bool
    year: int
