"""Sentences that say what is wrong with a plan, from what the validation found."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from croupier.errors import ParameterError, UnknownNameError, nearest_name
from croupier.model.metric import RENAMED
from croupier.model.rung import Rung

__all__ = ["RENAMED_LIMITS", "described", "escaped", "toml_value"]

Path = tuple[str | int, ...]

_LONGEST = 40
"""Characters of a value that are shown."""

_ONE_OF = {"questions": "randomizer"}
"""The key that may stand in place of a list with one entry."""

RENAMED_LIMITS = {f"max_{old}": new.limit for old, new in RENAMED.items() if not new.protects}
"""Limits of version 0.1, and their names today."""


def described(plan: type[BaseModel], found: ValidationError) -> tuple[Path, str]:
    """Return where the first problem is, and the sentence that says what to write instead.

    An unknown key comes first: it is often a misspelt one that is then missing.
    """
    errors = found.errors()
    error: Any = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    path = error["loc"]
    if error["type"] == "extra_forbidden":
        return path, _unknown(plan, path)
    if path and path[-1] == "[key]":
        name = _short(path[-2])
        return path[:-1], f"{name} is not a rung. {nearest_name(name, Rung)}"
    path = tuple(part for part in path if not _is_branch(part))
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, UnknownNameError):
        name = _short(cause.parameter)
        return (*path, cause.parameter), f"{name} is not {cause.what}. {cause.hint}"
    if isinstance(cause, ParameterError):
        path = (*path, *cause.parameter.split("."))
        return path, _sentence(path[-1], cause.must, cause.got, cause.hint)
    name = next(part for part in reversed(path) if isinstance(part, str))
    field = _keys(_fields_at(plan, path[: path.index(name)])).get(name)
    extra = field.json_schema_extra if field else None
    must = extra.get("must") if isinstance(extra, dict) else None
    hint = f"Try {toml_value(field.examples[0])}." if field and field.examples else ""
    if error["type"] == "missing":
        return _missing(path, name, hint)
    return path, _sentence(name, str(must or "be a table"), error["input"], hint)


def _missing(path: Path, name: str, hint: str) -> tuple[Path, str]:
    if name in _ONE_OF:
        one, must = _ONE_OF[name], f"be given, or [[{name}]]"
        return (one,), _sentence(one, must, None, 'Try mechanism = "k-rr".')
    return path, _sentence(name, "be given", None, hint)


def _unknown(plan: type[BaseModel], path: Path) -> str:
    name = _short(path[-1])
    if name in RENAMED_LIMITS:
        return f"{name} is now called {RENAMED_LIMITS[name]}. Rename it."
    table = ".".join(str(part) for part in path[:-1] if isinstance(part, str))
    listed = _keys(_fields_at(plan, path[:-1]))
    known = [own for key in listed for own in (_ONE_OF.get(key), key) if own]
    return (
        f"{name} is not a key of {table or f'a {plan.__name__.lower()}'}. "
        f"{nearest_name(name, known)}"
    )


def toml_value(value: Any) -> str:
    """A value as one writes it in a plan."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:_}"
    if isinstance(value, float):
        return str(value).replace("e-0", "e-")
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name} = {toml_value(v)}' for name, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _shown(got: Any) -> str:
    if isinstance(got, int) and abs(got) >= 10**18:
        return f"{Decimal(got):.3g}"
    return toml_value(_short(got) if isinstance(got, str) else got)


def escaped(text: str) -> str:
    """Write signs that do not print, or that move a cursor, as in a program."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def _short(value: object) -> str:
    text = escaped(str(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _is_branch(part: str | int) -> bool:
    """Tell whether it names a branch of a union of types, not a key."""
    return isinstance(part, str) and (part == "int" or "[" in part)


def _sentence(name: str, must: str, got: Any, hint: str) -> str:
    found = "" if got is None or isinstance(got, dict | list) else f"; got {_shown(got)}"
    return f"{name} must {must}{found}.{f' {hint}' if hint else ''}"


def _keys(fields: Mapping[str, FieldInfo]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in fields.items()}


def _fields_at(plan: type[BaseModel], path: Path) -> Mapping[str, FieldInfo]:
    """The keys of the table that a path leads to."""
    fields: Mapping[str, FieldInfo] = plan.model_fields
    for part in path:
        field = _keys(fields).get(str(part))
        if field is not None:
            fields = _table(field.annotation)
    return fields


def _table(annotation: Any) -> Mapping[str, FieldInfo]:
    """The keys of the first table among the types that an annotation allows."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.model_fields
    for part in get_args(annotation):
        if found := _table(part):
            return found
    return {}
