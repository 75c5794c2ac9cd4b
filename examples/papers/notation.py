"""A paper's symbols and their names in the library, which must exist."""

from collections.abc import Sequence
from importlib import import_module

__all__ = ["named"]


def named(rows: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Symbol, meaning and dotted name under `croupier`, refused if there is no such name."""
    for _, _, name in rows:
        parts = name.split(".")
        for cut in range(len(parts), 0, -1):
            try:
                found = import_module(".".join(["croupier", *parts[:cut]]))
            except ModuleNotFoundError:
                continue
            break
        else:
            found = import_module("croupier")
            cut = 0
        for part in parts[cut:]:
            fields = getattr(found, "__dataclass_fields__", {})
            found = fields[part] if part in fields else getattr(found, part)
    return [(symbol, meaning, f"`{name}`") for symbol, meaning, name in rows]
