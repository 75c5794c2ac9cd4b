"""A plot for a notebook."""

from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import Any

__all__ = ["Picture", "picture"]


@dataclass(frozen=True)
class Picture:
    """A drawing that a notebook shows by itself.

    Attributes:
        svg: The drawing.
    """

    svg: str

    def __repr__(self) -> str:
        return f"Picture({len(self.svg):,} characters of SVG)"

    def _repr_svg_(self) -> str:
        return self.svg


def picture(save: Callable[..., None], *arguments: Any, **named: Any) -> Picture:
    """What a function that saves a plot would write into a file.

    Args:
        save: One of the functions `save_..._plot`.
        arguments: What it takes after the path.
        named: What it takes by name.

    Example:
        >>> import croupier
        >>> from croupier.documents.plots.estimates import save_estimates_plot
        >>> response = croupier.randomizer("k-rr", k=2, max_epsilon_local=1.0)
        >>> drawn = picture(save_estimates_plot, [response.estimate([0, 1])], title="two people")
        >>> "two people" in drawn.svg
        True
    """
    buffer = StringIO()
    save(buffer, *arguments, **named)
    return Picture(buffer.getvalue())
