"""The draft as one HTML page that needs nothing else, for reading and for print."""

from croupier.documents.dpia.written import Written, markdown_templates
from croupier.errors import MissingExtraError

__all__ = ["page", "require_markdown"]

_OPEN = "<strong>TO FILL IN:</strong>"


def require_markdown() -> None:
    """Refuse to go on without markdown-it-py; call it before a computation that takes minutes.

    Raises:
        MissingExtraError: markdown-it-py is not installed.
    """
    try:
        import markdown_it  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("The page", package="markdown-it-py", extra="plots") from None


def page(draft: str) -> str:
    """Return the page of a draft; HTML inside the draft stays text.

    Args:
        draft: Markdown whose first line is the title.

    Raises:
        MissingExtraError: jinja2 or markdown-it-py is not installed.
    """
    require_markdown()
    from markdown_it import MarkdownIt  # noqa: PLC0415 - an extra

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    body: str = reader.render(draft)
    body = body.replace("<table>", '<div class="scroll"><table>').replace(
        "</table>", "</table></div>"
    )
    body = body.replace(_OPEN, '<strong class="open">TO FILL IN:</strong>')
    title = _title(body)
    template = markdown_templates().get_template("dpia.html")
    return template.render(title=Written(title), body=Written(body))


def _title(body: str) -> str:
    """Return the inside of the first heading, which holds escaped text only."""
    return body.partition("<h1>")[2].partition("</h1>")[0]
