"""Formulas as MathML, made when the site is built: no script and no other server is needed."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

SIZES = re.compile(r"\\[bB]igg?[lr]?(?![a-zA-Z])")


def render(tex, block):
    """Return the MathML of a formula; parentheses grow by themselves."""
    return tex2mathml(SIZES.sub("", tex).replace(r"\dots", r"\ldots"), as_block=block)


def inline(translator, node):
    """Write a formula in a line of text."""
    translator.body.append(render(node.astext(), block=False))
    raise nodes.SkipNode


def block(translator, node):
    """Write a formula of its own, which scrolls where it is wider than the page."""
    translator.body.append(f'<div class="math">{render(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
