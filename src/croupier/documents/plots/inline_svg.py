"""A plot as an element of a page."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any

from croupier.documents.plots.figure import BLUE, GREY, ORANGE, drawing

__all__ = ["Labels", "Plot", "inline_svg"]

_INCHES = (4.4, 3.3)
_VARIABLES = {BLUE: "plot-blue", ORANGE: "plot-orange", GREY: "quiet", "#000000": "ink"}
_VARIABLES |= {"#b0b0b0": "plot-grid", "#ffffff": "page"}


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The words of a plot.

    Attributes:
        name: Sets its identifiers apart from those of other plots on the page.
        title: What it shows.
        description: What one would see.
        caption: What to make of it.
        across: The horizontal axis, where `draw` does not name it.
    """

    name: str
    title: str
    description: str
    caption: str
    across: str


@dataclass(frozen=True)
class Plot:
    """A drawing and what stands below it."""

    svg: str
    caption: str


def inline_svg(labels: Labels, draw: Callable[[Any], None]) -> Plot:
    """Return what `draw` draws on axes, with words for those who do not see it.

    Letters stay letters, in the font of the page; nothing refers to anything outside. Colours are
    variables of the page, which has its own in the dark.
    """
    buffer = StringIO()
    with drawing(buffer, title="", across=labels.across, up="", inches=_INCHES) as axes:
        axes.figure.patch.set_visible(False)
        axes.patch.set_visible(False)
        draw(axes)
    text = buffer.getvalue()
    size = re.findall(r'viewBox="([^"]+)"', text)[0]
    body = text[text.index(">", text.index("<svg")) + 1 :].strip()
    body = re.sub(r'\bid="', f'id="{labels.name}-', body)
    body = re.sub(r'(url\(|href=")#', rf"\1#{labels.name}-", body).replace("xlink:href", "href")
    body = re.sub(r"(font: [\d.]+px) [^;\"]+", r"\1 system-ui, sans-serif", body)
    body = re.sub(r"<style.*?</style>", "", body, flags=re.DOTALL)
    for colour, name in _VARIABLES.items():
        body = body.replace(f": {colour}", f": var(--{name}, {colour})")
    named = f"{labels.name}-title", f"{labels.name}-description"
    svg = (
        f'<svg viewBox="{size}" role="img" aria-labelledby="{" ".join(named)}">'
        f'<title id="{named[0]}">{escape(labels.title)}</title>'
        f'<desc id="{named[1]}">{escape(labels.description)}</desc>{body}'
    )
    return Plot(svg, labels.caption)
