"""Public keys, written into a plan's file that otherwise stays the same."""

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tomlkit.exceptions import TOMLKitError

from croupier.cli.options.plan import read_plan, require_writable
from croupier.errors import ParameterError
from croupier.plan.file import PlanError, read
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.signed_document import NAMED

__all__ = ["SECOND", "pin", "require_pinnable"]

SECOND = "second_key"
"""The name of the second shuffler's root, beside those that `Plan` names."""

_TABLES = {"analyzer_key": "analyzer", "issuer_key": "admission"}
"""The tables of parties of which a plan has one."""
_LONE_LF = re.compile(r"(?<!\r)\n")

_BY_HAND = "Make it writable, or leave out --into and add the printed lines yourself."


def require_pinnable(file: Path, keys: Mapping[str, str | None]) -> None:
    """Refuse a plan that names another key already, or that could not be written.

    Args:
        file: The plan.
        keys: By party, the key that is there; None if it is yet to be made.
    """
    plan = read_plan(file, option="--into")
    for name, key in keys.items():
        named = _key_in(plan, name)
        if named is not None and named != key:
            second = " Is it for the second shuffler? Add --second."
            raise ParameterError(
                NAMED.get(name, "shufflers.2.key"),
                must="be left out of a plan that gets a new key",
                got=named,
                hint="Name the key directory that the plan was written for, or remove the line: "
                "with another key it is another plan."
                f"{second if name == 'shuffler_key' and len(plan.shufflers) > 1 else ''}",
            )
    require_writable(file, option="--into", hint=_BY_HAND)
    _pinned(file, {name: key or _any_key() for name, key in keys.items()})


def pin(file: Path, keys: Mapping[str, str]) -> None:
    """Write keys into a plan; its comments, its line ends and the order of its entries stay."""
    durable.update(file.resolve(), _pinned(file, keys))


def _pinned(file: Path, keys: Mapping[str, str]) -> bytes:
    """The content of a plan's file with keys in it."""
    content = file.read_bytes()
    before = read(content, file=str(file))
    try:
        document = tomlkit.parse(before)
        for name, key in keys.items():
            _table(document, name)["key"] = key
        text = tomlkit.dumps(document)
    except TOMLKitError:
        problem = "keys cannot be added to it. Write them into it by hand: leave out --into."
        raise PlanError(problem, file=str(file)) from None
    if "\n" in before and not _LONE_LF.search(before):
        text = _LONE_LF.sub("\r\n", text)
    Plan.from_toml(text, file=str(file))
    mark = BOM_UTF8 if content.startswith(BOM_UTF8) else b""
    return mark + text.encode()


def _table(document: tomlkit.TOMLDocument, name: str) -> Any:
    """The table of a party, made if it is missing."""
    if name in _TABLES:
        return document.setdefault(_TABLES[name], tomlkit.table())
    if "shufflers" not in document:
        document["shufflers"] = tomlkit.aot()
        document["shufflers"].append(tomlkit.table())
    return document["shufflers"][1 if name == SECOND else 0]


def _key_in(plan: Plan, name: str) -> str | None:
    """Return the key that a plan names, if any."""
    if name != SECOND:
        named: str | None = getattr(plan, name)
        return named
    if len(plan.shufflers) == 1:
        raise ParameterError(
            "--into",
            must="be a plan with two [[shufflers]] tables, if --second is given",
            hint="Add the second table first, with its operator and its dummies.",
        )
    return plan.shufflers[1].key


def _any_key() -> str:
    """Return a stand-in for a key that is yet to be made."""
    return Ed25519PrivateKey.generate().public_key().public_bytes_raw().hex()
