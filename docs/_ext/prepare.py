"""Makes what the pages need before they are read: the run of the examples, and the reference."""

import hashlib
import os
import shutil
from pathlib import Path

from sphinx.util import logging

import reference

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "docs" / "_build"
EXAMPLES = BUILD / "examples"
RUN = EXAMPLES / "runs" / "world"
LEFT_OUT = ("demo.py",)
log = logging.getLogger(__name__)


def prepare(app, config):
    """Start anew where the library has changed, copy the examples, and write the reference."""
    # The library's own progress and threads have no place in a build.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    _forget_if_changed()
    copy_examples()
    train_run()
    reference.write(ROOT / "docs" / "reference", RUN)


def digest(*patterns):
    """Return a digest of the files of the checkout that match."""
    made = ("_build", "gallery", "reference", "__pycache__")
    paths = (path for pattern in patterns for path in sorted(ROOT.glob(pattern)) if path.is_file())
    kept = (path for path in paths if not set(path.relative_to(ROOT).parts[1:-1]) & set(made))
    return hashlib.sha256(b"".join(path.read_bytes() for path in kept)).hexdigest()


def library():
    """Return a digest of the library and of the extensions of the site."""
    return digest("src/**/*.py", "src/**/*.toml", "docs/_ext/*.py")


def everything():
    """Return a digest of all that the site is made from."""
    return digest("src/**/*.*", "docs/**/*.*", "examples/*.*", "*.md")


def _note_success(app, exception):
    """Keep the digest of a build without warnings, so that tests need not repeat it."""
    if exception is None and app._warncount == 0:
        (BUILD / "built").write_text(everything())


def _forget_if_changed():
    """Remove what an older version of the library has made."""
    stamp, found = BUILD / "library", library()
    if not stamp.exists() or stamp.read_text() != found:
        for made in (BUILD / "doctrees", EXAMPLES, ROOT / "docs" / "gallery"):
            shutil.rmtree(made, ignore_errors=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        stamp.write_text(found)


def copy_examples():
    """Copy the scripts of the gallery to where they run and leave their files."""
    EXAMPLES.mkdir(parents=True, exist_ok=True)
    wanted = [p for p in (ROOT / "examples").glob("*.*") if p.name not in LEFT_OUT]
    for path in wanted:
        copy = EXAMPLES / path.name
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            shutil.copy(path, copy)
    for copy in {p.name for p in EXAMPLES.glob("*.py")} - {p.name for p in wanted}:
        (EXAMPLES / copy).unlink()


def train_run():
    """Train the run of the examples and tutorials, once."""
    if RUN.exists():
        return
    import kgflow

    log.info("training the run of the examples")
    kgflow.train("world", "nfe-1", dim=32, epochs=40, lr=0.05, out=RUN)


def setup(app):
    """Connect the preparation."""
    app.connect("config-inited", prepare)
    app.connect("build-finished", _note_success)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
