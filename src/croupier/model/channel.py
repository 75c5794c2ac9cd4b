"""A channel: the probability of every output given every input."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

from croupier.errors import ParameterError
from croupier.model.html import numbers
from croupier.model.likelihood import LikelihoodClasses
from croupier.numerics.arrays import np
from croupier.numerics.rounding import log_above

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Channel"]

Labels = Sequence[Hashable]

_ROW_SUM_TOLERANCE = 1e-9
_SHOWN = 8


@dataclass(frozen=True, eq=False, repr=False)
class Channel:
    """A row-stochastic matrix p(output | input) with labels.

    An *exact* channel holds integer weights over a common denominator, like an implementation that
    compares uniform integers with thresholds; every question about it is answered without rounding.
    A *float* channel holds probabilities.

    ``first @ second`` feeds the output of `first` into `second` (cascade);
    ``first | second`` shows both outputs for one input (parallel). Exact with exact is exact.

    Attributes:
        weights: One row per input, one column per output: integers, or probabilities where
            `denominator` is None.
        denominator: The sum of every row of integers; None for a float channel.
        inputs: One label per row.
        outputs: One label per column.

    Example:
        >>> response = Channel.from_weights([[3, 1], [1, 3]], 4)
        >>> response.epsilon
        1.0986122886681098
        >>> (response @ response).weights.tolist()
        [[10, 6], [6, 10]]
    """

    weights: NDArray[Any]
    denominator: int | None
    inputs: Labels = ()
    outputs: Labels = ()

    def __post_init__(self) -> None:
        matrix = np.array(self.weights)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ParameterError("weights", must="be a matrix with rows and columns")
        if self.denominator is None:
            matrix = _checked_probabilities(matrix)
        else:
            object.__setattr__(self, "denominator", index(self.denominator))
            matrix = _checked_weights(matrix, self.denominator)
        matrix.setflags(write=False)
        object.__setattr__(self, "weights", matrix)
        object.__setattr__(self, "inputs", _labels("inputs", self.inputs, matrix.shape[0]))
        object.__setattr__(self, "outputs", _labels("outputs", self.outputs, matrix.shape[1]))

    @classmethod
    def from_weights(
        cls, weights: ArrayLike, denominator: int, *, inputs: Labels = (), outputs: Labels = ()
    ) -> Channel:
        """An exact channel: non-negative integers, every row summing to `denominator`."""
        exact = isinstance(weights, np.ndarray) and weights.dtype.kind in "ui"
        matrix = np.array(weights, dtype=None if exact else object)
        return cls(matrix, denominator, inputs, outputs)

    @classmethod
    def from_probabilities(
        cls, probabilities: ArrayLike, *, inputs: Labels = (), outputs: Labels = ()
    ) -> Channel:
        """A float channel: probabilities, every row summing to one within 1e-9."""
        return cls(np.array(probabilities, dtype=np.float64), None, inputs, outputs)

    @property
    def exact(self) -> bool:
        """True if the entries are integers over a denominator."""
        return self.denominator is not None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of inputs and of outputs."""
        rows, columns = self.weights.shape
        return rows, columns

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The matrix as doubles, each entry rounded to nearest."""
        if self.denominator is None:
            return self.weights
        if self.weights.dtype == np.uint64 and _is_power_of_two(self.denominator):
            matrix = self.weights.astype(np.float64) / float(self.denominator)
        else:
            quotient = np.frompyfunc(lambda weight: weight / self.denominator, 1, 1)
            matrix = quotient(self.weights.astype(object)).astype(np.float64)
        matrix.setflags(write=False)
        return matrix

    def probability(self, row: int, column: int) -> Fraction:
        """One entry, exactly as it is stored."""
        entry = self.weights[row, column]
        if self.denominator is None:
            return Fraction(float(entry))
        return Fraction(int(entry), self.denominator)

    @cached_property
    def epsilon(self) -> float:
        """The local epsilon: ln of the largest ratio of two entries of a column, rounded up.

        Infinite if one input excludes an output that another allows.
        """
        greatest, least = self.weights.max(axis=0), self.weights.min(axis=0)
        possible = greatest > 0
        if (least[possible] == 0).any():
            return math.inf
        pairs = zip(greatest[possible].tolist(), least[possible].tolist(), strict=True)
        return log_above(max(Fraction(high) / Fraction(low) for high, low in pairs))

    @cached_property
    def blanket_mass(self) -> Fraction:
        """The sum over outputs of the least probability: the mass that all inputs share."""
        least = self.weights.min(axis=0)
        if self.denominator is None:
            return sum(map(Fraction, least.tolist()), Fraction(0))
        return Fraction(_row_sums(least[None, :])[0], self.denominator)

    def reduced(self) -> Channel:
        """An equivalent channel with the fewest outputs: proportional columns added, zeros dropped.

        Two proportional columns lead every observer to the same conclusion about the input. Each
        merged column is labelled by the tuple of outputs that it stands for.
        """
        groups: dict[tuple[Any, ...], list[int]] = {}
        for column in range(self.shape[1]):
            key = _direction(self.weights[:, column].tolist())
            if key is not None:
                groups.setdefault(key, []).append(column)
        merged = [self.weights[:, columns].astype(self._wide).sum(1) for columns in groups.values()]
        labels = [tuple(self.outputs[column] for column in group) for group in groups.values()]
        return Channel(np.stack(merged, axis=1), self.denominator, self.inputs, labels)

    def equal_inputs(self) -> list[tuple[Hashable, ...]]:
        """Inputs grouped by equal rows: nobody can tell the inputs of one group apart."""
        groups: dict[bytes | tuple[Any, ...], list[Hashable]] = {}
        for label, row in zip(self.inputs, self.weights, strict=True):
            key = tuple(row.tolist()) if row.dtype == object else row.tobytes()
            groups.setdefault(key, []).append(label)
        return [tuple(group) for group in groups.values()]

    def likelihood_classes(
        self, first: int, second: int, *, others: int | None = None
    ) -> LikelihoodClasses:
        """Merge outputs that say the same about rows `first` and `second`.

        The reference is the privacy blanket min over rows, or row `others` if one is given.
        """
        reference = self.weights.min(axis=0) if others is None else self.weights[others]
        columns = np.stack([reference, self.weights[first], self.weights[second]], axis=1)
        if self.denominator is not None:
            return LikelihoodClasses.of_weights(map(tuple, columns.tolist()), self.denominator)
        return LikelihoodClasses.merged(
            (Fraction(w), Fraction(p), Fraction(q)) for w, p, q in columns.tolist()
        )

    def __matmul__(self, other: Channel) -> Channel:
        if not isinstance(other, Channel):
            return NotImplemented
        if self.outputs != other.inputs:
            raise ParameterError(
                "other", must="take as inputs the outputs of the first channel, in that order"
            )
        labels = self.inputs, other.outputs
        if self.denominator is None or other.denominator is None:
            return Channel(self.probabilities @ other.probabilities, None, *labels)
        product = self.weights.astype(object) @ other.weights.astype(object)
        return Channel(product, self.denominator * other.denominator, *labels)

    def __or__(self, other: Channel) -> Channel:
        if not isinstance(other, Channel):
            return NotImplemented
        if self.inputs != other.inputs:
            raise ParameterError(
                "other", must="have the inputs of the first channel, in that order"
            )
        labels = self.inputs, [(one, two) for one in self.outputs for two in other.outputs]
        if self.denominator is None or other.denominator is None:
            return Channel(_pairs(self.probabilities, other.probabilities), None, *labels)
        product = _pairs(self.weights.astype(object), other.weights.astype(object))
        return Channel(product, self.denominator * other.denominator, *labels)

    def __eq__(self, other: object) -> bool:
        """Compare labels and probabilities, however they are stored."""
        if not isinstance(other, Channel):
            return NotImplemented
        if (self.inputs, self.outputs) != (other.inputs, other.outputs):
            return False
        if self.denominator is None or other.denominator is None:
            same = self.exact == other.exact
            return same and bool(np.array_equal(self.probabilities, other.probabilities))
        if self.denominator == other.denominator:
            return bool((self.weights == other.weights).all())
        mine = self.weights.astype(object) * other.denominator
        return bool((mine == other.weights.astype(object) * self.denominator).all())

    def __hash__(self) -> int:
        return hash((self.inputs, self.outputs, self.probabilities.tobytes()))

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = "float" if self.denominator is None else f"exact, denominator {self.denominator}"
        return f"Channel({rows} inputs, {columns} outputs, {kind})"

    def _repr_html_(self) -> str:
        rows, columns = (min(size, _SHOWN) for size in self.shape)
        names = [str(output) for output in self.outputs[:columns]]
        body = [
            (str(label), [f"{float(self.probability(row, y)):.6g}" for y in range(columns)])
            for row, label in enumerate(self.inputs[:rows])
        ]
        caption = repr(self).replace("(", ": ", 1).removesuffix(")")
        cut = f", the first {rows} x {columns} shown" if (rows, columns) != self.shape else ""
        return numbers(f"{caption}{cut}", ("input", *names), body)

    @property
    def _wide(self) -> type:
        return float if self.denominator is None else object


def _checked_probabilities(matrix: NDArray[Any]) -> NDArray[np.float64]:
    matrix = matrix.astype(np.float64) + 0.0  # no negative zeros
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ParameterError("probabilities", must="be finite and not negative")
    error = float(np.abs(matrix.sum(axis=1) - 1).max())
    if error > _ROW_SUM_TOLERANCE:
        raise ParameterError(
            "probabilities", must="sum to 1 in every row", got=f"a row off by {error:.3g}"
        )
    return matrix


def _checked_weights(matrix: NDArray[Any], denominator: int) -> NDArray[Any]:
    try:
        matrix = matrix if matrix.dtype.kind in "ui" else np.frompyfunc(index, 1, 1)(matrix)
    except TypeError:
        raise ParameterError(
            "weights", must="be integers", hint="Use from_probabilities."
        ) from None
    if (matrix < 0).any():
        raise ParameterError("weights", must="not be negative")
    matrix = _compact(matrix)
    for total in _row_sums(matrix):
        if total != denominator or total < 1:
            raise ParameterError("weights", must=f"sum to {denominator} in every row", got=total)
    return matrix


def _labels(name: str, labels: Labels, size: int) -> tuple[Hashable, ...]:
    if not len(labels):
        return tuple(range(size))
    if len(labels) != size or len(set(labels)) != size:
        raise ParameterError(name, must=f"be {size} distinct labels", got=f"{len(labels)} labels")
    return tuple(labels)


def _compact(weights: NDArray[Any]) -> NDArray[Any]:
    """Unsigned 64-bit integers where all fit, Python integers otherwise."""
    if weights.dtype == object and weights.max() >= 1 << 64:
        return weights
    return weights.astype(np.uint64)


def _row_sums(weights: NDArray[Any]) -> list[int]:
    """Row sums without overflow: 64-bit words are added as two halves."""
    if weights.dtype == object:
        return [int(total) for total in weights.sum(axis=1)]
    high = (weights >> np.uint64(32)).sum(axis=1).tolist()
    low = (weights & np.uint64(0xFFFFFFFF)).sum(axis=1).tolist()
    return [(h << 32) + rest for h, rest in zip(high, low, strict=True)]


def _pairs(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    product = first[:, :, None] * second[:, None, :]
    return np.reshape(product, (len(first), -1))


def _direction(column: list[Any]) -> tuple[int, ...] | None:
    """The common direction of proportional columns; None for a column of zeros."""
    weights = column
    if not all(isinstance(entry, int) for entry in column):
        entries = [Fraction(entry) for entry in column]
        denominator = math.lcm(*(entry.denominator for entry in entries))
        weights = [int(entry * denominator) for entry in entries]
    common = math.gcd(*weights)
    return tuple(weight // common for weight in weights) if common else None


def _is_power_of_two(value: int) -> bool:
    return value & (value - 1) == 0
