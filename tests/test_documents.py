"""Every code block of the documents runs, and prints what it says it prints."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(language):
    return [
        pytest.param(block, id=f"{path.name}-{number}")
        for path in DOCUMENTS
        for number, (found, block) in enumerate(BLOCK.findall(path.read_text()))
        if found == language
    ]


@pytest.mark.parametrize("block", _blocks("python"))
def test_python_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {})  # noqa: S102 - the documents are ours


@pytest.mark.parametrize("block", _blocks("pycon"))
def test_session_prints_what_it_says(block):
    test = doctest.DocTestParser().get_doctest(block, {}, "block", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def _console_cases():
    """All commands of one document share a directory, as they do for a reader."""
    return [
        pytest.param(
            [block for found, block in BLOCK.findall(path.read_text()) if found == "console"],
            id=path.name,
        )
        for path in DOCUMENTS
        if "```console" in path.read_text()
    ]


@pytest.mark.parametrize("blocks", _console_cases())
def test_commands_print_what_they_say(blocks, tmp_path):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for block in blocks:
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            if command.startswith("pip install"):
                continue
            done = subprocess.run(  # noqa: S602 - the documents are ours
                command,
                shell=True,
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            pattern = re.escape(expected.strip()).replace(r"\.\.\.", ".*")
            assert re.fullmatch(pattern, done.stdout.strip(), re.DOTALL), done.stdout


def test_every_cited_key_is_in_the_bibliography():
    keys = set(re.findall(r"@\w+\{(\w+),", (ROOT / "references.bib").read_text()))
    for path in (ROOT / "src").rglob("*.py"):
        for reference in re.findall(r"Reference: ([^\n]*)", path.read_text()):
            cited = set(re.findall(r"\b[a-z]+(?:19|20)\d\d\b", reference))
            assert cited, f"{path.name}: {reference}"
            assert cited <= keys, f"{path.name}: {cited - keys}"
