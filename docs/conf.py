"""Settings of the documentation site: `make docs` builds it."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

project = "kgflow"
author = "The kgflow authors"
project_copyright = author
version = release = installed("kgflow")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "public_names",
    "repository_links",
    "executed_pages",
    "prepare",
]
exclude_patterns = ["_build", "_ext", "gallery/*.ipynb", "gallery/*.py"]
nitpicky = True
# Types in signatures may be of other libraries, or not public; a test compares public names.
nitpick_ignore_regex = [("py:.*", ".*")]
default_role = "py:obj"
suppress_warnings = ["config.cache", "misc.highlighting_failure"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_custom_sections = [("Shapes", "params_style")]
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"
copybutton_exclude = ".linenos, .gp, .go, .output"

html_theme = "furo"
html_title = "kgflow"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#005a8c",
        "color-brand-content": "#0066a1",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cc0f0",
        "color-brand-content": "#6cc0f0",
    },
}
# Code in both schemes has enough contrast for small text.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

FIRST_CELL = """\
# All examples open one run. Train it once, in less than a minute.
from pathlib import Path

import kgflow

if not Path("runs/world").exists():
    kgflow.train("world", "nfe-1", dim=32, epochs=40, lr=0.05, out="runs/world")"""

sphinx_gallery_conf = {
    "examples_dirs": "_build/examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",
    "abort_on_example_error": True,
    "first_notebook_cell": FIRST_CELL,
    "min_reported_time": 1_000,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "plot_gallery": True,
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_", "__repr__"),
    "thumbnail_size": (400, 280),
    "default_thumb_file": str(DOCS / "_static" / "table.svg"),
}
