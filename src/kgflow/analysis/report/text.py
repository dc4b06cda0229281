"""How words and numbers are shown."""

import math
from html import escape
from typing import Any


def shorten(text: str, width: int) -> str:
    """A name in one line of at most so many letters, its middle left out.

    Example:
        >>> shorten("/film/film/release_date_s./film/film_regional_release_date", 30)
        '/film/film/r…onal_release_date'
    """
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    start = (width - 1) * 4 // 9
    return f"{text[:start]}…{text[len(text) - (width - 1 - start) :]}"


def shown(value: Any) -> str:  # noqa: ANN401
    """A value as a person reads it.

    Example:
        >>> shown(0.81234), shown(1234.5), shown(72441), shown(None), shown(float("nan"))
        ('0.812', '1,234.5', '72,441', '–', '–')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3f}"
    return str(value)


def signed(value: float) -> str:
    """A difference, with its sign.

    Example:
        >>> signed(0.0123), signed(-0.5), signed(0.0)
        ('+0.012', '−0.500', '0.000')
    """
    text = f"{abs(value):.3f}"
    sign = "" if float(text) == 0 else "−" if value < 0 else "+"
    return sign + text


def tag(name: str, content: str, **attributes: str) -> str:
    """An element of HTML; the content is HTML, attributes are text.

    Example:
        >>> tag("p", escape("a < b"), id='"x"')
        '<p id="&quot;x&quot;">a &lt; b</p>'
    """
    pairs = "".join(f' {k.rstrip("_")}="{escape(v)}"' for k, v in attributes.items())
    return f"<{name}{pairs}>{content}</{name}>"
