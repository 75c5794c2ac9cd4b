"""A sentence as an element of a page."""

from html import escape

from croupier.documents.sentence import Number, Sentence
from croupier.model.html import Html, element

__all__ = ["said"]


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
