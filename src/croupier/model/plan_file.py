"""The text of a plan: where each key stands, and errors that point at the line."""

import re
from collections.abc import Sequence

from croupier.errors import CroupierError

__all__ = ["PlanError", "line_of"]

Path = tuple[str | int, ...]

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_ENTRY = re.compile(r"^\s*([\w.\-\"' ]+?)\s*=")


class PlanError(CroupierError):
    """A plan that cannot be: which key, on which line, and what to write instead.

    >>> raise PlanError("minimum_batch must be in [2, 1,000,000]; got 0. Try 200_000.",
    ...                 file="plan.toml", line=16)
    Traceback (most recent call last):
    croupier.model.plan_file.PlanError: plan.toml:16: minimum_batch must be in [2, 1,000,000];
    got 0. Try 200_000.
    """

    def __init__(self, problem: str, *, file: str = "plan", line: int | None = None) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {problem}")


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    r"""The line on which a key of a TOML text stands, or else the nearest table around it.

    >>> line_of("schema = 1\n[policy]\nbatch = {max_epsilon = 1}", ["policy", "batch"])
    3
    """
    wanted = tuple(path)
    best, found = 0, None
    for line, place in _places(text):
        common = _shared(place, wanted)
        if common == len(place) and common > best:
            best, found = common, line
    return found


def _places(text: str) -> list[tuple[int, Path]]:
    """Every header and every key with its full path."""
    table: Path = ()
    seen: dict[Path, int] = {}
    places: list[tuple[int, Path]] = []
    for line, content in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(content):
            table = _keys(header[2])
            if header[1] == "[[":
                number = seen[table] = seen.get(table, -1) + 1
                table = (*table, number)
            places.append((line, table))
        elif entry := _ENTRY.match(content):
            places.append((line, table + _keys(entry[1])))
    return places


def _keys(dotted: str) -> Path:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def _shared(first: Path, second: Path) -> int:
    count = 0
    for one, two in zip(first, second, strict=False):
        if one != two:
            break
        count += 1
    return count
