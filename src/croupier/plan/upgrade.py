"""Plans of schema 1 rewritten in schema 2, for the same collection."""

import re
from collections.abc import Mapping
from typing import Any

from croupier.errors import nearest_name
from croupier.plan.file import PlanError, name_of, parse
from croupier.plan.plan import Plan
from croupier.plan.problems import RENAMED_LIMITS
from croupier.plan.text import plan_text

__all__ = ["current_mechanism", "upgraded", "upgraded_text"]

_ONE_OPERATOR = "one operator of both"
_TABLES = {"shuffler": "shuffling", "queries": "questions"}
_MOVED = {
    ("participation", "rounds"): ("collection", "rounds"),
    ("protections", "round_length"): ("collection", "every"),
    ("trust", "publication"): ("analyzer", "publication"),
    ("trust", "shuffler_key"): ("shufflers", "key"),
    ("trust", "analyzer_key"): ("analyzer", "key"),
}
_TRUST = ("operators", "publication", "shuffler_key", "analyzer_key")
_NEW = ("questions", "collection", "shuffling", "shufflers", "analyzer")
_COMMENTS = (
    "the comments cannot be kept: they stand beside inline tables, or dotted, quoted or indented "
    "keys. Write the new plan, without them, into another file: add -o new.toml."
)
_LINE = re.compile(r"([a-z_]+)( *=.*)", re.DOTALL)


