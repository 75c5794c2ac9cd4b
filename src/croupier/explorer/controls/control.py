"""One thing that a person may set, and how it is written into the document of a plan."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from sys import float_info
from typing import Any, Literal, NamedTuple

from croupier.errors import ParameterError

__all__ = ["Control", "Document", "InputGroup", "Option", "Write", "number", "put", "sections"]

Document = dict[str, Any]
"""A plan as tables, lists, texts and numbers, as `Plan.document` returns it."""

Write = Callable[[Document, Any], None]
"""Writes a value that came from the page into a document."""


class Option(NamedTuple):
    """One of several values, and the words for it."""

    value: Any
    label: str


@dataclass(frozen=True, kw_only=True)
class Control:
    """One input of the page.

    Attributes:
        id: Its name, which the page sends back with a value.
        label: A few words that say what it sets.
        kind: The kind of input.
        value: The value now; None for an input that is empty.
        key: The key of the plan that it sets, if it is one key.
        help: One sentence more.
        unit: The unit of a number.
        low: The least number that a slider offers; others may be typed.
        high: The largest one.
        log: True if a slider is logarithmic.
        integer: True if only whole numbers are meant.
        movable: True if curves can be drawn over it.
        lossy: True if moving it there and back may lead to another plan.
        edge: Which end of the numbers that meet all limits is looked for, if one is.
        options: The values of a choice.
    """

    id: str
    label: str
    kind: Literal["slider", "number", "choice", "text", "list", "button"]
    value: Any = None
    key: str | None = None
    help: str = ""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    integer: bool = False
    movable: bool = False
    lossy: bool = False
    edge: Literal["smallest", "largest"] | None = None
    options: tuple[Option, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the input as JSON."""
        return {
            "id": self.id,
            "label": self.label,
            "kind": self.kind,
            "value": self.value,
            "key": self.key,
            "help": self.help,
            "unit": self.unit,
            "from": self.low,
            "to": self.high,
            "scale": "log" if self.log else "linear",
            "integer": self.integer,
            "movable": self.movable,
            "lossy": self.lossy,
            "edge": self.edge,
            "options": [option._asdict() for option in self.options],
        }


@dataclass(frozen=True, kw_only=True)
class InputGroup:
    """Inputs that belong together.

    Attributes:
        name: The name of the group.
        heading: Its heading.
        controls: The inputs, in order.
    """

    name: str
    heading: str
    controls: tuple[Control, ...]

    @classmethod
    def of(cls, name: str, heading: str, controls: Iterable[Control]) -> "InputGroup":
        """Put inputs together."""
        return cls(name=name, heading=heading, controls=tuple(controls))

    def document(self) -> dict[str, Any]:
        """Return the group as JSON."""
        controls = [control.document() for control in self.controls]
        return {"name": self.name, "heading": self.heading, "controls": controls}


_LARGEST = float_info.max


def number(name: str, value: Any) -> int | float:
    """Return a number that the page sent, whole if it is.

    >>> number("minimum_batch", 1000.0)
    1000

    Raises:
        ParameterError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise ParameterError(name, must="be a number", hint="Type one.")
    return int(value) if float(value).is_integer() else value


def put(section: str, name: str) -> Write:
    """Return what writes a number into one key of one table; None removes the key."""

    def write(document: Document, value: Any) -> None:
        table = document.setdefault(section, {})
        if value is None:
            table.pop(name, None)
        else:
            table[name] = number(name, value)

    return write


def sections(document: Document, name: str) -> list[dict[str, Any]]:
    """Return the tables of a list in a document, `questions` also where there is only one."""
    if name == "questions" and "questions" not in document:
        return [document["randomizer"]]
    found: list[dict[str, Any]] = document.setdefault(name, [{}])
    return found
