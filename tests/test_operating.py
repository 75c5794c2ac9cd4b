"""The operator's page names tests that exist, and leaves no threat out."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/operating.md").read_text()
ROWS = re.findall(r"^\| ([CHM]\d+) \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE)


def test_every_threat_has_a_row_and_a_test_or_a_stated_limit():
    assert [name for name, _ in ROWS] == [
        f"{'C' if n < 7 else 'H' if n < 17 else 'M'}{n}" for n in range(1, 30)
    ]
    for name, tested in ROWS:
        stated = "LIMITATIONS" in tested or "not testable" in tested
        assert stated or re.search(r"(tests|benchmarks)/", tested), name


def test_every_test_that_is_named_exists():
    named = re.findall(r"(?:tests|benchmarks)/[\w/]+(?:\.py)?", PAGE)
    assert named
    for path in named:
        assert (ROOT / path).exists(), path
