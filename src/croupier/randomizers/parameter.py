"""The parameters of mechanisms: each is declared once, on the field of its class.

The keys of a plan file, its published schema, its comments, the options of commands and the texts
of errors all follow from that declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from numbers import Integral, Real
from operator import index
from string import ascii_lowercase
from typing import Any, get_args

from croupier.errors import ParameterError
from croupier.model.domain import Grid
from croupier.model.texts import Normalisation
from croupier.numerics.arrays import is_array
from croupier.numerics.keystream import WORD
from croupier.numerics.validate import ONE_LINE, is_one_line

__all__ = ["CATEGORIES", "EPSILON", "GRID", "LABELS", "MATRIX", "NORMALISATION", "TABLES", "TAIL"]
__all__ += ["TEXT", "WHOLE", "WHOLE_NUMBERS", "Kind", "Parameter", "declares", "parameters_of"]

_DECLARED = "croupier.parameter"


@dataclass(frozen=True)
class Kind:
    """The kind of values that a parameter takes.

    Attributes:
        read: Turns the value in a plan or a program into the one that the mechanism takes.
        must: The requirement, as an error says it.
        hint: A value to try instead.
        schema: The same as JSON Schema.
    """

    read: Callable[[Any], Any]
    must: str
    hint: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a mechanism.

    Attributes:
        name: The name in plans, programs and, with hyphens, options.
        kind: The kind of its values.
        means: The meaning, as a comment or a help text says it.
        required: True if it must be given.
    """

    name: str
    kind: Kind
    means: str
    required: bool

    def read(self, value: Any) -> Any:
        """Turn texts, numbers, lists and tables into the value that the mechanism takes.

        Raises:
            ParameterError: The value is not of this kind.
        """
        try:
            return None if value is None else self.kind.read(value)
        except ParameterError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            got = value if isinstance(value, str | bool | float) else None
            must, hint = self.kind.must, self.kind.hint
            if isinstance(error, TypeError):  # no number at all: its size is not what is wrong
                must = must.removesuffix(_MOST)
            if self.kind.read is _whole and isinstance(value, float) and value.is_integer():
                hint = f"Try {int(value)}."
            raise ParameterError(self.name, must=must, got=got, hint=hint) from None


def declares(kind: Kind, means: str) -> dict[str, tuple[Kind, str]]:
    """Return the metadata of a field that is a parameter."""
    return {_DECLARED: (kind, means)}


def parameters_of(mechanism: type) -> dict[str, Parameter]:
    """List the parameters of a mechanism's class by name, in their order.

    >>> from croupier.randomizers.local_hashing import LocalHashing
    >>> list(parameters_of(LocalHashing))
    ['max_epsilon_local', 'denominator', 'k', 'labels', 'buckets', 'prime']
    """
    return {
        one.name: Parameter(one.name, kind, means, one.default is MISSING)
        for one in fields(mechanism)
        if _DECLARED in one.metadata
        for kind, means in [one.metadata[_DECLARED]]
    }


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError
    return float(value) + 0.0  # no negative zero, so that each number has one spelling


def _whole(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    number = index(value)
    if abs(number) > WORD:
        raise ValueError
    return number


def _list(value: Any) -> list[Any]:
    if isinstance(value, str | Mapping):
        raise TypeError
    return list(value)


def _labels(value: Any) -> tuple[str | int, ...]:
    labels = tuple(label if isinstance(label, str) else _whole(label) for label in _list(value))
    for label in labels:
        if isinstance(label, str) and not is_one_line(label):
            must = "be texts on one line, with nothing hidden and no white space at the ends"
            raise ParameterError("labels", must=must, got=label)
    return labels


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _letters(value: Any) -> str:
    if value in _FLAGS_ONLY:
        hint = f'Try "{ascii_lowercase}", or leave it out for any bytes of UTF-8.'
        raise ParameterError("alphabet", must="spell all letters out", got=value, hint=hint)
    return _text(value)


def _normalisation(value: Any) -> str:
    if value not in _NORMALISATIONS:
        raise ValueError
    return _text(value)


def _grid(value: Any) -> Grid:
    if isinstance(value, Grid):
        return value
    if set(value) != {"low", "high", "step"}:
        raise ValueError
    return Grid(**{name: _number(end) for name, end in value.items()})


def _matrix(value: Any) -> Any:
    if is_array(value):
        return value
    entries = (Integral, float)
    rows = tuple(tuple(_list(row)) for row in _list(value))
    if not all(isinstance(e, entries) and not isinstance(e, bool) for row in rows for e in row):
        raise TypeError
    return rows


def _whole_numbers(value: Any) -> tuple[int, ...]:
    return tuple(_whole(entry) for entry in _list(value))


def _array(items: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items} | more


_MOST = " up to 2^64"
_NORMALISATIONS = get_args(Normalisation)
_FLAGS_ONLY = ("a-z", "a-z0-9", "any")
"""Names of alphabets that flags of commands spell out."""
_INTEGER = {"type": "integer"}
_NUMBER = {"type": "number"}
_ENDS = dict.fromkeys(("low", "high", "step"), _NUMBER)

EPSILON = Kind(
    _number,
    "be a number in (0, 20]",
    "Try 4.",
    _NUMBER | {"exclusiveMinimum": 0, "maximum": 20},
)
TAIL = Kind(_number, "be a number in [2, 5]", "Try 3.", _NUMBER | {"minimum": 2, "maximum": 5})
WHOLE = Kind(_whole, f"be a whole number{_MOST}", "Try 16.", _INTEGER)
CATEGORIES = Kind(WHOLE.read, WHOLE.must, WHOLE.hint, _INTEGER | {"minimum": 2})
WHOLE_NUMBERS = Kind(
    _whole_numbers, f"be a list of whole numbers{_MOST}", "Try [1, 2].", _array(_INTEGER)
)
LABELS = Kind(
    _labels,
    "be a list of texts or whole numbers",
    'Try ["no", "yes"].',
    _array({"type": ["string", "integer"], "pattern": ONE_LINE}, minItems=2, uniqueItems=True),
)
GRID = Kind(
    _grid,
    "have the numbers low, high and step",
    "Try {low = 0, high = 1, step = 0.1}.",
    {"type": "object", "required": [*_ENDS], "properties": _ENDS, "additionalProperties": False},
)
TEXT = Kind(
    _letters,
    "be letters that all differ",
    'Try "abcdefghijklmnopqrstuvwxyz".',
    {"type": "string", "minLength": 1},
)
NORMALISATION = Kind(
    _normalisation,
    'be "none", "lower" or "nfc"',
    'Try "lower".',
    {"enum": [*_NORMALISATIONS]},
)
MATRIX = Kind(
    _matrix, "be a list of rows of numbers", "Try [[3, 1], [1, 3]].", _array(_array(_NUMBER))
)
TABLES = Kind(
    lambda value: tuple(_list(value)),
    "be a list of tables with a mechanism",
    "",
    _array({"$ref": "#/$defs/Question"}),
)
