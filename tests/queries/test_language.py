"""Queries as text: trees of them, and errors that point at a place."""

import pytest

import kgflow
from kgflow.errors import KgflowError
from kgflow.queries.build import read_query
from kgflow.queries.language import MAX_PATTERNS, MAX_TEXT, parse_query
from kgflow.queries.tree import (
    SHAPES,
    Anchor,
    Anything,
    Intersection,
    Negation,
    Projection,
    Union,
    children,
    query_text,
    quoted,
    shape_name,
)


@pytest.fixture(scope="module")
def world():
    return kgflow.load("world")


def filled(node, E, R, at=0):
    """A shape with entities and relations, each another one."""
    if isinstance(node, Anchor):
        return Anchor(at % E)
    if isinstance(node, Projection):
        return Projection(filled(node.child, E, R, at + 1), (7 * at + 3) % (2 * R))
    if isinstance(node, Negation):
        return Negation(filled(node.child, E, R, at + 1))
    return type(node)(tuple(filled(c, E, R, 5 * at + 9 * i) for i, c in enumerate(children(node))))


def test_texts_and_their_trees(world):
    R, e, r = len(world.relations), world.entity_id, world.relations.id
    borders, speaks, money = r("borders"), r("speaks"), r("has_currency")
    france, peru = Anchor(e("France")), Anchor(e("Peru"))
    near = Projection(france, borders)
    for text, tree in {
        "France borders ?x": near,
        "?x borders France": Projection(france, borders + R),
        "France borders ?x . ?x has_currency ?c": Projection(near, money),
        "SELECT ?c WHERE { ?x has_currency ?c . France borders ?x . }": Projection(near, money),
        "select distinct $y { 'France' borders ?y, ?y ; has_currency ?y }": Intersection(
            (near, near, Projection(france, money))
        ),
        "France borders ?x. Peru borders ?x.": Intersection((near, Projection(peru, borders))),
        "{France borders ?x} UNION {Peru borders ?x} ?x speaks ?l": Projection(
            Union((near, Projection(peru, borders))), speaks
        ),
        "France borders ?x FILTER NOT EXISTS {?x speaks ?l}": Intersection(
            (near, Negation(Projection(Anything(), speaks + R)))
        ),
        "France borders ?x MINUS {Peru borders ?x}": Intersection(
            (near, Negation(Projection(peru, borders)))
        ),
        "?x borders ?y": Projection(Anything(), borders),
        "{ { France borders ?x } }": near,
    }.items():
        assert read_query(text, world) == tree, text


def test_the_last_variable_outside_of_negations_is_asked_for():
    assert parse_query("a r ?x . ?x s ?y MINUS { ?y t ?z }").target.text == "y"
    assert parse_query("SELECT ?x { a r ?x . ?x s ?y }").target.text == "x"


@pytest.mark.parametrize("name", SHAPES)
def test_a_tree_survives_its_text(world, name):
    tree = filled(SHAPES[name], len(world.entities), len(world.relations))
    found = read_query(query_text(tree, world), world)
    assert found == tree
    assert shape_name(found) == shape_name(tree) == name


def test_prefixes_and_iris():
    text = "PREFIX ex: <http://e.org/> ex:France <http://e.org/borders> ?x . other:Peru a ?x"
    one, two = parse_query(text).group.patterns
    assert (one.head.text, one.relation.text) == ("http://e.org/France", "http://e.org/borders")
    assert two.head.text == "other:Peru"


def test_names_are_quoted_where_they_must_be():
    for name in (
        'a "b" c',
        "minus",
        "St.",
        "?x",
        "a{b}",
        "tab\tname",
        "naïve",
        "back\\slash",
        "a:b",
    ):
        (term,) = {p.head.text for p in parse_query(f"{quoted(name)} r ?x").group.patterns}
        assert term == name


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "query:1:1: the query has no variable"),
        ("France", "query:1:7: the pattern ends before its relation"),
        ("France borders", "query:1:15: the pattern ends before its tail"),
        ("France borders ?x ?x", "query:1:19: write a dot before this pattern"),
        ("Frence borders ?x", "query:1:1: unknown entity 'Frence'; did you mean"),
        ("France border ?x", "query:1:8: unknown relation 'border'; did you mean borders"),
        ("France borders\n ?x . ?x bordre ?y", "query:2:10: unknown relation 'bordre'"),
        ("France ?r ?x", "query:1:8: the relation ?r is a variable"),
        ("France borders Spain", "query:1:1: the query has no variable"),
        ("France borders Spain . Peru borders ?x", "query:1:1: this pattern has no variable"),
        ("?x borders ?x", "query:1:1: ?x is head and tail"),
        ("?x borders ?y . ?y borders ?z . ?z borders ?x", "is reached in two ways"),
        ("?x borders ?y . ?x speaks ?y", "is reached in two ways"),
        ("France borders ?x . Peru speaks ?y", "query:1:1: this pattern is not connected with ?y"),
        ("France borders ? ", "query:1:16: this variable has no name"),
        ('"France borders ?x', "query:1:1: this quotation mark is not closed"),
        ("<France borders ?x", "query:1:1: this < is not closed"),
        ("{ France borders ?x", "query:1:1: this { is not closed"),
        ("France borders ?x }", "query:1:19: there is no { that this } closes"),
        ("France borders ?x MINUS {}", "query:1:25: this group is empty"),
        ("France borders ?x MINUS Peru", "query:1:25: write the patterns of this group in { }"),
        ("France borders ?x FILTER (?x > 3)", "query:1:19: FILTER is not expected here"),
        ("France borders ?x OPTIONAL { ?x speaks ?y }", "query:1:19: OPTIONAL is not supported"),
        ("SELECT * { France borders ?x }", "query:1:8: SELECT takes one variable"),
        ("SELECT ?x ?y { France borders ?x }", "query:1:11: SELECT takes one variable"),
        ("SELECT ?q { France borders ?x }", "query:1:8: ?q is in no pattern"),
        ("SELECT ?x WHERE France borders ?x", "query:1:17: write { after WHERE"),
        ("PREFIX ex <http://e/> France borders ?x", "query:1:8: write a prefix as"),
        ("MINUS {France borders ?x}", "the query has no variable"),
        (
            "France borders ?x . {?x borders ?y} UNION {?x speaks ?y} ?y borders ?z",
            "query:1:21: this UNION shares ?x and ?y",
        ),
        (
            "France borders ?x . {Peru borders ?y} UNION {?y borders Peru}",
            "query:1:1: this pattern is not",
        ),
        ("{France borders ?x} UNION {Peru borders ?y} ?x speaks ?z", "query:1:27: this part"),
        ("France borders ?x MINUS {Peru borders ?y}", "shares no variable"),
    ],
)
def test_errors_point_at_the_place(world, text, sentence):
    with pytest.raises(KgflowError) as error:
        read_query(text, world)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_large_queries_are_refused(world):
    chain = " . ".join(f"?v{i} borders ?v{i + 1}" for i in range(MAX_PATTERNS))
    assert len(read_query(f"France borders ?v0 . {chain[: chain.rindex(' . ')]}", world).variable)
    for text, sentence in (
        (f"France borders ?v0 . {chain}", "more than 64 patterns"),
        ("{" * 5000 + "France borders ?x", "nested more than 64 deep"),
        ("x" * (MAX_TEXT + 1), "shorten it"),
    ):
        with pytest.raises(KgflowError, match=sentence):
            read_query(text, world)
