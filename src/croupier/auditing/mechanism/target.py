"""The target of an audit: a mechanism that is only ever called, and how outputs are drawn."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.mechanism.column import Column, Fingerprints, as_column, fingerprints, joined
from croupier.auditing.mechanism.feature import Feature
from croupier.auditing.mechanism.parts import every_feature
from croupier.errors import CroupierError, ParameterError
from croupier.model.randomizer import Randomizer
from croupier.numerics.keystream import Keystream, generator

__all__ = ["Advance", "Calls", "Places", "Target", "target_of"]

Advance = Callable[[int], None]
"""A function that receives how many more outputs were drawn."""

Places = NDArray[np.int64]
"""The index of the value that each call is given."""


_FEWEST_CALLS, _SMALLEST_CALL = 8, 1000
"""The number of calls that the outputs of a search are divided into, and their least size."""


@dataclass(frozen=True)
class Calls:
    """Outputs in the order in which they were requested.

    Attributes:
        places: The value that each call was given.
        columns: One column per piece of the calls.
    """

    places: Places
    columns: Sequence[Column]

    def by_value(self, values: int) -> list[Column]:
        """Return the outputs of each of so many values."""
        ends = np.cumsum([len(column) for column in self.columns])[:-1]
        pieces = list(zip(np.split(self.places, ends), self.columns, strict=True))
        return [joined(column[at == place] for at, column in pieces) for place in range(values)]

    @property
    def fingerprints(self) -> Fingerprints:
        """Return a word for each output."""
        return np.concatenate([fingerprints(column) for column in self.columns])


@dataclass(frozen=True)
class Target:
    """A mechanism of one value.

    Attributes:
        call: Takes one value and returns one output; or, if vectorised, takes an array of values
            and returns as many outputs.
        vectorised: True for the latter.
    """

    call: Callable[[Any], Any]
    vectorised: bool

    def outputs(self, values: Sequence[Any], places: Places) -> Column:
        """Return independent outputs, each for the value at a place, requested in that order."""
        size = len(places)
        try:
            if not self.vectorised:
                return as_column([self.call(values[place]) for place in places.tolist()])
            column = as_column(self.call(_array(values)[places]))
        except CroupierError:
            raise
        except (Exception, SystemExit) as error:
            raise ParameterError(
                "target",
                must="return an output for every input",
                got=type(error).__name__,
                hint="Call it by hand with one of the inputs.",
            ) from error
        if len(column) != size:
            raise ParameterError(
                "target", must=f"return {size:,} outputs for as many values", got=len(column)
            )
        return column

    @property
    def at_once(self) -> int:
        """The number of outputs that are held in memory together."""
        return 1 << 18

    def questions(self, pooled: Column) -> Iterable[Feature]:
        """Return the questions that may be asked of an output."""
        return every_feature(pooled)

    def pieces(
        self, values: Sequence[Any], places: Places, advance: Advance, *, most: int | None = None
    ) -> Iterator[tuple[Places, Column]]:
        """Yield the same in pieces that fit in memory, of at most so many, with their places."""
        size = min(self.at_once, most or self.at_once)
        for start in range(0, len(places), size):
            piece = places[start : start + size]
            yield piece, self.outputs(values, piece)
            advance(len(piece))

    def piece_size(self, calls: int) -> int:
        """Return the size of the pieces into which so many calls are divided.

        A function of an array that restarts its noise at every call repeats it at this distance.
        """
        return min(self.at_once, max(_SMALLEST_CALL, calls // _FEWEST_CALLS))

    def called(
        self, values: Sequence[Any], size: int, *, rng: Keystream, advance: Advance
    ) -> Calls:
        """Return so many outputs of every value, requested in a mixed order.

        Changes from call to call that do not depend on the value then look alike for all values.
        """
        places = np.repeat(np.arange(len(values)), size)
        places = generator(rng).permutation(places)
        most = self.piece_size(len(places))
        pieces = [column for _, column in self.pieces(values, places, advance, most=most)]
        _check_told_apart(pieces)
        return Calls(places, pieces)

    def drawn(
        self, values: Sequence[Any], size: int, *, rng: Keystream, advance: Advance
    ) -> list[Column]:
        """Return the same, separately for every value."""
        return self.called(values, size, rng=rng, advance=advance).by_value(len(values))


def target_of(
    target: Callable[[Any], Any] | Randomizer,
    *,
    vectorised: bool = False,
    rng: Keystream | None = None,
) -> Target:
    """Prepare a callable, or a randomizer of this library that draws from `rng`, for calls."""
    if isinstance(target, Randomizer):
        return Target(partial(target.randomize, rng=rng), vectorised=True)
    if not callable(target):
        raise ParameterError(
            "target",
            must="be callable",
            got=type(target).__name__,
            hint="Pass the function itself, or a Randomizer.",
        )
    return Target(target, vectorised)


def _check_told_apart(columns: Iterable[Column]) -> None:
    """Refuse outputs in which no event can be seen: their leaks would go unnoticed."""
    kinds: set[type] = set()
    for column in columns:
        kinds |= {*map(type, column)} if column.dtype == object else {column.dtype.type}
    if kinds == {NoneType}:
        raise ParameterError(
            "target", must="return an output", got="None every time", hint="Does it end in return?"
        )
    for kind in kinds:
        compared = any("__eq__" in vars(base) for base in kind.__mro__[:-1])
        if not compared and not issubclass(kind, (NoneType, Enum)):
            raise ParameterError(
                "target",
                must="return outputs that can be compared",
                got=kind.__name__,
                hint="Return the bytes that are sent, or text, numbers, or rows of these.",
            )


def _array(values: Sequence[Any]) -> Column:
    """Return values as one array: of numbers, of rows of numbers, or else of objects."""
    columns = [np.asarray(value) for value in values]
    if len({column.shape for column in columns}) == 1:
        table = np.stack(columns)
        kept = all((row == column).all() for row, column in zip(table, columns, strict=True))
        if table.dtype.kind in "biuf" and kept:
            return table
    table = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        table[place] = value
    return table
