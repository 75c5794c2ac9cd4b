"""Reports that no honest client sends are found in released batches; honest ones raise no alarm."""

import numpy as np
import pytest

from benchmarks.liars import HONEST, alarms
from croupier.analyzer.analyzer import analyze
from croupier.analyzer.keys import KeySource
from croupier.analyzer.liars import LIARS_FALSE_ALARM, BatchLiars
from croupier.numerics.binomial import binomial_tail
from croupier.numerics.odd_counts import OddCount
from croupier.randomizers.registry import randomizer

UNARY = {"mechanism": "optimized-unary", "k": 12, "max_epsilon_local": 2.0}
BITS = {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 2.0}


@pytest.fixture
def found(make_released, memory_engine, tmp_path_factory):
    """What is found in one batch of honest people and liars."""

    def run(honest, lies, **tables):
        site = make_released(tmp_path_factory.mktemp("site"), **tables)
        epoch = site.epoch()
        reports = [*site.answers(honest), *map(np.array, lies)]
        path = site.release(site.sealed(reports, epoch), epoch)
        return analyze(site.plan, [path], key=KeySource(site.keys.path), engine=memory_engine)

    return run


def test_every_bit_set_is_found_and_honest_people_are_not(found):
    honest = found([place % 3 for place in range(600)], [], randomizer=UNARY)
    assert not honest.warnings
    (batch,) = honest.liars.batches
    assert (batch.at_least, batch.signs, batch.reports) == (0, (), 600)
    assert honest.liars.tested == 2 * (12 + 13 + 12)
    assert honest.liars.meaning.startswith("Honest people's reports explain every count.")

    liars = found([place % 3 for place in range(600)], [[1] * 12] * 40, randomizer=UNARY)
    (batch,) = liars.liars.batches
    assert 38 <= batch.at_least <= 40
    assert batch.signs[0].name in ("have 12 of 12 bits set", "have 11 or more of 12 bits set")
    (line,) = liars.warnings
    assert line.startswith(f"Round 0: at least {batch.at_least} of 640 reports were not made as")
    assert "More than the plan allows for. So many move an estimate by up to " in line
    assert batch.moved == pytest.approx(float(liars_shift()) * batch.at_least / 640)
    document = liars.to_dict()["liars"]
    assert document["false_alarm"] == LIARS_FALSE_ALARM == 1e-9
    assert document["batches"][0]["signs"][0]["at_least"] == batch.at_least


def test_a_shift_beyond_what_is_possible_is_not_printed_as_points():
    sign = OddCount(name="are column 0", part=None, n=9, count=8, expected=1.0, at_least=5)
    given = {"round": 0, "questions": ("first",), "reports": 9, "allowed": 0, "signs": (sign,)}
    half, more = (BatchLiars(**given, at_least=5, moved=moved).warning for moved in (0.5, 2.5))
    assert "by up to 50.0 percentage points" in half
    assert "So many can give an estimate any value." in more


def liars_shift():
    return randomizer(**UNARY).worst_shift


def test_liars_who_all_answer_one_question_are_found_and_named(found):
    people = {"enrolled": 4000, "corrupt_fraction": 0.1}
    questions = [UNARY | {"name": "first"}, BITS | {"name": "second"}]
    tables = {"randomizer": None, "questions": questions, "population": people}
    tables["protections"] = {"minimum_batch": 1000}
    honest = [[place % 3, 0] for place in range(1500)]
    (batch,) = found(honest, [[0, *[1] * 12]] * 150, **tables).liars.batches
    assert batch.questions == ("first", "second")
    assert {sign.name for sign in batch.signs} >= {"have 12 of 12 bits set"}
    assert batch.signs[0].part == 0
    assert 148 <= batch.at_least <= 150
    assert batch.allowed == 400

    analysis = found(honest, [[1, 1, *[0] * 11]] * 390, **tables)
    (batch,) = analysis.liars.batches
    assert batch.signs[0].name == "answer part 2"
    assert 0 < batch.at_least <= 390
    (line,) = analysis.warnings
    assert "answer part 2, on average at most " in line
    assert "More than the plan allows for" not in line


@pytest.mark.parametrize("runs", [1, pytest.param(40, marks=pytest.mark.proof)])
def test_honest_people_raise_no_more_alarms_than_is_stated(runs, alarm):
    """Twelve mechanisms, five truths each, at three levels."""
    found = alarms(runs, np.random.default_rng(9))
    played = len(HONEST) * 5 * runs
    assert found["analyses"] == played
    by_level = {float(level): count for level, count in found["alarms by level"].items()}
    assert by_level[LIARS_FALSE_ALARM] == 0
    for level, count in by_level.items():
        assert binomial_tail(count, played, success=level) > alarm
