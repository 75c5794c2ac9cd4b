"""The table of dummies: its exact delta, the figures that are stated, and the ends of its range."""

import json
import time
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest

from croupier.errors import ParameterError
from croupier.numerics.keystream import WORD, Keystream
from croupier.shufflers.dummies import DummyTable

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "dummies.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["deltas"], ids=range(len(GOLDEN["deltas"])))
def test_delta_agrees_with_another_program(case):
    table = DummyTable(tuple(case["weights"]))
    low, high = table.delta(float(case["epsilon"]), own=Fraction(case["kept"]))
    # The other program takes the decimal, and a double is at most 1e-17 beside it.
    assert abs(low - Fraction(case["delta"])) < Fraction(1, 10**16)
    assert abs(high - Fraction(case["delta"])) < Fraction(1, 10**16)
    if case["epsilon"] in ("0", "0.5", "1", "2", "3"):
        assert abs(high - Fraction(case["delta"])) < Fraction(GOLDEN["tolerance"])


def test_all_forty_values_are_compared():
    assert len(GOLDEN["deltas"]) == 40


def test_fifty_values_at_epsilon_one_cost_less_than_three_counts():
    table = DummyTable.two_sided_geometric(epsilon=1.0, delta=1e-8)
    assert table.delta(1.0)[1] <= Fraction(1e-8)
    assert table.variance <= Fraction(280, 100) ** 2
    assert table.mean == 36
    assert float(1 / table.alone) == pytest.approx(36.78, abs=0.01)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (0.01, 1e-8),
        (0.01, 0.1),
        (0.02, 1e-15),
        (1.0, 1e-15),
        (5.0, 1e-15),
        (20.0, 1e-15),
        (20, 0.1),
    ],
)
def test_the_ends_of_the_range(epsilon, delta):
    """The table suffices, and the next shorter one does not."""
    table = DummyTable.two_sided_geometric(epsilon=epsilon, delta=delta)
    assert table.total == WORD
    assert table.weights == table.weights[::-1]
    assert table.delta(epsilon)[1] <= Fraction(delta)
    middle = table.most // 2
    if middle > 1:
        cut = table.weights[1:-1]
        assert DummyTable(cut).delta(epsilon)[1] > Fraction(delta)


def test_a_table_that_would_be_too_long_is_refused():
    with pytest.raises(ParameterError, match=r"tables of 8,192 entries; got 0\.01\. Raise"):
        DummyTable.two_sided_geometric(epsilon=0.01, delta=1e-15)


def test_long_tables_are_quick():
    started = time.perf_counter()
    table = DummyTable.two_sided_geometric(epsilon=0.01, delta=1e-8)
    assert len(table.weights) > 5_000
    for epsilon in (0.0, 0.001, 0.01, 1.0):
        table.delta(epsilon)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("weights", [(1, 2, 1), (5, 0, 0, 3), (WORD - 1, 1), (1, WORD - 1)])
def test_both_ends_enclose_a_sum_of_sixty_digits(weights):
    table = DummyTable(weights)
    padded = (0, *weights, 0)
    steps = list(pairwise(padded))
    with mpmath.workdps(80):
        for epsilon in (0.0, 0.1, 1.0, 7.0, 50.0):
            factor = mpmath.exp(mpmath.mpf(epsilon))
            terms = [max(mpmath.mpf(0), a * d - factor * b * c) for a, b in steps for c, d in steps]
            exact = Fraction(str(mpmath.fsum(terms) / mpmath.mpf(table.total) ** 2))
            low, high = table.delta(epsilon)
            tiny = Fraction(1, 10**50)
            assert low - tiny <= exact <= high + tiny
            assert high - low < Fraction(1, 10**12)


def test_what_is_impossible_alone_stays_at_any_epsilon():
    """A count of 2 or of 0 gives the value away: 1/2 + 1/2 - 1/4."""
    low, high = DummyTable((1, 1)).delta(50.0)
    assert low <= Fraction(3, 4) <= high
    assert DummyTable((0, 1)).delta(50.0)[1] == 1


@pytest.mark.parametrize("own", [Fraction(0), Fraction(2), Fraction(1, 4)])
def test_chances_that_are_none_are_refused(own):
    with pytest.raises(ParameterError, match="own"):
        DummyTable((1, 2, 1)).delta(1.0, own=own, other=Fraction(1, 2))


def test_a_negative_epsilon_is_refused():
    with pytest.raises(ParameterError, match="epsilon"):
        DummyTable((1, 2, 1)).delta(-1.0)


def test_draws_follow_the_table(alarm):
    """Each of four counts within the range of its binomial law; a perturbed law is not."""
    table, bins = DummyTable((1, 4, 0, 3)), 80_000
    drawn = np.bincount(table.draw(bins, Keystream(insecure_seed=7)), minlength=4)
    assert drawn[2] == 0

    def fits(weights):
        chances = np.array(weights) / sum(weights)
        spread = np.sqrt(bins * chances * (1 - chances))
        # Hoeffding's bound for each count.
        allowed = np.sqrt(bins * np.log(2 * 4 / alarm) / 2)
        assert (spread <= allowed).all()
        return (abs(drawn - bins * chances) <= allowed).all()

    assert fits((1, 4, 0, 3))
    assert not fits((1, 4.3, 0, 3))
