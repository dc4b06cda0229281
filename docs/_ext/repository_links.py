"""Links from pages to files outside docs/, which hold in the repository, made to hold on the site.

The README and its like become their pages, examples their pages in the gallery; the names of other
files stay as text, as do pages of results that have not been printed.
"""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\[(?P<text>[^\]\n]+)\]\((?P<path>(?:\.\./)+[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}


def replace(found, folder):
    """Return a link that holds on the site.

    Example:
        >>> link = "[tour](../../examples/demo.py)"
        >>> replace(LINK.match(link), "how-to")
        'tour'
        >>> replace(LINK.match("[start](../../README.md)"), "how-to")
        '[start](../index.md)'
    """
    target = posixpath.normpath(posixpath.join("docs", folder, found["path"]))
    if target.startswith("docs/results/") and not (ROOT / target).exists():
        return found["text"]  # of a study that has not been run
    if target.startswith("docs/"):
        return found[0]
    page = PAGES.get(target)
    if page is None and re.fullmatch(r"examples/(?!demo)\w+\.py", target):
        page = f"gallery/{posixpath.basename(target)[:-3]}.rst"
    if page is None:
        return found["text"]
    return f"[{found['text']}]({posixpath.relpath(page, folder or '.')})"


def rewrite(app, document, source):
    """Rewrite the links of a page."""
    folder = posixpath.dirname(document)
    source[0] = LINK.sub(lambda found: replace(found, folder), source[0])


def setup(app):
    """Connect the rewriting, before code is executed."""
    app.connect("source-read", rewrite, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
