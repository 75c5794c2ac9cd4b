"""Cards for notebooks: elements whose texts are escaped unless they are markup already."""

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["Html", "card", "column", "element", "facts", "numbers", "table"]

_LOOK = """
.croupier { overflow-x: auto; }
.croupier table { border-collapse: collapse; margin: .4em 0; }
.croupier caption { caption-side: top; color: inherit; font-weight: 600; text-align: left; }
.croupier.croupier table tr > * { border: 0; border-bottom: 1px solid #8886;
  padding: .35em .6em .35em .3em; text-align: left; vertical-align: top; }
.croupier th[scope=row] { min-width: 6em; }
.croupier .number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.croupier small { display: block; font-weight: normal; }
"""
"""The only colour is a half-transparent grey, legible on light and on dark backgrounds.
The class is doubled to override a notebook's own rules for cells."""


class Html(str):
    """A text that is markup already."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str) -> Html:
    """An element; a trailing underscore of an attribute is dropped, others become hyphens.

    >>> element("p", "a < b, ", element("strong", "always"), class_="note", data_rung="batch")
    '<p class="note" data-rung="batch">a &lt; b, <strong>always</strong></p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    inner = "".join(
        child if isinstance(child, Html) else escape(child, quote=False) for child in children
    )
    return Html(f"<{name}{given}>{inner}</{name}>")


def column(text: str, label: str, *, class_: str = "") -> Html:
    """A cell of a table, labelled with its column's name for screen readers."""
    named = {"class_": class_} if class_ else {}
    return element("td", text, role="cell", data_label=label, **named)


def table(caption: str, head: Sequence[str], rows: Sequence[tuple[str, Sequence[Html]]]) -> Html:
    """A table with named rows, and named columns if needed."""
    names = [element("th", name, scope="col", role="columnheader") for name in head]
    body = [
        element("tr", element("th", name, scope="row", role="rowheader"), *cells, role="row")
        for name, cells in rows
    ]
    above = [element("thead", element("tr", *names, role="row"), role="rowgroup")] if head else []
    return element(
        "table",
        element("caption", caption),
        *above,
        element("tbody", *body, role="rowgroup"),
        role="table",
    )


def card(*children: str) -> Html:
    """The card that a notebook shows of a result, with its style.

    >>> card(element("p", "a < b")).endswith("<p>a &lt; b</p></div>")
    True
    """
    return element("div", element("style", Html(_LOOK)), *children, class_="croupier")


def facts(caption: str, said: Mapping[str, str]) -> Html:
    """A card of named facts."""
    return card(table(caption, (), [(name, [column(text, name)]) for name, text in said.items()]))


def numbers(caption: str, head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Html:
    """A card of numbers under the names of their columns; the first names the rows."""
    body = [
        (
            name,
            [column(text, over, class_="number") for text, over in zip(row, head[1:], strict=True)],
        )
        for name, row in rows
    ]
    return card(table(caption, head, body))
