"""Short texts, letter by letter."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from croupier.errors import DataError, ParameterError
from croupier.model.domain import Domain
from croupier.numerics.arrays import np
from croupier.numerics.validate import unwrapped, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["Normalisation", "Texts"]

Normalisation = Literal["none", "lower", "nfc"]

_BYTES = 256
_MOST_LETTERS = (1 << 16) - 1
_MOST_BITS = 1000
"""So that the number of texts, and 1 over it, are doubles."""

_UPPER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True)
class Texts(Domain):
    """Texts of at most `longest` letters of an alphabet; what goes beyond is cut off.

    A text is encoded as a row of `longest` whole numbers: the place of each letter in the alphabet,
    from 1, then zeros.

    Attributes:
        longest: The number of letters that are kept.
        alphabet: The letters, all different; None for the 256 bytes of UTF-8.
        normalisation: "lower" strips spaces at both ends and makes A-Z lower case; "nfc" strips
            them and composes characters (Unicode, form C); "none" changes nothing.

    Example:
        >>> Texts(longest=5, alphabet="acot", normalisation="lower").encode_one(" Cat")
        (2, 1, 4, 0, 0)
    """

    longest: int
    alphabet: str | None = None
    normalisation: Normalisation = "none"

    def __post_init__(self) -> None:
        letters = self.alphabet
        if letters is not None and not _are_letters(letters):
            raise ParameterError(
                "alphabet",
                must=f"be 1 to {_MOST_LETTERS:,} letters that all differ, or be left out for bytes",
                hint='Try "abcdefghijklmnopqrstuvwxyz".',
            )
        if self.normalisation not in ("none", "lower", "nfc"):
            raise ParameterError(
                "normalisation", must='be "none", "lower" or "nfc"', got=self.normalisation
            )
        changed = [letter for letter in letters or "" if self.normalised(letter) != letter]
        if any(letter != " " for letter in changed):
            raise ParameterError(
                "alphabet",
                must="have letters that the normalisation leaves as they are",
                got=changed[0],
            )
        most = int(_MOST_BITS / (self.letters + 1).bit_length())
        whole_number("longest", self.longest, least=1, most=most)

    @property
    def letters(self) -> int:
        """The number of letters of the alphabet."""
        return _BYTES if self.alphabet is None else len(self.alphabet)

    @property
    def size(self) -> int:
        """The number of texts."""
        return sum(self.letters**length for length in range(self.longest + 1))

    @property
    def coded_shape(self) -> tuple[int, ...]:
        """A row of letters."""
        return (self.longest,)

    def normalised(self, text: str) -> str:
        """Return the text that counts as the same answer."""
        if self.normalisation == "lower":
            return text.strip(" ").translate(_UPPER)
        if self.normalisation == "nfc":
            return unicodedata.normalize("NFC", text.strip(" "))
        return text

    def encode(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """A matrix of letters, one row per text."""
        if values.ndim != 1:
            raise ParameterError("values", must="be one column", got=values.shape)
        entries = values.tolist()
        rows = [self._coded(value) for value in entries]
        wrong = [value for value, row in zip(entries, rows, strict=True) if row is None]
        if wrong:
            raise _outside(wrong)
        return np.array(rows, dtype=np.int64).reshape(len(rows), self.longest)

    def encode_one(self, value: Any) -> tuple[int, ...]:
        """The letters of one text."""
        entry = unwrapped(value)
        row = self._coded(entry)
        if row is None:
            raise _outside([entry])
        return row

    def holds(self, value: Any) -> bool:
        """Tell whether a value is one of the texts."""
        return self._coded(value) is not None

    def require_all(self, texts: Iterable[str], *, name: str) -> None:
        """Refuse a list with texts that nobody can have answered, and show none of them.

        Args:
            texts: The list.
            name: The name under which it was given.
        """
        wrong = sum(not self.holds(text) for text in texts)
        if wrong:
            raise ParameterError(
                name,
                must="be texts of the alphabet",
                got=f"{wrong:,} others",
                hint="Take them out of the file.",
            )

    def _coded(self, value: Any) -> tuple[int, ...] | None:
        if not isinstance(value, str):
            return None
        text = self.normalised(value)
        try:
            letters: Sequence[Any] = text.encode() if self.alphabet is None else text
        except UnicodeEncodeError:
            return None
        codes = tuple(map(self._places.get, letters[: self.longest]))
        return None if None in codes else (*codes, *(0,) * (self.longest - len(codes)))  # type: ignore[arg-type]

    @cached_property
    def _places(self) -> dict[Any, int]:
        letters: Iterable[Any] = range(_BYTES) if self.alphabet is None else self.alphabet
        return {letter: place for place, letter in enumerate(letters, start=1)}

    def decode(self, codes: Iterable[int]) -> str:
        """Return the text that is encoded so; bytes that are no UTF-8 are escaped."""
        own = [code - 1 for code in codes if code]
        if self.alphabet is None:
            return bytes(own).decode(errors="backslashreplace")
        return "".join(self.alphabet[place] for place in own)


def _outside(values: Sequence[Any]) -> DataError:
    """Say why values are refused, by the first reason that any of them has."""
    reasons: dict[str, tuple[Callable[[Any], bool], str]] = {
        "are missing": (_is_missing, "Drop or fill them first."),
        "are not texts": (lambda value: not isinstance(value, str), "Convert or drop them first."),
        "have half of a surrogate pair, which is no character": (
            _has_surrogate,
            "Repair how they were decoded, or drop them.",
        ),
    }
    for problem, (fits, hint) in reasons.items():
        count = sum(map(fits, values))
        if count:
            return DataError(count, f"values {problem}", hint=hint)
    return DataError(
        len(values),
        "values are not texts of the alphabet",
        hint="Map other letters to one of the alphabet, or leave the alphabet out.",
    )


def _is_missing(value: Any) -> bool:
    """Tell if it is None or NaN."""
    entry = unwrapped(value)
    return entry is None or (isinstance(entry, float) and math.isnan(entry))


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _are_letters(text: str) -> bool:
    """Tell if these are different characters of Unicode, each with a number of 16 bits."""
    return 0 < len(text) == len(set(text)) <= _MOST_LETTERS and not _has_surrogate(text)
