"""Checks of arguments at the public functions."""

from __future__ import annotations

import math
import re
from enum import Enum
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from croupier.errors import ParameterError, UnknownNameError
from croupier.numerics.arrays import is_scalar, np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ONE_LINE", "array_given", "is_one_line", "member", "number_given"]
__all__ += ["number_of_people", "one_line", "require_delta", "unwrapped"]
__all__ += ["whole_number"]

Named = TypeVar("Named", bound=Enum)

_HIDDEN = (
    r"\x00-\x1f\x7f-\x9f"  # control characters
    r"\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # signs without a shape
    f"{chr(0xE0000)}-{chr(0xE007F)}"  # tags: no escape means them in every dialect
)
_BLANK = r" \u00a0\u115f\u1160\u1680\u180e\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0"
_JOINERS = rf"\u034f\u200c\u200d\ufe00-\ufe0f{chr(0xE0100)}-{chr(0xE01EF)}"
"""Signs that change the shape of their neighbours, as in emoji: blank at the beginning."""

ONE_LINE = f"^[^{_HIDDEN}{_BLANK}{_JOINERS}](?:[^{_HIDDEN}]*[^{_HIDDEN}{_BLANK}])?$"
"""Texts that people read: on one line, with nothing hidden and no white space at the ends.

Without look-around, it means the same in Python, in pydantic, and in JavaScript with the flag u.
"""


def whole_number(
    parameter: str, value: SupportsIndex, *, least: int, most: int | None = None
) -> int:
    """Return `value` as an int between the limits.

    >>> whole_number("k", 1, least=2)
    Traceback (most recent call last):
    croupier.errors.ParameterError: `k` must be a whole number of at least 2; got 1.
    """
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        raise _not_between(parameter, value, least, most)
    return number


def number_of_people(
    parameter: str, value: SupportsIndex | float, *, least: int, most: int | None = None
) -> int:
    """Return a whole number that may be written as a float, such as 1e6.

    >>> number_of_people("n", 1e5, least=1)
    100000
    >>> number_of_people("n", 1.5, least=1)
    Traceback (most recent call last):
    croupier.errors.ParameterError: `n` must be a whole number of at least 1; got 1.5.
    """
    if isinstance(value, float):
        if not value.is_integer():
            raise _not_between(parameter, value, least, most)
        value = int(value)
    return whole_number(parameter, value, least=least, most=most)


def _not_between(parameter: str, value: object, least: int, most: int | None) -> ParameterError:
    limits = f"of at least {least}" if most is None else f"in [{least}, {most}]"
    return ParameterError(parameter, must=f"be a whole number {limits}", got=value)


def member(kind: type[Named], name: str, *, what: str) -> Named:
    """Return the member of an enumeration that has this value.

    >>> from croupier.model.rung import Rung
    >>> member(Rung, "btach", what="a rung")
    Traceback (most recent call last):
    croupier.errors.UnknownNameError: `btach` is not a rung. Did you mean batch?
    """
    try:
        return kind(name)
    except ValueError:
        known = [str(each.value) for each in kind]
        raise UnknownNameError(str(name), what=what, known=known) from None


def array_given(parameter: str, entries: ArrayLike, *, must: str) -> NDArray[Any]:
    """Return `entries` as an array; refuse rows of different lengths.

    >>> array_given("places", [[1], [2, 3]], must="have one row per person")
    Traceback (most recent call last):
    croupier.errors.ParameterError: `places` must have one row per person.
    """
    try:
        return np.asarray(entries)
    except (TypeError, ValueError):
        raise ParameterError(parameter, must=must) from None


def number_given(parameter: str, value: Any) -> float:
    """Return `value` as a number of at least 0, which may be infinite.

    >>> number_given("alpha", "4")
    Traceback (most recent call last):
    croupier.errors.ParameterError: `alpha` must be at least 0; got '4'.
    """
    number = math.nan if isinstance(value, str) else value
    try:
        number = float(number)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or number < 0:
        raise ParameterError(parameter, must="be at least 0", got=value)
    return number


def require_delta(delta: float) -> None:
    """Refuse anything but a number between 0 and 1.

    >>> require_delta("1e-6")
    Traceback (most recent call last):
    croupier.errors.ParameterError: `delta` must be in (0, 1); got '1e-6'. Try 1e-6.
    """
    try:
        inside = 0 < delta < 1
    except TypeError:
        inside = False
    if not inside:
        raise ParameterError("delta", must="be in (0, 1)", got=delta, hint="Try 1e-6.")


def is_one_line(text: str) -> bool:
    r"""Tell if a text is on one line, without hidden signs or white space at its ends.

    >>> is_one_line("two words"), is_one_line("two\nlines"), is_one_line(" ")
    (True, False, False)
    """
    whole = not any("\ud800" <= sign <= "\udfff" for sign in text)
    return whole and re.fullmatch(ONE_LINE, text) is not None


def one_line(text: str) -> str:
    r"""Write a text that strangers chose so that it can be shown: on one line, nothing hidden.

    Hidden signs are escaped. A text that is empty, or has white space at its ends, is quoted.

    >>> one_line("two words"), one_line("two\nlines"), one_line(" ")
    ('two words', '"two\\nlines"', '" "')
    """
    if is_one_line(text):
        return text
    shown = re.sub(rf"[{_HIDDEN}\ud800-\udfff]", lambda sign: _escaped(sign[0]), text)
    return f'"{shown}"'


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def unwrapped(value: Any) -> Any:
    """Return a numpy or Arrow scalar as a Python one; anything else unchanged.

    >>> unwrapped(np.int64(200)), unwrapped("k-rr")
    (200, 'k-rr')
    """
    if is_scalar(value):
        return value.item()
    return value.as_py() if hasattr(value, "as_py") else value
