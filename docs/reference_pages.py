"""Pages of the site that are generated from the code: commands, theorems, decisions."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from typer.main import get_command

from croupier.cli.app import app

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "croupier"
_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303"}


class Use(NamedTuple):
    """One statement of the literature and where it is used."""

    key: str
    statement: str
    place: str


def write(directory: Path) -> None:
    """Write every generated page."""
    directory.mkdir(exist_ok=True)
    (directory / "commands.md").write_text(commands_page())
    (directory / "theorems.md").write_text(theorems_page())


def commands_page() -> str:
    """The help of every command."""
    lines = ["# Commands", "", "The output of `croupier COMMAND --help`, for all commands.", ""]
    for path, command in _commands(get_command(app), ("croupier",)):
        context = command.make_context(" ".join(path), [], resilient_parsing=True)
        context.info_name = " ".join(path)
        lines += [f"## {' '.join(path)}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(lines)


def _commands(command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    children = getattr(command, "commands", {})
    if not children:
        yield path, command
    for name, child in children.items():
        yield from _commands(child, (*path, name))


def theorems_page() -> str:
    """The page of statements of papers: where each is used, and what is changed."""
    works, used = _bibliography(), set(_uses())
    lines = [
        "# Theorems",
        "",
        "The statements of the literature and where they are used. Where a printed",
        "statement is corrected, sharpened or replaced, the entry says so.",
        "",
    ]
    for key in sorted(works, key=lambda key: (key[-4:], key)):
        uses = sorted(
            (use for use in used if use.key == key), key=lambda use: (use.place, use.statement)
        )
        if not uses:
            continue
        lines += [f"## {key}", "", works[key], "", "| statement | where |", "|---|---|"]
        lines += [f"| {use.statement} | `{use.place}` |" for use in uses]
        lines.append("")
    return "\n".join(lines)


def _bibliography() -> dict[str, str]:
    """Author, title and year of every entry, by key."""
    found = {}
    for entry in re.split(r"^@\w+\{", (ROOT / "references.bib").read_text(), flags=re.MULTILINE)[
        1:
    ]:
        key, _, rest = entry.partition(",")
        fields = dict(re.findall(r"(\w+) = \{((?:[^{}]|\{[^{}]*\})*)\}", rest))
        plain = {name: re.sub(r"[{}]", "", _accented(text)) for name, text in fields.items()}
        title = " ".join(plain["title"].split())
        authors = " ".join(plain["author"].split())
        found[key] = f"{authors}: *{title}*, {key[-4:]}."
    return found


def _accented(text: str) -> str:
    """Replace BibTeX's accents by letters."""
    return re.sub(
        r"\\(['`^\"~])(\w)",
        lambda found: normalize("NFC", found[2] + _ACCENTS[found[1]]),
        text,
    )


def _uses() -> Iterator[Use]:
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for name, node in _documented(ast.parse(path.read_text()), module):
            for reference in re.findall(r"Reference: (.*?)(?:\n\s*\n|\Z)", node, flags=re.DOTALL):
                text = " ".join(reference.split()).replace("|", "\\|")
                for key in re.findall(r"\b[a-z]+(?:19|20)\d\d\b", text):
                    statement = text.removeprefix(f"{key}, ").removeprefix(key)
                    yield Use(key, statement.strip(" .;") or "as a whole", name)


def _documented(tree: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """Every docstring with the dotted name of what it documents."""
    text = ast.get_docstring(tree)
    if text:
        yield name, text
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _documented(child, f"{name}.{child.name}")
