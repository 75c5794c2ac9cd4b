"""The templates of the page, as they are filled."""

from functools import cache
from typing import TYPE_CHECKING

from croupier.errors import MissingExtraError

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["templates"]


@cache
def templates() -> "Environment":
    """Return the templates: every text is escaped, and a missing name is an error.

    Call it before a computation that takes minutes.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("The page", package="jinja2", extra="plots") from None
    return Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
