"""Curves of channels with denominators up to 2^64, at delta down to 1e-60: no tolerance."""

import dataclasses

import pytest

from benchmarks.refute import channels
from benchmarks.refute.found import Found
from benchmarks.refute.oracle import histogram_pairs
from croupier.accounting.blanket import lower_curve, upper_curve
from croupier.randomizers import randomizer


@dataclasses.dataclass(frozen=True)
class Scaled:
    """A curve that is wrong by a part."""

    curve: object
    delta_by: float
    epsilon_by: float = 1.0

    def delta(self, epsilon):
        return min(1.0, self.curve.delta(epsilon) * self.delta_by)

    def epsilon(self, delta):
        return self.curve.epsilon(delta) * self.epsilon_by


@pytest.mark.slow
def test_all_data_of_few_people(refuted, require_true):
    require_true(refuted("channels", channels.search, cases=14), cells=1200)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize(
    "rows",
    [
        [[2**64 - 1000, 1000], [2**64 - 1, 1]],
        [[2**64 - 10**6, 10**6], [2**64 - 1000, 1000]],
        [[10**18 - 1, 10], [10**18 + 8, 1]],
        [[1, 999], [999, 1]],
        [[1, 2**32 - 1], [2**32 - 1, 1]],
    ],
)
def test_where_rounding_shows(require_true, rows, n):
    """A rest of 1e-16 that a double cannot hold, and differences that cancel."""
    made, found = randomizer("matrix", matrix=rows), Found()
    local = made.epsilon_local
    points = [0.0, *(local * (1 - part) for part in (0.1, 0.01, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15))]
    pairs = histogram_pairs(rows, n)
    for curve, above in ((upper_curve, True), (lower_curve, False)):
        case = f"n = {n}, rows {rows}"
        channels.check_curve(
            found, curve.__name__, curve(made, n=n), pairs, points, case=case, above=above
        )
    require_true(found, cells=20)


@pytest.mark.parametrize(
    ("side", "wrong"),
    [
        ("upper", {"delta_by": 0.999}),
        ("upper", {"delta_by": 1.0, "epsilon_by": 0.999}),
        ("lower", {"delta_by": 1.001}),
        ("lower", {"delta_by": 1.0, "epsilon_by": 1.001}),
    ],
)
def test_a_curve_that_is_wrong_by_a_thousandth_is_caught(side, wrong):
    rows, found = [[50, 20, 10], [10, 31, 39]], Found()
    made, above = randomizer("matrix", matrix=rows), side == "upper"
    true = (upper_curve if above else lower_curve)(made, n=1)  # exact from both sides
    false, pairs = Scaled(true, **wrong), histogram_pairs(rows, 1)
    points = [0.0, 0.1, 0.5]
    channels.check_curve(found, "true", true, pairs, points, case="", above=above)
    assert not found.violations
    channels.check_curve(found, "false", false, pairs, points, case="", above=above)
    assert found.violations
