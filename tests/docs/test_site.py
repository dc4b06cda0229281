"""The built site: every public name is described, links hold, and it works in a browser."""

import json
import re
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

from browser import Visit
from public_names import public_names

PAGES = ("index", "tutorials/probabilities", "gallery/index", "reference/command-line", "models")


class Links(HTMLParser):
    """Addresses and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links |= {found[key] for key in ("href", "src") if found.get(key)}
        self.anchors.add(found.get("id"))


@cache
def links(path):
    return Links(path.read_text(encoding="utf-8"))


def test_links_and_anchors_hold(site):
    broken = []
    for page in site.rglob("*.html"):
        for link in links(page).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            missing = not target.is_file()
            if not missing and parts.fragment and target.suffix == ".html":
                missing = unquote(parts.fragment) not in links(target).anchors | {"", None}
            if missing:
                broken.append(f"{page.relative_to(site)}: {link}")
    assert not broken


def test_site_loads_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'<(script|link|img)[^>]+(src|href)="(https?:)?//', text), page


def test_every_public_name_is_described(site):
    text = "".join(p.read_text(encoding="utf-8") for p in site.glob("reference/python/*.html"))
    anchors = set(re.findall(r'id="(kgflow[\w.]*)"', text))
    missing = {name for name in public_names().values() if name not in anchors}
    assert not missing


def test_gallery_has_pictures_and_notebooks(site):
    scripts = [p for p in site.glob("gallery/*.html") if p.stem not in ("index", "sg_api_usage")]
    notebooks = list(site.glob("_downloads/*/*.ipynb"))
    assert len(scripts) >= 12
    assert len(notebooks) == len(scripts)
    assert all(json.loads(n.read_text(encoding="utf-8"))["cells"] for n in notebooks)


class Quiet(SimpleHTTPRequestHandler):
    """Files of a directory, without lines in the log."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    """Address of the site on a server: search fetches the pages that it shows."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_search_finds_calibration(address, chromium):
    visit = Visit(chromium, f"{address}/search.html?q=calibration", 1280)
    visit.page.wait_for_selector("ul.search li a")
    titles = visit.page.locator("ul.search li a").all_inner_texts()
    assert any("alibration" in title for title in titles)
    assert not visit.errors
    visit.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("page", PAGES)
def test_pages_fit_a_phone_without_errors(page, dark, address, chromium):
    visit = Visit(chromium, f"{address}/{page}.html", 400, dark)
    assert visit.overflow() <= 0
    assert not visit.errors
    background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    bright = sum(map(int, re.findall(r"\d+", background)[:3])) > 3 * 128
    assert bright is not dark
    visit.close()
