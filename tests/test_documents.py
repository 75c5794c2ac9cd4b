"""Every code block of the documents runs and prints what it says; every link leads somewhere."""

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.warm import croupier

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINKING = [
    *DOCUMENTS,
    ROOT / "clients" / "typescript" / "README.md",
    *sorted(ROOT.glob("deploy/**/README.md")),
    *sorted(ROOT.glob("examples/notebooks/*.ipynb")),
]
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
    (tmp_path / "examples").symlink_to(ROOT / "examples")
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
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    python = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{croupier().parent}:{python}:{os.environ['PATH']}"}
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


@pytest.mark.parametrize("path", LINKING, ids=lambda path: path.name)
def test_relative_links_and_anchors_exist(path):
    assert _broken_links(path) == []


def test_links_to_nothing_are_found(tmp_path):
    (tmp_path / "there.md").write_text("# One `two`: three_four\n\n```sh\n# not a heading\n```\n")
    document = tmp_path / "document.md"
    good = (
        "[a](there.md) [b](there.md#one-two-three_four) [c](#here) ![d](there.md) [e](mailto:a@b)"
    )
    bad = "[f](away.md) [g](there.md#not-a-heading) [h](#away) ![i](away.svg)"
    document.write_text(f"## Here\n{good}\n{bad}\n`[j](code.md)`\n")
    assert _broken_links(document) == ["away.md", "there.md#not-a-heading", "#away", "away.svg"]


def _broken_links(path):
    """Links of a document, or of the texts of a notebook, to files or headings that are not."""
    return [
        link
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", _prose(path)))
        if not re.match(r"[a-z]+:", link) and not _leads_somewhere(path, link)
    ]


def _leads_somewhere(path, link):
    name, _, anchor = link.partition("#")
    target = (path.parent / name).resolve() if name else path
    return target.exists() and (not anchor or anchor in _anchors(target))


def _prose(path):
    """The text without its code blocks."""
    text = path.read_text()
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def _anchors(path):
    """The names under which headings are linked."""
    headings = re.findall(r"^#+ +(.+?)$", _prose(path), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}
