"""Bisection that never returns an unproved point."""

from collections.abc import Callable

from croupier.errors import ParameterError

__all__ = ["bisect_safe", "bisect_safe_integer"]


def bisect_safe(
    is_safe: Callable[[float], bool], *, safe: float, unsafe: float, tolerance: float
) -> float:
    """Find the point nearest to `unsafe` at which `is_safe` was seen to hold, to `tolerance`.

    Every returned point other than `safe` itself was evaluated, so a predicate that is not quite
    monotone (a rounded table, say) makes the result less sharp but never wrong.

    >>> bisect_safe(lambda x: x * x <= 2, safe=0.0, unsafe=2.0, tolerance=1e-9)
    1.4142135614529252
    """
    if not is_safe(safe):
        raise ParameterError("safe", must="be a point where the predicate holds", got=safe)
    while abs(unsafe - safe) > tolerance:
        middle = safe + (unsafe - safe) / 2
        if middle in (safe, unsafe):
            break
        if is_safe(middle):
            safe = middle
        else:
            unsafe = middle
    return safe


def bisect_safe_integer(is_safe: Callable[[int], bool], *, safe: int, unsafe: int) -> int:
    """Find the integer nearest to `unsafe` at which `is_safe` was seen to hold.

    >>> bisect_safe_integer(lambda n: n >= 17, safe=100, unsafe=0)
    17
    """
    if not is_safe(safe):
        raise ParameterError("safe", must="be a point where the predicate holds", got=safe)
    while abs(unsafe - safe) > 1:
        middle = (safe + unsafe) // 2
        if is_safe(middle):
            safe = middle
        else:
            unsafe = middle
    return safe
