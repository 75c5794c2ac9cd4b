import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import ParameterError
from croupier.numerics.bisection import bisect_safe, bisect_safe_integer

BISECTIONS = [
    lambda is_safe, safe, unsafe: bisect_safe(is_safe, safe=safe, unsafe=unsafe, tolerance=0.01),
    lambda is_safe, safe, unsafe: bisect_safe_integer(is_safe, safe=safe, unsafe=unsafe),
]
positions = st.floats(-1e6, 1e6)
integers = st.integers(-(10**30), 10**30)


@settings(deadline=None)
@given(positions, st.floats(1e-3, 1e6), st.booleans())
def test_the_point_is_safe_and_within_the_tolerance(threshold, reach, upward):
    sign = 1 if upward else -1
    found = bisect_safe(
        lambda x: sign * x <= sign * threshold,
        safe=threshold - sign * reach,
        unsafe=threshold + sign * reach,
        tolerance=1e-6,
    )
    assert 0 <= sign * (threshold - found) <= 1e-6


@settings(deadline=None)
@given(integers, integers, st.integers(1, 10**30))
def test_the_integer_is_the_last_safe_one(threshold, start, beyond):
    if start <= threshold:
        safe, unsafe, sign = start, threshold + beyond, 1
    else:
        safe, unsafe, sign = start, threshold - beyond, -1
    found = bisect_safe_integer(lambda n: sign * n <= sign * threshold, safe=safe, unsafe=unsafe)
    assert found == threshold


@pytest.mark.parametrize("bisect", BISECTIONS)
@pytest.mark.parametrize("seed", range(20))
def test_a_predicate_that_is_not_monotone_still_gives_a_point_that_was_seen_safe(bisect, seed):
    seen = {}

    def is_safe(x):
        seen[x] = x == 0 or hash((x, seed)) % 3 > 0
        return seen[x]

    assert seen.get(bisect(is_safe, 0, 1000), False)


def test_tolerance_zero_ends_at_neighbouring_doubles():
    found = bisect_safe(lambda x: x * x <= 2, safe=1.0, unsafe=2.0, tolerance=0.0)
    assert found**2 <= 2 < math.nextafter(found, 2) ** 2


@pytest.mark.parametrize("bisect", BISECTIONS)
def test_the_unsafe_end_is_never_returned(bisect):
    assert bisect(lambda _: True, 0, 100) < 100


def test_no_room_between_the_ends_returns_the_safe_one():
    assert bisect_safe_integer(lambda n: n == 3, safe=3, unsafe=4) == 3
    assert bisect_safe(lambda x: x == 3, safe=3.0, unsafe=3.5, tolerance=1.0) == 3.0


def test_the_number_of_evaluations_is_logarithmic():
    calls = []
    bisect_safe_integer(lambda n: calls.append(n) or n < 17, safe=0, unsafe=1 << 40)
    assert len(calls) == 41


@pytest.mark.parametrize("bisect", BISECTIONS)
def test_a_start_that_is_not_safe_is_refused(bisect):
    with pytest.raises(ParameterError) as refusal:
        bisect(lambda x: x > 5, 0, 10)
    assert (refusal.value.parameter, refusal.value.got) == ("safe", 0)
