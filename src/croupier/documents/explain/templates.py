"""The templates of the page, as they are filled."""

from functools import cache
from typing import TYPE_CHECKING

from croupier.documents.explain.sentence import Quoted
from croupier.documents.markdown import markdown_escaped
from croupier.errors import MissingExtraError

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["templates"]


@cache
def templates() -> "Environment":
    """Return the templates: every text is escaped, and a missing name is an error.

    Markdown escapes what the templates call `quoted`, and the words of a plan in a sentence.

    Call it before a computation that takes minutes.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    try:
        from jinja2 import (  # noqa: PLC0415 - an extra
            Environment,
            PackageLoader,
            StrictUndefined,
            select_autoescape,
        )
    except ImportError:
        raise MissingExtraError("The page", package="jinja2", extra="plots") from None
    found = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=select_autoescape(
            enabled_extensions=(), disabled_extensions=("md",), default=True
        ),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"quoted": markdown_escaped, "markdown": _in_markdown}
    return found


def _in_markdown(part: object) -> str:
    """Return a part of a sentence for Markdown: words of the plan are escaped, ours are not."""
    return markdown_escaped(part) if isinstance(part, Quoted) else str(part)
