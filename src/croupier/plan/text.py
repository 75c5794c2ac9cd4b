"""The text of a plan for people: every key with a comment that says what it means."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import tomlkit
from pydantic import BaseModel
from tomlkit.items import AoT, InlineTable, Item, Table

from croupier.plan.plan import Plan
from croupier.plan.problems import toml_value
from croupier.plan.question import Question
from croupier.randomizers import parameters

__all__ = ["plan_text"]


_TABLES = {"policy": "only proved bounds count", "shufflers": "who mixes"}


def plan_text(plan: Plan, *, notes: Mapping[str, str] | None = None) -> str:
    r"""The plan as a file that explains itself; `Plan.from_toml` reads it again.

    Args:
        plan: The plan, of which every default is spelled out.
        notes: Other comments for some keys, by their path: ``{"randomizer.k": "all of Unicode"}``.

    Example:
        >>> plan = Plan.from_toml('''
        ... schema = 2
        ... randomizer = {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}
        ... population.enrolled = 1_000_000
        ... protections.minimum_batch = 200_000
        ... ''')
        >>> text = plan_text(plan, notes={"randomizer.mechanism": "k is small"})
        >>> print(*text.splitlines()[3:6], sep="\n")
        [randomizer]
        mechanism = "k-rr"  # k is small
        max_epsilon_local = 4.0  # nats, a ceiling; what is left if all else fails
    """
    comments = dict(_meanings(Plan)) | dict(notes or {})
    document = tomlkit.document()
    for name, value in plan.document().items():
        document.add(name, _item(name, value, comments))
    return tomlkit.dumps(document)


def _item(path: str, value: Any, comments: Mapping[str, str]) -> Item:
    """A table with its keys, or a value with its comment."""
    if path == "questions":
        return AoT([_question(entry, comments) for entry in value])
    if path == "randomizer":
        return _question(value, comments)
    if path == "shufflers":
        return AoT([_table(path, entry, comments) for entry in value])
    table, _, name = path.rpartition(".")
    if isinstance(value, dict) and name != "grid" and table != "policy":
        return _table(path, value, comments)
    item = _value(value)
    _comment(item, comments.get(path, ""))
    return item


def _question(entries: Mapping[str, Any], comments: Mapping[str, str]) -> Table:
    """A mechanism with its parameters, each with what it means."""
    own = parameters(entries["mechanism"]).items()
    meanings = {f"randomizer.{name}": one.means for name, one in own}
    words = Question.model_fields
    meanings |= {f"randomizer.{name}": words[name].description or "" for name in ("name", "text")}
    return _table("randomizer", entries, meanings | dict(comments))


def _table(path: str, entries: Mapping[str, Any], comments: Mapping[str, str]) -> Table:
    table = tomlkit.table()
    _comment(table, _TABLES.get(path, ""))
    for name, value in entries.items():
        table.add(name, _item(f"{path}.{name}", value, comments))
    return table


def _value(value: Any) -> Item:
    """A number with its digits in groups, an inline table, or what tomlkit makes of it."""
    if isinstance(value, dict):
        table: InlineTable = tomlkit.inline_table()
        for name, entry in value.items():
            table.add(name, _value(entry))
        return table
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    item: Item = tomlkit.value(toml_value(value)) if is_number else tomlkit.item(value)
    return item


def _comment(item: Item, comment: str) -> None:
    if comment:
        item.comment(comment)
        item.trivia.comment_ws = "  "


def _meanings(model: type[BaseModel], table: str = "") -> Iterator[tuple[str, str]]:
    """Yield every key with what it means."""
    for name, field in model.model_fields.items():
        path = table + (field.alias or name)
        yield path, field.description or ""
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from _meanings(part, f"{path}.")
