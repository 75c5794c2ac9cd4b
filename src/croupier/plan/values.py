"""The kinds of values that the keys of a plan file may hold."""

import re
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from croupier.numerics.validate import ONE_LINE, unwrapped

__all__ = ["Count", "Date", "Duration", "Line", "Number", "One", "Origin", "Two", "key", "plain"]
__all__ += ["read_duration", "spoken", "words"]

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_DURATION = "^([0-9]{1,8}) ?([smhd])$"
_LONGEST = timedelta(seconds=10**8)
"""Some three years: every shorter duration can be written in seconds."""


def key(default: Any = ..., *, means: str, must: str, example: Any, **field: Any) -> Any:
    """Describe a key of the plan: its meaning for comments, and its rule for errors."""
    return Field(
        default,
        description=means,
        examples=[example],
        json_schema_extra={"must": must},
        **field,
    )


def words(*, means: str, example: str, most: int) -> Any:
    """Describe a key that holds a text for people: one line, with nothing hidden."""
    return key(
        None,
        means=means,
        must=f"be a text of 1 to {most:,} characters, on one line",
        example=example,
        min_length=1,
        max_length=most,
        pattern=ONE_LINE,
    )


def plain(value: Any) -> Any:
    """Write a specification in the types of TOML and JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {name: plain(entry) for name, entry in value.items() if entry is not None}
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    return value


def _a_number(value: Any) -> Any:
    value = unwrapped(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("not a number")  # noqa: TRY004 - what pydantic collects
    return value


One = Annotated[Literal[1], BeforeValidator(_a_number)]
Two = Annotated[Literal[2], BeforeValidator(_a_number)]
Count = Annotated[int, BeforeValidator(_a_number)]
Number = Annotated[float, BeforeValidator(_a_number)]
Line = Annotated[str, Field(min_length=1, max_length=1000, pattern=ONE_LINE)]
_HOST = r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?"
_LOOPBACK = r"(localhost|127\.0\.0\.1|\[::1\])"
Origin = Annotated[
    str,
    Field(pattern=rf"^(https://({_HOST}|\[[0-9a-f:]+\])|http://{_LOOPBACK})(:[1-9][0-9]{{0,4}})?$"),
]
"""An origin as browsers write it: lower case, no path; without TLS on this machine only."""


def _date(value: Any) -> Any:
    if isinstance(value, str) and re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return date.fromisoformat(value)
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError("not a date")  # noqa: TRY004 - what pydantic collects
    return value


Date = Annotated[date, BeforeValidator(_date)]


def read_duration(value: Any) -> timedelta:
    """Read a time such as "24h" or "30 days"; raise ValueError for what is none."""
    if isinstance(value, timedelta):
        return value
    match = re.fullmatch(_DURATION, value) if isinstance(value, str) else None
    length = timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else _LONGEST
    if length >= _LONGEST:
        raise ValueError("not a duration below three years")
    return length


def spoken(duration: timedelta) -> str:
    """Write a duration in hours, or else in the largest unit that is exact."""
    seconds = int(duration.total_seconds())
    for size, unit in ((3600, "h"), (60, "m")):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


Duration = Annotated[
    timedelta,
    BeforeValidator(read_duration),
    PlainSerializer(spoken, return_type=str),
    WithJsonSchema({"type": "string", "pattern": _DURATION}),
]
