"""Summaries of docstrings start with a verb or name the thing; rates are said with "per"."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for folder in ("src", "benchmarks", "scripts", "docs", "examples", "deploy")
    for path in (ROOT / folder).rglob("*.py")
    if "site-packages" not in path.parts  # of deploy/check
)
TYPESCRIPT = sorted((ROOT / "clients" / "typescript").glob("[!n]*/**/*.ts"))
TEXTS = sorted(
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "deploy/**/*.md",
        "examples/**/*.toml",
        "examples/**/*.ipynb",
    )
    for path in ROOT.glob(pattern)
    if "generated" not in path.parts
)

CLAUSES = """
as at because but by can could does for from has have here how if in into is it may might must
not of on once or shall should since so than that then there they this to under until upon was
were what whatever when whenever where wherever whether which whichever while who whoever whom
whose why will with within without would
"""
"""Words with which no summary starts: what follows is a clause or a phrase, not a name."""

TOLD = """
adds asks brings builds closes comes decides drops ends expects finds gets gives goes hangs
hides holds keeps knows lasts lets looks loses makes means needs opens passes plays proves puts
raises reads receives refuses remembers removes returns runs says sees sends serves shows signs
spends stands starts stays stops takes tells throws turns uses waits watches writes yields
"""
"""Verbs of somebody who is not named."""

COUNTED = r"""
(?:one|two|three|four|five|ten|twelve|once|twice|times|\d[\d,._]*(?:\ ?(?:%|ms|s|MB|GB|kB))?
|bit|bits|bytes|calls?|cards?|cells?|columns?|cores|draws|entries|envelope|files?|folders?|games
|hours|keys?|lines?|messages?|milliseconds|minutes|numbers?|points?|process(?:es)?|questions?
|queries|reports?|requests?|rounds?|rows?|samples?|seconds|tables?|tests?|tokens?|trials?
|vectors?|words?)
"""
UNITS = r"""
(?:answer|attack|batch|bin|byte|cell|class|client|collection|column|command|component|core|day
|device|file|folder|game|group|host|hour|input|key|label|line|machine|mechanism|message|metric
|millisecond|minute|month|output|pair|party|person|piece|place|plan|point|process|question|query
|report|request|round|row|run|rung|sample|second|sender|server|shard|test|trial|turn|value|week
|worker|year)
"""
RATE = re.compile(
    rf"(?<!many\ )(?<!which\ )(?<!whose\ )\b{COUNTED}\ an?\ {UNITS}\b(?!-)", re.VERBOSE
)
"""A count beside what it is counted by, with "a" for "per"."""


def summaries(path):
    """The first sentence of each docstring of a file, with its line."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text


def clause(summary):
    """Tell whether a summary starts with a clause or with what nobody in particular does."""
    word = re.match(r"[\w']*", summary.strip())[0].lower()
    return word in {*CLAUSES.split(), *TOLD.split()}


@pytest.mark.parametrize(
    ("summary", "wrong"),
    [
        ("What opens a batch.", True),
        ("Whether a batch is open.", True),
        ("Opens a batch.", True),
        ("Open a batch.", False),
        ("The batch that is open.", False),
        ("Tell whether a batch is open.", False),
    ],
)
def test_the_rule_tells_a_clause_from_a_name(summary, wrong):
    assert clause(summary) is wrong


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_summary_starts_with_a_verb_or_names_the_thing(path):
    found = [f"{line}: {text.splitlines()[0]}" for line, text in summaries(path) if clause(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", TYPESCRIPT, ids=lambda path: path.name)
def test_every_summary_of_typescript_does(path):
    found = [
        text for text in re.findall(r"/\*\*\s*(?:\* )?(\S.*)", path.read_text()) if clause(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "path", [*SOURCES, *TYPESCRIPT, *TEXTS], ids=lambda path: str(path.relative_to(ROOT))
)
def test_rates_are_said_with_per(path):
    found = [
        f"{number}: {line.strip()}"
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if RATE.search(line)
    ]
    assert not found, "\n".join(found)


def test_the_rule_finds_rates():
    wrong = ["one a core", "48 bytes a report", "one file a command", "twice a day"]
    assert all(RATE.search(text) for text in wrong)
    assert not RATE.search("48 bytes per report, and a batch of one person")
