"""Honest dummies pass; those of another table, or chosen among several draws, are caught."""

from fractions import Fraction

import numpy as np
import pytest

from croupier.auditing.shuffler.dummies import SumLaw, added_checks, dummy_checks, table_law
from croupier.numerics.binomial import binomial_tail
from croupier.numerics.keystream import Keystream
from croupier.shufflers.dummies import DummyTable

TABLE = DummyTable.two_sided_geometric(epsilon=1.0, delta=1e-8)
WIDE = DummyTable.two_sided_geometric(epsilon=0.5, delta=1e-8)
_NARROW = DummyTable.two_sided_geometric(epsilon=2.0, delta=1e-8)
HALF = DummyTable((0,) * int(TABLE.mean - _NARROW.mean) + _NARROW.weights)
"""Half the spread about the same mean."""

BATCHES, BINS = 50, 10
SIZE = BATCHES * BINS


def drawn(table, rng):
    return table.draw(SIZE, rng).reshape(BATCHES, BINS)


def redrawn(rng):
    """Of a thousand draws per batch, the one with the fewest dummies."""
    draws = TABLE.draw(1000 * SIZE, rng).reshape(BATCHES, 1000, BINS)
    return np.stack([batch[batch.sum(axis=1).argmin()] for batch in draws])


def spared(rng):
    """Of ten draws per batch, the one with the fewest dummies of one report."""
    draws = TABLE.draw(10 * SIZE, rng).reshape(BATCHES, 10, BINS)
    return np.stack([batch[batch[:, 3].argmin()] for batch in draws])


FAULTS = {
    "half the spread": lambda rng: drawn(HALF, rng),
    "none": lambda _: np.zeros((BATCHES, BINS), dtype=np.int64),
    "a constant": lambda _: np.full((BATCHES, BINS), int(TABLE.mean)),
    "redrawn for few": redrawn,
    "redrawn for one report": spared,
    "the same in every batch": lambda rng: np.tile(TABLE.draw(BINS, rng), (BATCHES, 1)),
    "one more of each": lambda rng: drawn(TABLE, rng) + 1,
    "beyond the table": lambda rng: np.maximum(
        drawn(TABLE, rng), np.eye(BATCHES, BINS, dtype=np.int64) * (TABLE.most + 1)
    ),
}


def violated(tables, counts, false_alarm=1e-9):
    return [
        check for check in dummy_checks(tables, counts, false_alarm=false_alarm) if check.violated
    ]


def test_the_faulty_table_has_half_the_spread():
    assert HALF.mean == TABLE.mean
    assert float(HALF.variance / TABLE.variance) == pytest.approx(0.235, abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_honest_dummies_pass(seed):
    rng = Keystream(insecure_seed=seed)
    assert not violated([TABLE], drawn(TABLE, rng))
    assert not violated([TABLE, WIDE], drawn(TABLE, rng) + drawn(WIDE, rng))
    assert not violated([TABLE], TABLE.draw(2, rng)[None])


@pytest.mark.parametrize("fault", FAULTS, ids=list(FAULTS))
def test_a_faulty_shuffler_is_caught(fault):
    found = violated([TABLE], FAULTS[fault](Keystream(insecure_seed=8)))
    assert found
    assert all(check.p_value <= 1e-9 for check in found)


@pytest.mark.parametrize(
    ("fault", "times"),
    [
        ("half the spread", 3),
        ("none", 1),
        ("a constant", 1),
        ("redrawn for few", 1),
        ("the same in every batch", 1),
    ],
)
def test_one_faulty_shuffler_of_two_is_caught(fault, times):
    """The other one's dummies hide some of it: half the spread takes more batches."""
    rng = Keystream(insecure_seed=8)
    faulty = np.concatenate([FAULTS[fault](rng) for _ in range(times)])
    honest = np.concatenate([drawn(TABLE, rng) for _ in range(times)])
    found = violated([TABLE, TABLE], faulty + honest)
    assert found
    assert all(check.p_value <= 1e-9 for check in found)


@pytest.mark.parametrize("draws", [1, 2, 5])
@pytest.mark.parametrize("square", [False, True])
def test_bounds_are_above_the_exact_chances(draws, square):
    table = DummyTable((1, 5, 7, 2, 1))
    values = np.arange(5) if not square else (np.arange(5) - 2) ** 2
    law = {0: Fraction(1)}
    for _ in range(draws):
        grown = {}
        for total, chance in law.items():
            for value, weight in zip(values.tolist(), table.weights, strict=True):
                part = chance * Fraction(weight, table.total)
                grown[total + value] = grown.get(total + value, 0) + part
        law = grown
    sums = SumLaw(table.law, values, draws)
    for point in range(-1, max(law) + 2):
        above = sum(chance for total, chance in law.items() if total >= point)
        below = sum(chance for total, chance in law.items() if total <= point)
        assert float(above) <= sums.above(point) <= 1
        assert float(below) <= sums.below(point) <= 1
    assert sums.above(max(law) + 1) == 0 == sums.below(min(law) - 1)
    assert sums.above(max(law)) < 1.01 * float(law[max(law)]) + 1e-6
    assert sums.mean == pytest.approx(float(sum(t * c for t, c in law.items())))


def test_honest_dummies_alarm_no_more_often_than_is_said():
    """At a false alarm of 20 %, in 300 audits; more than 120 have a chance below 1e-12."""
    rng = Keystream(insecure_seed=3)
    alarms = sum(bool(violated([TABLE], drawn(TABLE, rng), 0.2)) for _ in range(300))
    assert binomial_tail(120, 300, success=0.2) < 1e-12
    assert alarms < 120


def test_what_a_shuffler_signed_for_is_compared_with_its_table():
    rng = Keystream(insecure_seed=5)
    honest = drawn(TABLE, rng).sum(axis=1).tolist()
    few = [total - 20 for total in honest]
    for added, caught in ((honest, False), (few, True), ([0], True), ([BINS * 1000], True)):
        found = added_checks(TABLE, added, BINS, who="the shuffler", false_alarm=1e-9)
        assert any(check.violated for check in found) is caught


def test_the_law_of_two_shufflers_is_that_of_the_sum():
    law = table_law([DummyTable((1, 1)), DummyTable((1, 2, 1))])
    assert law.tolist() == [1 / 8, 3 / 8, 3 / 8, 1 / 8]
