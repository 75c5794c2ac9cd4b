"""The function and the values that the command line names."""

import json as json_format
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from croupier.errors import ParameterError, nearest_name

__all__ = ["imported", "listed_values"]


def imported(name: str) -> Any:
    """Import what MODULE:FUNCTION names, from the working directory too."""
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ParameterError("MODULE:FUNCTION", must="name a module and what to call", got=name)
    sys.path.insert(0, str(Path.cwd()))
    found: Any = None
    try:
        found = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        raise ParameterError(
            "MODULE:FUNCTION",
            must="be importable from here",
            got=f"{name} ({type(error).__name__})",
            hint=_import_hint(module, attribute, found, error),
        ) from error
    return found


def _import_hint(module: str, attribute: str, found: Any, error: BaseException) -> str:
    """Advise about a missing name, a missing module, or one that fails."""
    if found is not None:
        names = [each for each in dir(found) if not each.startswith("_")]
        names = [each for each in names if callable(getattr(found, each, None))]
        return nearest_name(attribute, names) if names else "It defines nothing to call."
    if module.endswith(".py"):
        return f"Leave out .py: {module.removesuffix('.py')}:{attribute}."
    if isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]:
        return "Run it in the directory that holds the module."
    return f"The module itself fails: python -c 'import {module}' shows where."


def listed_values(text: str | None) -> list[Any]:
    """Read the values of --inputs: a JSON list, or values separated by commas."""
    if not text:
        raise ParameterError("--inputs", must="be given", hint="Try 0,1.")
    if text.lstrip().startswith("["):
        try:
            return list(json_format.loads(text))
        except json_format.JSONDecodeError:
            raise ParameterError(
                "--inputs", must="be a JSON list, or values separated by commas"
            ) from None
    return [_value(part) for part in text.split(",")]


def _value(text: str) -> Any:
    try:
        return json_format.loads(text)
    except json_format.JSONDecodeError:
        return text
