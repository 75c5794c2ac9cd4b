"""One TOML file for the options of the commands that operators run.

Keys at the top level hold for every command that has the option, a table holds for its command:

    database = "postgresql://shuffler@db.example/croupier"
    [serve]
    plan = ["features/plan.toml", "crashes/plan.toml"]

A command of two words has a table of two, such as [issuer.serve].

The command line comes first, then the environment, then the file, then the default.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from croupier.errors import ParameterError

__all__ = ["OPERATED", "defaults", "key_of", "variable_prefix"]

OPERATED = ("serve", "release", "recover", "status", "analyze", "issuer serve")
"""The commands whose options may come from the environment and from the file."""


def variable_prefix(command: str) -> str:
    """Return the beginning of the environment variables of a command's options."""
    return f"CROUPIER_{command.upper().replace(' ', '_')}"


def defaults(
    file: Path, command: str, options: Callable[[str], Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the values that a file has for the options of a command.

    Args:
        file: The TOML file.
        command: The command.
        options: Returns, by their names in the file, the parameters of a command.

    Raises:
        ParameterError: The file is missing or not TOML, or has a key that no command knows.
    """
    shared, tables = _read(file)
    shared = {_key(name): entry for name, entry in shared.items()}
    _require_known(file, tables, OPERATED)
    everywhere = {name for each in OPERATED for name in options(each)}
    _require_known(file, shared, everywhere)
    for name, table in tables.items():
        _require_known(file, map(_key, table), options(name), prefix=f"{_dotted(name)}.")
    known = options(command)
    own = {_key(name): entry for name, entry in tables.get(command, {}).items()}
    given = {name: entry for name, entry in (shared | own).items() if name in known}
    return {known[name].name: _fitting(known[name], entry) for name, entry in given.items()}


def key_of(file: Path, command: str, flags: Sequence[str]) -> str:
    """Return the key of a file that sets an option of a command.

    Args:
        file: The TOML file.
        command: The command.
        flags: The option, as it may be typed.
    """
    names = {_key(flag.removeprefix("--")) for flag in flags}
    shared, tables = _read(file)
    own = [f"{_dotted(command)}.{name}" for name in tables.get(command, {}) if _key(name) in names]
    return (own or [name for name in shared if _key(name) in names])[0]


def _fitting(option: Any, entry: Any) -> Any:
    """Return a list if the option can be repeated, else the entry of a list of one."""
    if option.multiple:
        return entry if isinstance(entry, list) else [entry]
    return entry[0] if isinstance(entry, list) and len(entry) == 1 else entry


def _read(file: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the keys at the top of a file, and its tables by the commands that they are for."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(
            "--config", must="be a file that can be read", got=f"{file} ({error.strerror})"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError("--config", must="be TOML", got=f"{file}: {error}") from None
    shared: dict[str, Any] = {}
    tables: dict[str, dict[str, Any]] = {}
    for name, entry in document.items():
        if not isinstance(entry, dict):
            shared[name] = entry
        elif entry and all(isinstance(each, dict) for each in entry.values()):
            tables |= {f"{name} {word}": table for word, table in entry.items()}
        else:
            tables[name] = entry
    return shared, tables


def _dotted(command: str) -> str:
    """Return the name of a command's table."""
    return command.replace(" ", ".")


def _require_known(file: Path, names: Any, known: Any, *, prefix: str = "") -> None:
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise ParameterError(
                "--config",
                must="name options of commands",
                got=f"{prefix}{_dotted(name)} in {file}",
                hint=f"Try {prefix}{_dotted(near[0])}." if near else "See croupier serve --help.",
            )


def _key(name: str) -> str:
    return name.replace("-", "_")
