"""The five papers: every script of examples/papers/ runs alone, and nothing in it has moved."""

import csv
import math
import os
import re
import runpy
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from croupier.model.participation import Multinomial
from croupier.numerics.rounding import ceiling_digits
from croupier.sidechannels.participation import Observed, remaining

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "examples" / "papers"
PAGE = ROOT / "docs" / "papers.md"
GOLDEN = ROOT / "tests" / "golden" / "papers"
SCRIPTS = sorted(path.name for path in PAPERS.glob("s[0-4]_*.py") if "printed" not in path.name)
LONG = ("s1_mallows.py", "s4_side_channels.py")
CASES = [
    pytest.param(name, marks=pytest.mark.proof if name in LONG else pytest.mark.slow)
    for name in SCRIPTS
]
REWRITE = "python examples/papers/all.py -o papers --gallery docs"
MEASURED = {"s1-figure1", "s1-figure4hospital", "s1-figure4friendship", "s1-figure5"}
MEASURED |= {"s1-figure8", "s1-figure8b"}
"""What another version of the trees or of the linear algebra may change a little."""

Comparison = runpy.run_path(str(PAPERS / "comparison.py"))["Comparison"]


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    @cache
    def filled(script):
        """The directory that a script alone fills; it exits with 0."""
        directory = tmp_path_factory.mktemp(script[:2])
        command = [sys.executable, PAPERS / script, "-o", directory]
        done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return directory

    return filled


def cells(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def close(found, expected, *, within):
    try:
        one, two = float(found), float(expected)
    except ValueError:
        return found == expected
    if math.isnan(one) or math.isnan(two):
        return math.isnan(one) and math.isnan(two)
    return math.isclose(one, two, rel_tol=1e-6, abs_tol=within)


def test_there_is_a_script_for_each_paper():
    assert [name[:2] for name in SCRIPTS] == ["s0", "s1", "s2", "s3", "s4"]


@pytest.mark.parametrize("script", CASES)
def test_every_printed_number_is_reproduced_or_corrected(script, output):
    numbers = cells(output(script) / f"{script[:2]}-numbers.csv")
    verdicts = [row[4] for row in numbers[1:]]
    assert len(verdicts) >= 17
    assert {"agrees", "corrected"} <= set(verdicts) <= {"agrees", "corrected", "sharpened"}
    assert all(row[5] for row in numbers[1:] if row[4] != "agrees")


@pytest.mark.parametrize("script", CASES)
def test_no_number_moves(script, output):
    expected = sorted(GOLDEN.glob(f"{script[:2]}-*.csv"))
    found = sorted(output(script).glob("*.csv"))
    hint = f"Run: {REWRITE}; then copy papers/*.csv to {GOLDEN.relative_to(ROOT)}"
    assert [path.name for path in found] == [path.name for path in expected], hint
    for ours, golden in zip(found, expected, strict=True):
        within = 0.15 if ours.stem in MEASURED else 1e-9
        for row, (left, right) in enumerate(zip(cells(ours), cells(golden), strict=True)):
            assert len(left) == len(right), hint
            for one, two in zip(left, right, strict=True):
                assert close(one, two, within=within), f"{ours.name}:{row + 1}. {hint}"


@pytest.mark.proof
def test_the_page_says_what_the_scripts_find(monkeypatch, tmp_path, output):
    for script in SCRIPTS:
        for section in output(script).glob("*-section.md"):
            (tmp_path / section.name).write_text(section.read_text())
    monkeypatch.syspath_prepend(PAPERS)
    page = runpy.run_path(str(PAPERS / "all.py"))["page"]
    assert page(tmp_path) == (ROOT / "docs" / "papers.md").read_text(), f"Run: {REWRITE}"


def test_the_pictures_are_those_of_the_page_and_small():
    named = re.findall(r"\(pictures/([^)]+)\)", (ROOT / "docs" / "papers.md").read_text())
    pictures = sorted((ROOT / "docs" / "pictures").glob("s[0-9]-*.svg"))
    assert sorted(named) == [path.name for path in pictures]
    assert len(named) == 36
    assert sum(path.stat().st_size for path in pictures) < 1.5e6
    assert all("<dc:date>" not in path.read_text() for path in pictures)


def compared(what):
    """The row of the page about one number: printed, ours, verdict, why."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| {what}")]
    assert len(rows) == 1, rows
    return [cell.strip() for cell in rows[0].split("|")[2:6]]


def test_the_page_says_what_is_left_out_of_each_paper():
    text = PAGE.read_text()
    assert "every number" not in text.lower()
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert len(sections) == 5
    for section in sections:
        left_out = re.split(r"^### ", section, flags=re.MULTILINE)[-1]
        assert left_out.startswith("Missing or partial\n"), section[:60]
        assert left_out.count("\n- ") >= 3


def test_the_mass_of_the_blanket_is_no_sum_that_is_off():
    printed, ours, verdict, _ = compared("Example VI.1: mass of the blanket")
    assert (printed, verdict) == ("0.606531", "agrees")
    assert ours == f"{math.exp(-0.5):.6g}"


@pytest.mark.parametrize("delta", [1e-5, 1e-8])
def test_the_page_says_what_the_product_certifies_beside_table_iii(delta):
    facts = {"n": 60_000, "delta": delta, "epsilon_local": 2.0, "observed": Observed.NOTHING}
    certified = ceiling_digits(remaining(Multinomial(weights=(1,) * 60), **facts).epsilon_upper)
    *_, why = compared(f"Table III: MRS, 1 epochs, delta {delta:g}")
    assert f"a plan is certified by clones: {certified}" in why


def comparison(ours, **given):
    return Comparison(what="x", printed=0.5, ours=ours, within=0.01, **given)


def test_a_difference_that_nobody_explains_is_noticed():
    assert comparison(0.505).verdict == "agrees"
    assert comparison(0.6).verdict == "UNEXPLAINED"
    assert comparison(0.6, correct=0.6, why="known").verdict == "corrected"
    assert comparison(0.6, correct=0.6, why="better", sharper=True).verdict == "sharpened"
    assert comparison(0.7, correct=0.6, why="known").verdict == "UNEXPLAINED"


def test_a_correction_of_what_is_right_is_noticed():
    assert comparison(0.505, correct=0.505, why="stale").verdict == "UNEXPLAINED"


def test_printed_tables_are_read_as_polynomials():
    read = runpy.run_path(str(PAPERS / "s3_printed_tables.py"))["polynomial"]
    truth = Fraction(3, 4)
    assert [read(words, truth) for words in ("1", "0", "1/3", "pqq", "3ppq", "S/3", "T")] == [
        1,
        0,
        Fraction(1, 3),
        Fraction(3, 64),
        Fraction(27, 64),
        Fraction(11, 64),
        Fraction(19, 64),
    ]
