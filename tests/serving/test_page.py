"""The explorer page in a real browser."""

import threading
import time
from contextlib import contextmanager
from urllib.parse import quote

import pytest

import kgflow
from browser import Visit

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")

QUESTION = "{France borders ?x} UNION {Peru borders ?x} ?x speaks ?l MINUS {Spain speaks ?l}"
TIMEOUT = 60_000
"""Milliseconds; plots take long on a busy machine."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "world"
    return kgflow.train("world", dim=16, epochs=6, lr=0.05, out=out)


@contextmanager
def serving(run, token=None):
    """The address of a server in a thread of its own."""
    import uvicorn

    from kgflow.serving.app import create_app
    from kgflow.serving.server import listen, server_url

    listening = listen("127.0.0.1", 0)
    config = uvicorn.Config(create_app(run, token=token), log_level="warning")
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield server_url(listening)
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


@pytest.fixture(scope="module")
def url(world):
    with serving(world) as found:
        yield found


def settled(visit):
    """Wait until the page has loaded everything."""
    visit.page.wait_for_selector("main h1", timeout=TIMEOUT)
    visit.page.wait_for_selector("main[aria-busy]", state="detached", timeout=TIMEOUT)
    visit.page.wait_for_selector("p.wait", state="detached", timeout=TIMEOUT)
    return visit


@pytest.fixture
def visit(chromium, url):
    """Open an address of the page; everything that went wrong fails the test."""
    opened = []

    def _visit(path, width=1280, dark=False):
        opened.append(settled(Visit(chromium, url + path, width, dark)))
        return opened[-1]

    yield _visit
    for found in opened:
        assert found.errors == []
        assert all(asked.startswith(url) for asked in found.requests), "nothing from elsewhere"
        found.close()


def test_search_entity_explanation_relation_and_back(visit):
    found = visit("/")
    page = found.page
    page.keyboard.press("/")
    page.keyboard.type("Fran")
    page.get_by_role("option", name="France").first.wait_for(timeout=TIMEOUT)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/entity?name=France")
    settled(found)
    assert page.get_by_role("heading", level=1).inner_text() == "France"
    assert page.title() == "France · kgflow"
    assert page.locator("#known ~ div a", has_text="Paris").count() >= 1
    assert page.get_by_role("img", name="Densities of France").is_visible()
    # The explanation of a prediction.
    row = page.locator(".answers > li").nth(1)
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    button = row.get_by_role("button")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    row.locator(".explanation li").first.wait_for(timeout=TIMEOUT)
    assert button.get_attribute("aria-expanded") == "true"
    # On to a relation, and back.
    page.locator("#known ~ div a", has_text="borders").first.click()
    page.wait_for_url("**/relation?name=borders")
    settled(found)
    assert page.get_by_role("heading", level=1).inner_text() == "borders"
    assert page.get_by_role("heading", name="Rules", exact=True).is_visible()
    page.go_back()
    settled(found)
    assert page.get_by_role("heading", level=1).inner_text() == "France"


def test_an_entity_leads_with_missing_facts_whose_bars_are_their_probabilities(visit, world):
    (name,) = world.discover(1)["head"]
    page = visit("/entity?name=" + quote(name)).page
    first = page.locator("section.card").first
    assert "missing" in first.get_by_role("heading", level=2).inner_text()
    rows = first.locator(".answers > li")
    assert rows.first.get_by_role("button").get_attribute("aria-expanded") == "true"
    rows.first.locator(".explanation li").first.wait_for(timeout=TIMEOUT)
    names = rows.first.locator(".what").inner_text().split(" ", 2)
    (expected,) = world.score([tuple(names)])["probability"]
    values = [float(meter.get_attribute("value")) for meter in rows.locator("meter").all()]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(expected)
    assert page.locator("#known ~ div meter").count() == 0
    assert " of 100: more certain than " in page.locator(".certainty").inner_text()


def test_queries_for_tails_heads_and_relations(visit):
    found = visit("/query")
    page = found.page
    page.get_by_label("Head", exact=True).first.fill("France")
    page.get_by_label("Relation", exact=True).select_option("borders")
    page.get_by_role("button", name="Predict").click()
    page.wait_for_url("**/query?head=France&relation=borders")
    settled(found)
    assert page.get_by_role("heading", name="(France, borders, ?)").is_visible()
    rows = page.locator(".answers > li")
    known = rows.filter(has=page.locator(".badge.known"))
    assert known.count() > 0
    assert known.locator("meter").count() == 0
    assert rows.locator("meter").count() == rows.count() - known.count()
    heads = settled(visit("/query?relation=borders&tail=Spain")).page
    assert heads.get_by_role("heading", name="(?, borders, Spain)").is_visible()
    relations = settled(visit("/query?head=France&tail=Spain")).page
    assert relations.locator(".answers a", has_text="borders").count() == 1


def test_questions_of_several_hops(visit):
    found = visit("/")
    page = found.page
    page.get_by_role("link", name="ask a question").click()
    page.wait_for_url("**/ask")
    settled(found)
    page.locator(".examples a").first.click()
    page.wait_for_url("**/ask?query=*")
    settled(found)
    assert page.locator(".answers .badge.known").count() > 0
    page.get_by_label("Patterns").fill(QUESTION)
    page.get_by_label("only answers that do not follow").check()
    page.get_by_role("button", name="Ask").click()
    page.wait_for_url("**new=yes")
    settled(found)
    graph = page.get_by_role("img", name="or France borders ?x; or Peru borders ?x")
    assert graph.locator("rect").count() == 5
    assert graph.locator(".not").count() == 1
    assert page.locator(".answers > li").count() > 0
    assert page.locator(".answers > li > .answer > .marks > .badge.known").count() == 0
    assert "not Spain speaks" in page.locator(".witness").first.inner_text()


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_fits_and_is_accessible(visit, width, dark):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    for path in (
        *("/", "/entity?name=Peru", "/relation?name=speaks", "/relations", "/query", "/map"),
        "/ask?query=" + quote(QUESTION),
    ):
        found = visit(path, width, dark)
        assert found.overflow() <= 0, path
        broken = axe.Axe().run(found.page).response["violations"]
        serious = [v for v in broken if v["impact"] in ("serious", "critical")]
        assert serious == [], (path, [(v["id"], v["nodes"][0]["html"]) for v in serious])


def test_unknown_names_show_an_error(chromium, url):
    for path, sentence in (
        ("/entity?name=" + quote("<img src=x onerror=alert(1)>"), "unknown entity"),
        ("/relation?name=likes", "unknown relation"),
        ("/ask?query=" + quote("France bordes ?x"), "query:1:8: unknown relation"),
    ):
        found = settled(Visit(chromium, url + path, 1280))
        assert sentence in found.page.locator("main").inner_text()
        assert found.page.locator("main img").count() == 0
        found.close()


def test_sign_in_with_the_token(chromium, world):
    with serving(world, token="open sesame") as url:
        found = Visit(chromium, url + "/entity?name=Peru", 1280)
        found.page.get_by_label("Token").fill("open sesame")
        found.page.get_by_role("button", name="Sign in").click()
        found.page.get_by_role("heading", name="Peru", level=1).wait_for(timeout=TIMEOUT)
        found.close()
