"""Two-way tables of questions that people answer in one report, from batches to the screen."""

import numpy as np
import pytest

from croupier.analyzer.analyzer import analyze
from croupier.analyzer.keys import KeySource
from croupier.errors import ParameterError

SLEEP = {"name": "sleep", "mechanism": "k-rr", "labels": ["well", "badly", "not"]}
COFFEE = {"name": "coffee", "mechanism": "optimized-unary", "labels": ["no", "yes"]}
HOURS = {"name": "hours", "mechanism": "one-bit-mean", "grid": {"low": 0, "high": 24, "step": 1}}
QUESTIONS = [own | {"max_epsilon_local": 3.0} for own in (SLEEP, HOURS, COFFEE)]
PAIR = [("sleep", "coffee")]


@pytest.fixture
def site(make_released):
    own = {"randomizer": None, "questions": QUESTIONS, "participation": {"model": "together"}}
    return make_released(**own)


def people(n):
    """Coffee goes with bad sleep."""
    rows = [["well", 8, "no"]] * 5 + [["badly", 6, "yes"]] * 4 + [["not", 0, "yes"]]
    return [rows[place % 10] for place in range(n)]


@pytest.fixture
def found(site, memory_engine):
    path = site.collect(people(8000))
    return analyze(site.plan, [path], key=KeySource(site.keys.path), engine=memory_engine)


def test_every_question_is_estimated_about_everybody(found):
    assert [one.question for one in found.estimates] == ["sleep", "hours", "coffee"]
    assert [one.estimate.n for one in found.estimates] == [8000] * 3
    sleep, hours, coffee = (one.estimate for one in found.estimates)
    assert sleep.points == pytest.approx([0.5, 0.4, 0.1], abs=0.05)
    assert hours.points == pytest.approx([6.4], abs=0.6)
    assert coffee.points == pytest.approx([0.5, 0.5], abs=0.1)
    assert not found.warnings


def test_a_table_tells_who_answers_both(found, alarm):
    [table] = found.crossing(PAIR, confidence=1 - alarm, together=True)
    truth = np.array([[0.5, 0.0], [0.0, 0.4], [0.0, 0.1]]).ravel()
    own = table.estimate
    assert (own.lower <= truth).all()
    assert (truth <= own.upper).all()
    independent = np.outer([0.5, 0.4, 0.1], [0.5, 0.5]).ravel()
    assert ((independent < own.lower) | (own.upper < independent)).any()
    assert table.rows == ("well", "badly", "not")
    assert table.columns == ("no", "yes")
    cells = table.to_dict()["cells"]
    assert [cell["values"] for cell in cells][1] == ["well", "yes"]


def test_tables_hold_together_over_all_cells(found):
    [alone] = found.crossing(PAIR)
    two = found.crossing([*PAIR, ("coffee", "sleep")], together=True)
    wide = two[0].estimate
    assert (wide.lower <= alone.estimate.lower).all()
    assert wide.confidence == pytest.approx(1 - 0.05 / 12)


@pytest.mark.parametrize("pair", [("sleep", "hours"), ("sleep", "sleep"), ("sleep", "tea")])
def test_no_table_of_these(found, pair):
    with pytest.raises(ParameterError):
        found.crossing([pair])


def test_one_question_has_no_table(make_released, memory_engine):
    site = make_released()
    path = site.collect([0] * 60)
    found = analyze(site.plan, [path], key=KeySource(site.keys.path), engine=memory_engine)
    with pytest.raises(ParameterError, match="together"):
        found.crossing(PAIR)
