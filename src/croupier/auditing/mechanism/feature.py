"""Properties of an output that events refer to: its value, its lowest bit, its length, its type."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.mechanism.column import Column, Shape, fingerprints

__all__ = ["Codes", "Feature", "common_features", "exact_feature", "pair_feature"]
__all__ += ["score_feature"]

Codes = NDArray[np.int64]

_MOST_ATOMS = 4096
_MOST_BINS = 256
_MOST_BYTES = 256
_MOST_OUTPUTS = 1 << 16
_NAMED = 5
"""The number of members of a set that an event lists before it only counts them."""


@dataclass(frozen=True)
class Feature:
    """A question about an output, with numbered answers.

    Attributes:
        name: The question, in words.
        shape: The shape of outputs that can be asked; None for any.
        answers: The number of the answer for each entry of a column of that shape.
        labels: The meaning of the numbers; one more number stands for answers never learned.
        ordered: True if the numbers are in the order of the answers, so that thresholds make sense.
        edges: True if a label is the lower end of a range of answers.
        scale: True if only thresholds make sense.
        exact: True if a number stands for one value that came more than once.
        unknown: The meaning of the extra number, in words.
    """

    name: str
    shape: Shape | None
    answers: Callable[[Column], Codes]
    labels: Sequence[Any]
    ordered: bool = field(default=False, kw_only=True)
    edges: bool = field(default=False, kw_only=True)
    scale: bool = field(default=False, kw_only=True)
    exact: bool = field(default=False, kw_only=True)
    unknown: str = field(default="never seen in the search", kw_only=True)

    def encode(self, column: Column) -> Codes:
        """Return the number of each entry's answer; the last one for other shapes."""
        if self.shape is None:
            return self.answers(column)
        fitting, entries = self.shape.read(column)
        if len(entries) == len(column):
            return self.answers(entries)
        codes = np.full(len(column), len(self.labels), dtype=np.int64)
        if len(entries):
            codes[fitting] = self.answers(entries)
        return codes

    @property
    def size(self) -> int:
        """The number of numbers."""
        return len(self.labels) + 1

    def counts(self, column: Column) -> Codes:
        """Count how often each number occurs."""
        return np.bincount(self.encode(column), minlength=self.size)

    def describe(self, member: NDArray[np.bool_]) -> str:
        """Describe the outputs whose answer is a member, in words."""
        if not member[:-1].any():
            return f"{self.name} {self.unknown}"
        known = self._known(member)
        return f"{known} or {self.unknown}" if member[-1] else known

    def _known(self, member: NDArray[np.bool_]) -> str:
        inside = np.flatnonzero(member[:-1])
        if self.edges or (self.ordered and len(inside) > _NAMED):
            threshold = self._threshold(member[:-1])
            if threshold:
                return threshold
        if self.edges:
            return f"{self.name} in one of {len(inside):,} ranges"
        named = [str(self.labels[place]) for place in inside[:_NAMED]]
        rest = len(inside) - len(named)
        if len(named) == 1 and not rest:
            return f"{self.name} = {named[0]}"
        more = f" and {rest:,} more" if rest else ""
        return f"{self.name} in {{{', '.join(named)}}}{more}"

    def _threshold(self, member: NDArray[np.bool_]) -> str | None:
        """Describe a half-line or an interval in words."""
        inside = np.flatnonzero(member)
        if not len(inside) or inside[-1] - inside[0] + 1 != len(inside):
            return None
        low, high = int(inside[0]), int(inside[-1])
        if high == len(member) - 1:
            return f"{self.name} >= {self._label(low)}"
        above = f"{self.name} < {self._label(high + 1)}"
        return above if low == 0 else f"{self._label(low)} <= {above}"

    def _label(self, place: int) -> str:
        label = self.labels[place]
        return f"{label:.6g}" if isinstance(label, float) else str(label)


def common_features(pooled: Column) -> Iterator[Feature]:
    """Yield the questions that suit a column, whatever the inputs."""
    kind = pooled.dtype.kind
    if pooled.ndim == 2:
        yield from _of_rows(pooled)
    elif kind in "iu":
        yield from _of_integers(pooled)
    elif kind == "f":
        yield from _of_floats(pooled)
    else:
        yield from _of_objects(pooled)


