"""Plans of schema 1 rewritten in schema 2: the same collection in other words."""

import re
from collections.abc import Mapping
from typing import Any

from croupier.plan.file import PlanError, parse
from croupier.plan.plan import Plan
from croupier.plan.text import plan_text

__all__ = ["upgraded", "upgraded_text"]

_ONE_OPERATOR = "one operator of both"
_HEADERS = {
    "[shuffler]": "[shuffling]",
    "[shuffler.groups]": "[shuffling.groups]",
    "[[queries]]": "[[questions]]",
}
_MOVED = {
    ("participation", "rounds"): ("collection", "rounds"),
    ("protections", "round_length"): ("collection", "every"),
    ("trust", "publication"): ("analyzer", "publication"),
    ("trust", "shuffler_key"): ("shufflers", "key"),
    ("trust", "analyzer_key"): ("analyzer", "key"),
}
_LINE = re.compile(r"([a-z_]+)( *=.*)", re.DOTALL)


def upgraded(document: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite the tables of a plan of schema 1.

    >>> upgraded({"schema": 1, "trust": {"operators": "separate", "publication": "none"}})
    {'schema': 2, 'analyzer': {'publication': 'none'}}
    """
    given = {name: value for name, value in document.items() if name != "trust"}
    made: dict[str, Any] = {}
    for name, value in given.items():
        if name == "randomizer":
            made[name] = _mechanism(value)
        elif name == "queries":
            made["questions"] = [_mechanism(table) for table in value]
        elif name in {"participation", "protections"} and isinstance(value, Mapping):
            made[name] = {own: entry for own, entry in value.items() if (name, own) not in _MOVED}
        else:
            made["shuffling" if name == "shuffler" else name] = value
    made["schema"] = 2
    parties: dict[str, dict[str, Any]] = {"collection": {}, "shufflers": {}, "analyzer": {}}
    for (table, own), (target, name) in _MOVED.items():
        entries = document.get(table, {})
        if isinstance(entries, Mapping) and own in entries:
            parties[target][name] = entries[own]
    if document.get("trust", {}).get("operators") == "same":
        parties["shufflers"]["operator"] = parties["analyzer"]["operator"] = _ONE_OPERATOR
    for name, entries in parties.items():
        if entries:
            made[name] = [entries] if name == "shufflers" else entries
    return made


def upgraded_text(text: str, *, file: str = "plan.toml") -> str:
    """Rewrite the text of a plan of schema 1; comments stay where the layout is the usual one.

    Raises:
        PlanError: It is no plan of schema 1, or no valid one.
    """
    document = parse(text, file=file)
    if document.get("schema") != 1:
        raise PlanError("schema must be 1 to be upgraded. Nothing to do.", file=file)
    wanted = Plan.from_document(upgraded(document), file=file)
    rewritten = _by_lines(text)
    try:
        if Plan.from_toml(rewritten, file=file).replace(name=wanted.name) == wanted:
            return rewritten
    except PlanError:
        pass
    return plan_text(wanted)


def _mechanism(table: Any) -> Any:
    if not isinstance(table, Mapping):
        return table
    renamed = {"epsilon_local": "max_epsilon_local"}
    return {
        renamed.get(name, name): [_mechanism(entry) for entry in value]
        if name == "queries"
        else value
        for name, value in table.items()
    }


def _by_lines(text: str) -> str:
    """Rewrite tables with one key per line; what is written in other ways is left as it is."""
    table, kept = "", []
    moved: dict[str, list[str]] = {"collection": [], "shufflers": [], "analyzer": []}
    for line in text.splitlines(keepends=True):
        bare = line.partition("#")[0].strip()
        if bare.startswith("["):
            table = bare.strip("[] ")
            kept.append("" if table == "trust" else line.replace(bare, _HEADERS.get(bare, bare), 1))
            continue
        found = _LINE.fullmatch(line)
        name, rest = (found[1], found[2]) if found else ("", "")
        if (table, name) in _MOVED:
            target, new = _MOVED[table, name]
            moved[target].append(new + rest)
        elif (table, name) == ("trust", "operators") and '"same"' in rest:
            for party in ("shufflers", "analyzer"):
                moved[party].append(f'operator = "{_ONE_OPERATOR}"\n')
        elif table != "trust":
            kept.append(_renamed(line, table, name))
    text = "".join(kept).rstrip("\n") + "\n"
    for name, lines in moved.items():
        header = "[[shufflers]]" if name == "shufflers" else f"[{name}]"
        text += "".join(["\n", header, "\n", *lines]) if lines else ""
    return text


def _renamed(line: str, table: str, name: str) -> str:
    """A line that stays in its table, with the key or the number that has changed."""
    if table in {"randomizer", "queries"} and name == "epsilon_local":
        return f"max_{line}"
    return line.replace("1", "2", 1) if (table, name) == ("", "schema") else line
