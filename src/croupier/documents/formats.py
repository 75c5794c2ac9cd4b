"""The formats of a document, chosen by the name of the file."""

from enum import StrEnum
from pathlib import Path

from croupier.errors import ParameterError

__all__ = ["Format", "format_of"]


class Format(StrEnum):
    """The formats in which a document is written."""

    HTML = "html"
    PDF = "pdf"
    MARKDOWN = "md"


def format_of(path: Path, *, parameter: str) -> Format:
    """Return the format that the name of a file stands for.

    >>> format_of(Path("explain.PDF"), parameter="path")
    <Format.PDF: 'pdf'>

    Raises:
        ParameterError: It stands for none.
    """
    suffix = path.suffix.lower().removeprefix(".")
    known = {form.value: form for form in Format} | {"htm": Format.HTML}
    if suffix not in known:
        raise ParameterError(parameter, must="end in .html, .pdf or .md", got=path.name)
    return known[suffix]