def pair_feature(first: Column, second: Column) -> Feature | None:
    """Return, for rows and bytes of one length, the sum over places of what each reveals.

        score = sum over places j of ln(P_j(y_j)/Q_j(y_j)),

    the logarithm of the likelihood ratio if places are independent, as in a unary encoding. A place
    that hardly ever repeats is left out. P_j and Q_j are frequencies, with half a count added to
    each answer.
    """
    width = _common_width(np.concatenate([first, second]))
    if width is None:
        return None
    kind = first.dtype if first.ndim == 2 else type(first[0])
    matrix = [_characters(column, width, kind)[1] for column in (first, second)]
    places = [_atoms_of(np.concatenate([part[:, j] for part in matrix])) for j in range(width)]
    most = min(_MOST_ATOMS, len(matrix[0]) // 8 + 2)
    tables = {}
    for j, atoms in enumerate(places):
        if len(atoms) > most:
            continue
        ahead, behind = (
            np.bincount(_place(atoms, part[:, j]), minlength=len(atoms) + 1) + 0.5
            for part in matrix
        )
        table = np.log(ahead / ahead.sum()) - np.log(behind / behind.sum())
        table[-1] = 0.0
        tables[j] = table
    if not tables:
        return None

    def score(column: Column) -> NDArray[np.float64]:
        fitting, rows = _characters(column, width, kind)
        total = np.where(fitting, 0.0, np.nan)
        for j, table in tables.items() if len(rows) else ():
            total[fitting] += table[_place(places[j], rows[:, j])]
        # Sums in another order differ in the last digits, but equal scores must stay equal.
        return np.asarray(np.round(total, 9), dtype=np.float64)

    pooled = np.concatenate([first, second])
    name = "likelihood score of the output"
    return _ranges(name, score, pooled, Shape.of([first]), scale=True)


def exact_feature(name: str, pooled: Column) -> Feature:
    """Return each output of any type that was seen twice; rarer ones share one number."""
    words, place, times = np.unique(fingerprints(pooled), return_index=True, return_counts=True)
    often = np.flatnonzero(times > 1)
    often = np.sort(often[np.argsort(-times[often], kind="stable")[:_MOST_OUTPUTS]])
    known = words[often]
    labels = pooled[place[often]]
    return Feature(
        name,
        None,
        lambda column: _place(known, fingerprints(column)),
        [tuple(row) for row in labels.tolist()] if labels.ndim == 2 else labels.tolist(),
        exact=True,
        unknown="seen once or never in the search",
    )


def score_feature(name: str, pooled: Column) -> Feature:
    """Return a number of which only thresholds make sense."""
    return _ranges(name, lambda column: column, pooled, Shape("f"), scale=True)


def _of_integers(pooled: Column) -> Iterator[Feature]:
    shape, atoms = Shape("i"), _atoms_of(pooled)
    if len(atoms) <= _MOST_ATOMS:
        yield _atoms("output", atoms, shape)
        return
    yield _ranges("output", lambda column: column, pooled, shape)
    yield Feature(
        "last byte of the output",
        shape,
        lambda column: (column & 0xFF).astype(np.int64),
        range(256),
    )


def _of_floats(pooled: Column) -> Iterator[Feature]:
    shape, atoms = Shape("f"), _atoms_of(pooled)
    if len(atoms) <= min(_MOST_ATOMS, len(pooled) // 8):
        yield _atoms("output", atoms, shape)
    else:
        yield _ranges("output", lambda column: column, pooled, shape)
    if np.signbit(pooled[pooled == 0]).any():
        yield Feature(
            "sign of the output", shape, lambda column: np.signbit(column).astype(np.int64), "+-"
        )
    bits = _atoms_of(_lowest_bit(pooled))
    yield Feature(
        "exponent of the output's lowest set bit",
        shape,
        lambda column: _place(bits, _lowest_bit(column)),
        bits.tolist(),
        ordered=True,
    )


def _of_rows(pooled: Column) -> Iterator[Feature]:
    shape = Shape.of([pooled])
    keys = np.unique(_row_keys(pooled))
    if len(keys) <= _MOST_ATOMS:
        labels = np.frombuffer(keys.tobytes(), dtype=pooled.dtype).reshape(-1, pooled.shape[1])
        yield Feature(
            "output",
            shape,
            lambda column: _place(keys, _row_keys(column.astype(pooled.dtype))),
            [tuple(row) for row in labels.tolist()],
        )
    yield _ranges("sum of the row", lambda rows: rows.sum(axis=1, dtype=np.float64), pooled, shape)


def _of_objects(pooled: Column) -> Iterator[Feature]:
    yield _named("type of the output", lambda entry: type(entry).__name__, pooled)
    yield _named("length of the output", _length, pooled)
    words, place, times = np.unique(fingerprints(pooled), return_index=True, return_counts=True)
    often = np.sort(np.argsort(-times, kind="stable")[:_MOST_ATOMS])
    known = words[often]
    labels = [repr(entry) for entry in pooled[place[often]]]
    yield Feature("output", None, lambda column: _place(known, fingerprints(column)), labels)


def _length(entry: Any) -> int | None:
    with suppress(Exception):
        return len(entry)
    return None


def _named(name: str, answer: Callable[[Any], Any], pooled: Column) -> Feature:
    known: dict[Any, int] = {}
    for entry in pooled:
        if len(known) >= _MOST_ATOMS:
            break
        known.setdefault(answer(entry), len(known))
    unknown = len(known)

    def encode(column: Column) -> Codes:
        found = (known.get(answer(entry), unknown) for entry in column)
        return np.fromiter(found, dtype=np.int64, count=len(column))

    return Feature(name, Shape("O"), encode, list(known))


def _atoms(name: str, atoms: Column, shape: Shape) -> Feature:
    labels = atoms.tolist()
    return Feature(name, shape, lambda column: _place(atoms, column), labels, ordered=True)


def _ranges(
    name: str, number: Callable[[Column], Any], pooled: Column, shape: Shape, *, scale: bool = False
) -> Feature:
    """Return ranges between quantiles, finer towards both ends; or each number by itself."""
    numbers = np.asarray(number(pooled), dtype=np.float64)
    finite = np.sort(numbers[~np.isnan(numbers)])
    if not len(finite):
        finite = np.zeros(1)
    atoms = np.unique(finite)
    if len(atoms) > _MOST_BINS:
        tail = np.unique(np.geomspace(1, len(finite) // 2 + 1, 64).astype(np.int64))
        middle = np.linspace(0, len(finite) - 1, _MOST_BINS).astype(np.int64)
        places = np.unique(np.concatenate([[0], tail, len(finite) - tail, middle]))
        atoms = np.unique(finite[np.clip(places, 0, len(finite) - 1)])
    labels = atoms.tolist()

    def encode(column: Column) -> Codes:
        given = np.asarray(number(column), dtype=np.float64)
        codes = np.maximum(np.searchsorted(atoms, given, side="right") - 1, 0)
        return np.where(np.isnan(given), len(labels), codes)

    return Feature(name, shape, encode, labels, ordered=True, edges=True, scale=scale)


def _lowest_bit(numbers: Column) -> Codes:
    """Return the exponent of the largest power of two dividing each number; 2000 if none.

    Floating-point noise is a multiple of another power of two than its sum with a value, so the
    last bits of a double reveal which value was added (mironov2012).
    """
    mantissa, exponent = np.frexp(numbers.astype(np.float64))
    ordinary = np.isfinite(mantissa) & (mantissa != 0)
    whole = np.where(ordinary, mantissa * 2.0**53, 1.0).astype(np.int64)
    _, place = np.frexp((whole & -whole).astype(np.float64))
    return np.where(ordinary, exponent - 53 + place - 1, 2000).astype(np.int64)


def _atoms_of(column: Column) -> Column:
    """Return the distinct entries, sorted; integers in a narrow range by counting."""
    if column.dtype.kind in "iu" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low < 1 << 20:
            offset = column.astype(np.int64) - low if high < 1 << 62 else column - low
            present = np.flatnonzero(np.bincount(offset.astype(np.int64)))
            return (present + low).astype(column.dtype)
    return np.unique(column)


def _place(atoms: Column, column: Column) -> Codes:
    """Return the index of each entry among the atoms; their number if it is not among them."""
    if column.dtype.kind in "iu" and atoms.dtype.kind in "iu" and len(atoms):
        low, high = int(atoms[0]), int(atoms[-1])
        if high - low < 1 << 20 and high < 1 << 62 and column.dtype != np.uint64:
            table = np.full(high - low + 2, len(atoms))
            table[atoms.astype(np.int64) - low] = np.arange(len(atoms))
            offset = column.astype(np.int64) - low
            outside = (offset < 0) | (offset > high - low)
            return table[np.where(outside, high - low + 1, offset)]
    if not len(atoms):
        return np.zeros(len(column), dtype=np.int64)
    found = np.searchsorted(atoms, column)
    found = np.minimum(found, len(atoms) - 1)
    same = atoms[found] == column
    if column.dtype.kind == "f":
        same |= np.isnan(column) & np.isnan(atoms[found])
    return np.where(same, found, len(atoms)).astype(np.int64)


def _row_keys(rows: Column) -> Column:
    """Return each row as one comparable entry: its bytes."""
    packed = np.ascontiguousarray(rows)
    return packed.view(np.dtype((np.void, packed.dtype.itemsize * packed.shape[1]))).reshape(-1)


def _common_width(column: Column) -> int | None:
    """Return the length that rows, or bytes or text of one type, have in common."""
    if column.ndim == 2:
        return int(column.shape[1])
    if column.dtype != object or {type(entry) for entry in column} not in ({bytes}, {str}):
        return None
    lengths = {len(entry) for entry in column}
    width = lengths.pop()
    return None if lengths or not 0 < width <= _MOST_BYTES else width


def _characters(column: Column, width: int, kind: Any) -> tuple[NDArray[np.bool_], Column]:
    """Return which entries have a type and a length, and those as rows of numbers."""
    if column.ndim == 2:
        return np.ones(len(column), dtype=bool), column
    fitting = np.array(
        [type(entry) is kind and len(entry) == width for entry in column], dtype=bool
    )
    chosen = column[fitting].tolist()
    if kind is bytes:
        return fitting, np.frombuffer(b"".join(chosen), dtype=np.uint8).reshape(-1, width)
    return fitting, np.array([[*map(ord, entry)] for entry in chosen]).reshape(-1, width)
