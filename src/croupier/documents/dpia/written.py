"""Text of ours beside words of a plan, in a Markdown template."""

from functools import cache
from typing import TYPE_CHECKING

from croupier.documents.markdown import markdown_escaped
from croupier.errors import MissingExtraError

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["Written", "markdown_templates", "to_fill_in"]


class Written(str):
    """A text of ours, which may contain Markdown; all others are escaped when they are inserted."""

    __slots__ = ()


def to_fill_in(what: str) -> Written:
    """Return a line that asks for a fact which the plan does not state.

    >>> to_fill_in("who decides")
    '**TO FILL IN:** who decides'
    """
    return Written(f"**TO FILL IN:** {what}")


def _inserted(value: object) -> str:
    return value if isinstance(value, Written) else markdown_escaped(str(value))


@cache
def markdown_templates() -> "Environment":
    """Return the templates: what is not `Written` is escaped, and a missing name is an error.

    Call it before a computation that takes minutes.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("The draft", package="jinja2", extra="plots") from None
    return Environment(  # noqa: S701 - Markdown, not HTML: every text goes through `_inserted`
        loader=PackageLoader(__package__, ""),
        finalize=_inserted,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
