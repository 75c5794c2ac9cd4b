"""Linear independence of rows of zeros and ones, decided in integers."""

from collections.abc import Collection, Sequence
from fractions import Fraction

__all__ = ["are_independent"]


def are_independent(rows: Sequence[Collection[int]]) -> bool:
    """Tell whether rows, each given by the places of its ones, are independent as rationals.

    Rows that are independent modulo 2 have an odd minor, which is not zero. Otherwise, as for the
    three sides of a triangle, the rationals decide.

    >>> are_independent([{0, 1}, {1, 2}, {0, 2}]), are_independent([{0, 1}, {1}, {0}])
    (True, False)
    """
    return _modulo_two(rows) or _rationally(rows)


def _modulo_two(rows: Sequence[Collection[int]]) -> bool:
    pivots: dict[int, int] = {}
    for row in rows:
        rest = sum(1 << place for place in set(row))
        while rest and rest.bit_length() in pivots:
            rest ^= pivots[rest.bit_length()]
        if not rest:
            return False
        pivots[rest.bit_length()] = rest
    return True


def _rationally(rows: Sequence[Collection[int]]) -> bool:
    pivots: dict[int, dict[int, Fraction]] = {}
    for row in rows:
        rest = dict.fromkeys(row, Fraction(1))
        while rest and min(rest) in pivots:
            pivot = pivots[min(rest)]
            factor = rest[min(rest)] / pivot[min(rest)]
            for place, entry in pivot.items():
                rest[place] = rest.get(place, Fraction(0)) - factor * entry
            rest = {place: entry for place, entry in rest.items() if entry}
        if not rest:
            return False
        pivots[min(rest)] = rest
    return True
