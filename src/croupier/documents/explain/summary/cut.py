"""Texts of a plan, cut so that the summary stays on one sheet of paper."""

from unicodedata import east_asian_width

__all__ = ["SEE_BELOW", "cut"]

SEE_BELOW = "… (see below)"
_BROAD = frozenset("WMmw@%\u2014\u2026")
_LATIN = 0x2FF
"""The last of the Latin letters; signs beyond may be of any width."""


def cut(text: str, most: int) -> str:
    """Return a text that takes about as much room as that many small letters.

    >>> cut("a short text", 20)
    'a short text'
    >>> cut("a text that is too long", 14)
    'a text that… (see below)'
    >>> cut("WWWWWWWWWWWWWWWWWWWW", 14)
    'WWWWWWW… (see below)'
    """
    room = 0.0
    for index, sign in enumerate(text):
        room += _room(sign)
        if room > most:
            return f"{_whole_words(text[:index])}{SEE_BELOW}"
    return text


def _room(sign: str) -> float:
    """Return the width of a sign in small letters; of the broadest of its kind, at least."""
    if east_asian_width(sign) in "WF" or sign in _BROAD or ord(sign) > _LATIN:
        return 2.0
    return 1.3 if sign.isupper() else 1.0


def _whole_words(text: str) -> str:
    """Leave out the last word, which may be cut, unless it is most of the text."""
    words = text.rpartition(" ")[0]
    return (words if 2 * len(words) > len(text) else text).rstrip(" ,;:.")
