"""An HTML page as a PDF file, by WeasyPrint."""

import re

from croupier.errors import MissingExtraError

__all__ = ["pdf_of", "require_pdf"]

_VARIABLE = re.compile(r"var\(--[a-z-]+, (#[0-9a-f]{6})\)")


def require_pdf() -> None:
    """Refuse to go on without WeasyPrint; call it before a computation that takes minutes.

    Raises:
        MissingExtraError: WeasyPrint, or the system's library Pango, is not installed.
    """
    try:
        import weasyprint  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("PDF", package="weasyprint", extra="pdf") from None
    except OSError:  # the package is there, a library of the system is not
        raise MissingExtraError(
            "PDF", package="the system's library Pango (Debian: libpangoft2-1.0-0)", extra="pdf"
        ) from None


def pdf_of(page: str) -> bytes:
    """Return a page as PDF; nothing is fetched from outside the page.

    WeasyPrint does not know variables inside a drawing: each colour is the one that stands beside
    its variable.
    """
    require_pdf()
    from weasyprint import HTML  # noqa: PLC0415 - an extra

    document: bytes = HTML(string=_VARIABLE.sub(r"\1", page), url_fetcher=_refuse).write_pdf()
    return document


def _refuse(url: str, *_: object, **__: object) -> dict[str, object]:
    raise ValueError(f"A page needs nothing from outside; it asks for {url[:60]}.")
