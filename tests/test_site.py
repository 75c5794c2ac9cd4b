"""The documentation site builds without a warning, and its search works without a network."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_site_builds_without_warnings(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going"]
    done = subprocess.run(
        [*command, "-d", tmp_path / "trees", ROOT / "docs", tmp_path / "site"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 30
    assert (tmp_path / "site" / "searchindex.js").is_file()
    outside = ("http://", "https://", "//")
    loaded = [part for page in pages for part in _loaded(page.read_text())]
    assert loaded
    assert not [part for part in loaded if part.startswith(outside)]


def _loaded(page):
    """What a browser fetches to show a page."""
    for tag, attribute in (("<script", "src"), ("<link", "href"), ("<img", "src")):
        for piece in page.split(tag)[1:]:
            head = piece.split(">", 1)[0]
            if f'{attribute}="' in head and 'rel="canonical"' not in head:
                yield head.split(f'{attribute}="', 1)[1].split('"', 1)[0]
