"""What is wrong with a plan, in words, from what the validation found."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from croupier.errors import ParameterError
from croupier.model.rung import Rung

__all__ = ["described"]

Path = tuple[str | int, ...]


def described(plan: type[BaseModel], found: ValidationError) -> tuple[Path, str]:
    """Where in the plan the first problem is, and the sentence that says what to write instead.

    A key that is not known comes first: it is often the one that another is missed for.
    """
    errors = found.errors()
    error: Any = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    path = tuple(part for part in error["loc"] if not _is_branch(part))
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, ParameterError):
        path = (*path, *cause.parameter.split("."))
        return path, _sentence(path, cause.must, cause.got, cause.hint)
    name = str(path[-1])
    if error["type"] == "extra_forbidden" or error["loc"][-1] == "[key]":
        rungs = error["loc"][-1] == "[key]"
        known = list(Rung if rungs else _keys(_fields_at(plan, path[:-1])))
        close = get_close_matches(name, known, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Try one of {', '.join(known)}."
        return path, f"{name} is not known here. {hint}"
    field = _keys(_fields_at(plan, path[:-1])).get(name)
    extra = field.json_schema_extra if field else None
    must = extra.get("must") if isinstance(extra, dict) else None
    hint = f"Try {_toml(field.examples[0])}." if field and field.examples else ""
    if error["type"] == "missing":
        return path, _sentence(path, "be given", None, hint)
    return path, _sentence(path, str(must or "be a table"), error["input"], hint)


def _is_branch(part: str | int) -> bool:
    """Whether it names a branch of a union of types, not a key."""
    return isinstance(part, str) and part.startswith(("int", "tuple[", "function-", "[key]"))


def _sentence(path: Path, must: str, got: Any, hint: str) -> str:
    found = "" if got is None or isinstance(got, dict | list) else f"; got {_toml(got)}"
    return f"{path[-1]} must {must}{found}.{f' {hint}' if hint else ''}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:_}" if isinstance(value, int) else str(value)


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