def upgraded(document: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite the tables of a plan of schema 1.

    Raises:
        PlanError: It has a key that schema 1 did not have, or a limit twice: one would be lost.

    >>> upgraded({"schema": 1, "trust": {"operators": "separate", "publication": "none"}})
    {'schema': 2, 'analyzer': {'publication': 'none'}}
    """
    trust = document.get("trust", {})
    _require_schema_1(document, trust)
    given = {name: value for name, value in document.items() if name != "trust"}
    made: dict[str, Any] = {}
    for name, value in given.items():
        made[_TABLES.get(name, name)] = _current(name, value)
    made["schema"] = 2
    parties: dict[str, dict[str, Any]] = {"collection": {}, "shufflers": {}, "analyzer": {}}
    for (table, own), (target, name) in _MOVED.items():
        entries = document.get(table, {})
        if isinstance(entries, Mapping) and own in entries:
            parties[target][name] = entries[own]
    if trust.get("operators") == "same":
        parties["shufflers"]["operator"] = parties["analyzer"]["operator"] = _ONE_OPERATOR
    for name, entries in parties.items():
        if entries:
            made[name] = [entries] if name == "shufflers" else entries
    return made


def upgraded_text(text: str, *, file: str = "plan.toml", may_drop_comments: bool = False) -> str:
    """Rewrite the text of a plan of schema 1 with its comments.

    Args:
        text: What the file holds.
        file: What it is called in errors.
        may_drop_comments: Whether one with inline tables, dotted or quoted keys is written anew,
            without what was written beside its keys.

    Raises:
        PlanError: It is not a valid plan of schema 1, or its comments cannot be kept.
    """
    document = parse(text, file=file)
    if document.get("schema") != 1 or document["schema"] is True:
        raise PlanError("schema must be 1 to be upgraded. Nothing to do.", file=file)
    try:
        tables = upgraded(document)
    except PlanError as error:
        raise PlanError(error.problem, file=file) from None
    wanted = Plan.from_document({"name": name_of(file)} | tables, file=file)
    made = _by_lines(text.replace("\r\n", "\n"))
    if not _is(made, wanted, file=file):
        if "#" in text and not may_drop_comments:
            raise PlanError(_COMMENTS, file=file)
        made = plan_text(wanted)
    return made.replace("\n", "\r\n") if text.count("\n") == text.count("\r\n") else made


def _is(text: str, wanted: Plan, *, file: str) -> bool:
    try:
        return Plan.from_toml(text, file=file) == wanted
    except PlanError:
        return False


def _require_schema_1(document: Mapping[str, Any], trust: Any) -> None:
    for name in _NEW:
        if name in document:
            raise PlanError(f"{name} is a key of schema 2. Write schema = 2, or remove it.")
    if not isinstance(trust, Mapping):
        raise PlanError("trust must be a table.")
    for name in trust:
        if name not in _TRUST:
            raise PlanError(f"{name} is not a key of trust. {nearest_name(name, _TRUST)}")
    if trust.get("operators", "separate") not in ("separate", "same"):
        raise PlanError('operators must be "separate", or "same" if one party runs both.')
    _require_old_name(document.get("randomizer"))
    _require_old_name(document)


def _require_old_name(table: Any) -> None:
    if isinstance(table, Mapping):
        if "max_epsilon_local" in table:
            raise PlanError(
                "max_epsilon_local is a key of schema 2. Write schema = 2, or epsilon_local."
            )
        queries = table.get("queries")
        for entry in queries if isinstance(queries, list) else ():
            _require_old_name(entry)


def current_mechanism(table: Any) -> Any:
    """Rename the keys of a mechanism that had other names in version 0.1.

    >>> current_mechanism({"mechanism": "k-rr", "k": 2, "epsilon_local": 1.0})
    {'mechanism': 'k-rr', 'k': 2, 'max_epsilon_local': 1.0}
    """
    if not isinstance(table, Mapping):
        return table
    renamed = {"epsilon_local": "max_epsilon_local"}
    return {
        renamed.get(name, name): [current_mechanism(entry) for entry in value]
        if name == "queries" and isinstance(value, list)
        else value
        for name, value in table.items()
    }


def _current(name: str, value: Any) -> Any:
    """The table of schema 1 in the words of schema 2, without the keys that move to others."""
    if name == "randomizer":
        return current_mechanism(value)
    if name == "queries" and isinstance(value, list):
        return [current_mechanism(table) for table in value]
    if name == "policy":
        return _current_limits(value)
    if name in {"participation", "protections"} and isinstance(value, Mapping):
        return {own: entry for own, entry in value.items() if (name, own) not in _MOVED}
    return value


def _current_limits(policy: Any) -> Any:
    """Rename the limits that had other names in version 0.1, against every adversary.

    >>> _current_limits({"collusion": {"max_epsilon": 2.0, "max_guess_coin": 0.9}})
    {'collusion': {'max_epsilon': 2.0, 'max_guess_of_two': 0.9}}
    """
    if not isinstance(policy, Mapping):
        return policy
    for old, new in RENAMED_LIMITS.items():
        if old in policy and new in policy:
            raise PlanError(f"{old} and {new} are the same limit. Keep the one that you mean.")
    return {RENAMED_LIMITS.get(name, name): _current_limits(own) for name, own in policy.items()}


def _by_lines(text: str) -> str:
    """Rewrite tables with one key per line; leave other notations unchanged.

    Comments above a key that moves go with it.
    """
    table = ""
    kept: list[str] = []
    waiting: list[str] = []
    moved: dict[str, list[str]] = {"collection": [], "shufflers": [], "analyzer": []}
    for line in text.splitlines(keepends=True):
        bare = line.partition("#")[0].strip()
        if not bare:
            waiting.append(line)
            continue
        comments = [above for above in waiting if above.strip()]
        found = _LINE.fullmatch(line)
        name, rest = (found[1], found[2]) if found else ("", "")
        if bare.startswith("["):
            kept += comments if table == "trust" else waiting
            table = bare.strip("[] ")
            kept += [] if table == "trust" else [line.replace(bare, _header(bare), 1)]
            waiting = _comment(line) if table == "trust" else []
            continue
        if (table, name) in _MOVED:
            target, new = _MOVED[table, name]
            moved[target] += [*comments, new + rest]
        elif (table, name) == ("trust", "operators"):
            moved["shufflers"] += [*comments, *_comment(line)]
            if rest.partition("#")[0].strip(" =\n\"'") == "same":
                for party in ("shufflers", "analyzer"):
                    moved[party].append(f'operator = "{_ONE_OPERATOR}"\n')
        else:
            kept += [*waiting, _renamed(line, table, name)]
        waiting = []
    text = "".join([*kept, *waiting]).rstrip("\n") + "\n"
    for name, lines in moved.items():
        header = "[[shufflers]]" if name == "shufflers" else f"[{name}]"
        text += "".join(["\n", header, "\n", *lines]) if lines else ""
    return text


def _comment(line: str) -> list[str]:
    """The comment at the end of a line, on a line of its own."""
    _, mark, words = line.partition("#")
    return [f"#{words.rstrip()}\n"] if mark else []


def _header(bare: str) -> str:
    """The header of a table under its new name."""
    table = bare.strip("[] ").partition(".")[0]
    return bare.replace(table, _TABLES.get(table, table), 1)


def _renamed(line: str, table: str, name: str) -> str:
    """A line that stays in its table, with the key or the number that has changed."""
    asks = table in {"randomizer", "queries"} or table.endswith(".queries")
    if asks and name == "epsilon_local":
        return f"max_{line}"
    if table.partition(".")[0] == "policy":
        for old, new in RENAMED_LIMITS.items():
            line = re.sub(rf"\b{old}\b(?= *=)", new, line)
        return line
    return line.replace("1", "2", 1) if (table, name) == ("", "schema") else line
