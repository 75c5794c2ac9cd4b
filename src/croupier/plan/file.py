"""The text of a plan: its content, the line of each key, and errors that name the line."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from croupier.errors import CroupierError

__all__ = ["PlanError", "line_of", "name_of", "parse", "read"]

Path = tuple[str | int, ...]

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#[^\n]*|[\[\]{}\n]',
    re.DOTALL,
)
"""What may hide a bracket or the end of a line, brackets, and ends of lines."""
_LOCATION = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", re.DOTALL)


class PlanError(CroupierError):
    """An invalid plan: the key, its line, and what to write instead.

    >>> raise PlanError("minimum_batch must be in [2, 1,000,000]; got 0. Try 200_000.",
    ...                 file="plan.toml", line=16)
    Traceback (most recent call last):
    croupier.plan.file.PlanError: plan.toml:16: minimum_batch must be in [2, 1,000,000];
    got 0. Try 200_000.
    """

    def __init__(self, problem: str, *, file: str = "plan", line: int | None = None) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        where = file if line is None else f"{file}:{line}"
        super().__init__(f"{where}: {problem}")


def read(content: bytes, *, file: str) -> str:
    """The text of a file, with or without a byte-order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PlanError("not UTF-8. Save the file as UTF-8.", file=file, line=line) from None


def parse(text: str, *, file: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise PlanError("not TOML: nested too deeply.", file=file) from None
    except ValueError as error:  # a number of thousands of digits is one, too
        where = _LOCATION.fullmatch(str(error))
        problem = where[1] if where else "a number has too many digits"
        line = int(where[2] or text.rstrip().count("\n") + 1) if where else None
        raise PlanError(f"not TOML: {problem}.", file=file, line=line) from None


def name_of(file: str) -> str:
    """The stem of a file, as far as the name of a plan may hold it.

    >>> name_of("plans/Crash Bits.toml")
    'crash-bits'
    """
    words = re.findall("[a-z0-9]+", PurePath(file).stem.lower())
    return "-".join(words)[:64].strip("-") or "plan"


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    r"""Find the line of a key in a TOML text, or else of the nearest table around it.

    >>> line_of("schema = 2\n[policy]\nbatch = {max_epsilon = 1}", ["policy", "batch"])
    3
    """
    best, found = 0, None
    for line, where in _locations(text.removeprefix("\ufeff")):
        common = _shared(where, path)
        if common > best:
            best, found = common, line
    return found


def _shared(first: Sequence[str | int], second: Sequence[str | int]) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((count for count, (one, two) in pairs if one != two), min(len(first), len(second)))


def _locations(text: str) -> Iterator[tuple[int, Path]]:
    """Yield every header and every key with its full path."""
    table: Path = ()
    seen: dict[Path, int] = {}
    for line, statement in _statements(text):
        document = tomllib.loads(statement)
        if statement.startswith("["):
            table = _header(document, seen)
            yield line, table
        else:
            yield from ((line, table + path) for path in _keys(document))


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the headers and entries, each with the line on which it begins."""
    start = depth = 0
    line = begun = 1
    for token in _TOKEN.finditer(text + "\n"):
        line += token[0].count("\n")
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] == "\n" and depth == 0:
            yield begun, text[start : token.start()].strip()
            start, begun = token.end(), line


def _header(document: Mapping[str, Any], seen: dict[Path, int]) -> Path:
    """The table that a header opens; entries of an array of tables are numbered."""
    path: Path = ()
    inner: Any = document
    while inner:
        ((name, inner),) = inner.items()
        path = (*path, name)
        if isinstance(inner, list):
            seen[path] = seen.get(path, -1) + 1
            inner = {}
        if path in seen:
            path = (*path, seen[path])
    return path


def _keys(value: Any) -> Iterator[Path]:
    """Yield every key inside a value, with its path."""
    entries: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, Mapping):
        entries = iter(value.items())
    elif isinstance(value, list):
        entries = iter(enumerate(value))
    for name, entry in entries:
        yield (name,)
        yield from ((name, *path) for path in _keys(entry))
