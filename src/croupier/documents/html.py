"""Elements of a page, whose texts are escaped unless they are elements themselves."""

from collections.abc import Sequence
from html import escape

from croupier.documents.sentence import Number, Sentence

__all__ = ["Html", "column", "element", "said", "table"]


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


def said(sentence: Sentence) -> Html:
    """A sentence; each number carries its value and whose it is."""
    return Html(
        "".join(
            _number(part) if isinstance(part, Number) else escape(part, quote=False)
            for part in sentence.parts
        )
    )


def _number(number: Number) -> Html:
    return element(
        "data",
        str(number),
        value=repr(number.value),
        data_rung=number.rung,
        data_metric=number.metric,
        data_form=number.form,
        data_direction=number.direction,
    )


def column(text: str, label: str, *, class_: str = "") -> Html:
    """A cell of a table, which repeats its column's name where the table falls into cards."""
    named = {"class_": class_} if class_ else {}
    return element("td", text, role="cell", data_label=label, **named)


def table(caption: str, head: Sequence[str], rows: Sequence[tuple[str, Sequence[Html]]]) -> Html:
    """A table whose rows have a name; on a narrow screen, a card a row.

    The roles keep it a table for those who hear it, also where it is laid out as cards.
    """
    names = [element("th", name, scope="col", role="columnheader") for name in head]
    body = [
        element("tr", element("th", name, scope="row", role="rowheader"), *cells, role="row")
        for name, cells in rows
    ]
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *names, role="row"), role="rowgroup"),
        element("tbody", *body, role="rowgroup"),
        role="table",
    )
