"""Words of a plan inside a Markdown text, where they must stay words."""

import re

__all__ = ["markdown_escaped"]

_MARKS = re.compile(r"([\\`*_{}\[\]<>|~&$#])")
_START = re.compile(r"^(\d*)([-+=.)])")
"""Begins a list or a heading where a text begins a line."""


def markdown_escaped(text: str) -> str:
    r"""Return a text of one line so that Markdown shows it as it is, also inside a table.

    >>> print(markdown_escaped("a|b <b>*c*</b>. (d)"))
    a\|b \<b\>\*c\*\</b\>. (d)
    >>> print(markdown_escaped("- one"), markdown_escaped("2. two"))
    \- one 2\. two
    """
    marked = _MARKS.sub(r"\\\1", " ".join(text.split()))
    return _START.sub(r"\1\\\2", marked)
