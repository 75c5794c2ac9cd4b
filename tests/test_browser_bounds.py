"""The vectors of the calculator are Python's brackets, and the page answers between them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.browser_bounds import LARGEST_RATIO, WEB, answers, brackets, draw, ratio

ROOT = Path(__file__).parents[1]
VECTORS = json.loads((ROOT / "tests" / "vectors" / "bounds.json").read_text(encoding="utf-8"))
QUESTIONS = VECTORS["questions"]
SAMPLE = QUESTIONS[:: len(QUESTIONS) // 20]
DRAWN_WITH = {"lower", "upper", "blanket", "most", "weights", "reached", "mean"}
DRAWN_WITH |= {"standard_deviation"}


def question_of(vector):
    return {key: value for key, value in vector.items() if key not in DRAWN_WITH}


@pytest.mark.parametrize("vector", SAMPLE, ids=lambda vector: json.dumps(question_of(vector)))
def test_vector_is_the_bracket_of_today(vector):
    lower, upper = brackets(question_of(vector))
    assert (lower, upper) == pytest.approx((vector["lower"], vector["upper"]), rel=1e-6)


def test_a_changed_vector_is_noticed():
    vector = next(each for each in SAMPLE if each["upper"] > 0)
    assert brackets(question_of(vector))[1] != pytest.approx(1.00001 * vector["upper"], rel=1e-6)


def test_vectors_are_many_and_of_every_kind():
    assert len(QUESTIONS) == 300
    about = [each["about"] for each in QUESTIONS]
    assert min(about.count("k-rr"), about.count("dummies")) > 30
    proved = [each["lower"] > 0 and each["upper"] / each["lower"] < 1.01 for each in QUESTIONS]
    assert sum(proved) > 200  # a bound that is 2 % too low is below the lower end


def test_script_declares_nothing_for_other_scripts_of_the_page():
    # Not a module, so that the page also works from a disk; the scripts of the site have names too.
    script = (ROOT / "docs" / "_static" / "calculator.js").read_text(encoding="utf-8")
    assert script.startswith("(function(){")
    page = (ROOT / "docs" / "calculator.md").read_text(encoding="utf-8")
    assert '<script defer src="_static/calculator.js"></script>' in page
    for word in ("fetch(", "XMLHttpRequest", "import(", "http://localhost", "https://"):
        assert word not in script


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.skipif(not (WEB / "node_modules").is_dir(), reason="npm install --prefix web")
def test_page_answers_new_questions_between_the_ends():
    rng = np.random.default_rng(7)
    questions = [draw(rng) for _ in range(60)]
    for question, answer in zip(questions, answers(questions), strict=True):
        lower, upper = brackets(question)
        assert answer["epsilon"] >= lower, question
        assert ratio(answer["epsilon"], upper) <= LARGEST_RATIO or not answer["sharp"], question


@pytest.mark.slow
def test_benchmark_reports_and_exits_with_the_verdict():
    if shutil.which("node") is None or not (WEB / "node_modules").is_dir():
        pytest.skip("needs node, and npm install --prefix web")
    command = [sys.executable, "-m", "benchmarks.browser_bounds", "--questions", "12"]
    done = subprocess.run(
        [*command, "--seed", "3"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["questions"], said["below the lower end"]) == (12, 0)
