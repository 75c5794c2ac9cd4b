"""What release should have done by now, by clocks that may be wrong."""

from datetime import UTC, datetime, timedelta

import pytest

from croupier.plan.plan import Plan
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.store import SignsOfLife
from croupier.shuffler.http.overdue import overdue

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
PLAN = Plan.from_document(
    {
        "schema": 2,
        "randomizer": {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0},
        "population": {"enrolled": 100},
        "protections": {"minimum_batch": 50},
    }
)
"""Rounds of 24 hours, disposal after 72."""


def found(*batches, ran, now=NOW, host=NOW):
    """The incidents of batches, each a state and an age in hours."""
    made = [
        Batch(bytes(16), PLAN.digest, number, state, NOW - age * HOUR, "")
        for number, (state, age) in enumerate(batches)
    ][::-1]
    signs = SignsOfLife(now, None if ran is None else NOW - ran * HOUR)
    return [name for name, _ in overdue(PLAN, made, signs, host_now=host)]


@pytest.mark.parametrize(
    ("batches", "ran", "expected"),
    [
        ([], None, []),
        ([("open", 1)], 1, []),
        ([("open", 47)], None, []),
        ([("open", 49)], None, ["release-late"]),
        ([("open", 49)], 1, []),
        ([("open", 60)], 49, ["release-late"]),
        ([("released", 60)], 49, ["release-late"]),
        ([("shredded", 47)], 1, []),
        ([("shredded", 49)], 1, ["no-round"]),
        ([("shredded", 600), ("open", 1)], 1, []),
        ([("sealed", 95)], 1, []),
        ([("sealed", 97)], 1, ["batch-old"]),
        ([("open", 97)], 90, ["release-late", "batch-old"]),
        ([("released", 97)], 1, []),
    ],
)
def test_release_is_late_and_a_batch_is_old_by_the_plans_own_times(batches, ran, expected):
    assert found(*batches, ran=ran) == expected


@pytest.mark.parametrize("shift", [-HOUR, HOUR, timedelta(minutes=11)])
def test_clocks_that_differ_are_told(shift):
    assert found(("open", 1), ran=1, host=NOW + shift) == ["clock"]


def test_a_clock_that_was_set_back_is_told_even_if_both_agree():
    back = NOW - 2 * HOUR
    assert found(("open", 1), ran=1, now=back, host=back) == ["clock"]
    assert found(("open", 1), ran=1, host=NOW + timedelta(minutes=9)) == []


def test_a_clock_that_was_mended_is_not_told_for_ever():
    assert found(("shredded", -9000), ("open", 1), ran=1) == []


def test_in_a_trial_with_short_rounds_a_timer_has_a_minute():
    short = Plan.from_document(PLAN.document() | {"collection": {"every": "1s"}})
    batch = Batch(bytes(16), short.digest, 0, "open", NOW, "")
    for seconds, expected in ((59, []), (61, ["release-late"])):
        now = NOW + timedelta(seconds=seconds)
        made = [*overdue(short, [batch], SignsOfLife(now, None), host_now=now)]
        assert [name for name, _ in made] == expected
