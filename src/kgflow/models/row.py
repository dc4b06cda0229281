"""A model's row of the paper's Table 3."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """What a model is, in symbols: f(h, r, t) = D(f_r ∘ f_h (x0), f_t (x0)).

    A model that is not of this form has a dash for x0 and the functions, and its whole scoring
    function for D.

    Args:
        x0: the initial object.
        f_entity: f_h and f_t.
        f_relation: f_r.
        D: the similarity.
        entity: numbers per entity, as an expression in n, the dimension.
        relation: numbers per relation, likewise.
        symmetry: whether r(h, t) ⇔ r(t, h) can be held for all h and t, by r alone, while the
            model still tells entities apart.
        antisymmetry: whether r(h, t) can be held with r(t, h) denied.
        inverse: whether r'(t, h) ⇔ r(h, t) can be held, by r and r' alone.
        composition: whether r(a, b) ∧ r'(b, c) ⇒ r''(a, c) can be held, by r'' of r and r' alone.
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
