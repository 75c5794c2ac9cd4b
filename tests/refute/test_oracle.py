"""The enumeration itself: two ways to one number, and cases that are known by hand."""

import math
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from benchmarks.refute.draws import KINDS, channel
from benchmarks.refute.games import crowd, ordered, resent, sampled
from benchmarks.refute.oracle import Pair, exp_between, histogram_pairs, merged, worst_delta
from benchmarks.refute.plan_truth import alpha_of_order
from benchmarks.refute.rounds import adaptive_delta, most_right, repeated_delta

RESPONSE = [[3, 1], [1, 3]]
INPUTS = [(0,), (1,)]


def test_exponentials_enclose():
    below, above = exp_between(1.0)
    assert below < Fraction(math.e) + Fraction(1, 10**15)
    assert 0 < above - below < Fraction(1, 10**100)
    assert exp_between(0.0)[0] < 1 < exp_between(0.0)[1]


def test_the_divergence_is_the_sum_of_positive_parts():
    random = Random(3)  # noqa: S311 - to be drawn again
    for _ in range(50):
        p = [random.randrange(9) for _ in range(6)]
        q = [random.randrange(9) for _ in range(6)]
        q[0] += max(0, sum(p) - sum(q))
        p[0] += max(0, sum(q) - sum(p))
        pair = Pair(dict(enumerate(p)), dict(enumerate(q)), sum(p))
        for ratio in (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(7, 3)):
            parts = [max(Fraction(0), a - ratio * b) for a, b in zip(p, q, strict=True)]
            assert pair.delta(ratio) == sum(parts) / sum(p)


@pytest.mark.parametrize("kind", sorted(set(KINDS)))
def test_channels_are_laws(kind):
    for number in range(20):
        rows = channel(Random(number), values=3, reports=3, kind=kind)  # noqa: S311 - as above
        assert len({sum(row) for row in rows}) == 1
        assert min(map(min, rows)) >= 0


def test_a_crowd_by_lists_of_reports():
    """Every list of reports of three people, sorted."""
    rows = [[5, 2, 1], [1, 3, 4]]
    laws = {}
    for others in product(range(2), repeat=2):
        for own in range(2):
            law = laws.setdefault((tuple(sorted(others)), own), {})
            held = [rows[value] for value in (own, *others)]
            for seen in product(range(3), repeat=3):
                weight = math.prod(row[y] for row, y in zip(held, seen, strict=True))
                key = tuple(sorted(seen))
                law[key] = law.get(key, 0) + weight
    ratio = Fraction(3, 2)
    best = Fraction(0)
    for others in ((0, 0), (0, 1), (1, 1)):
        ways = 2 if others == (0, 1) else 1
        for a, b in ((0, 1), (1, 0)):
            p, q = laws[others, a], laws[others, b]
            worst = sum(max(Fraction(0), Fraction(p[s]) - ratio * q[s]) for s in p)
            best = max(best, worst / (ways * 8**3))
    assert crowd(rows, INPUTS, 3).delta(ratio) == best
    assert worst_delta(histogram_pairs(rows, 3), ratio) == best


def test_merging_loses_nothing():
    rows = [[4, 2, 1, 1], [2, 1, 2, 3]]
    assert merged(rows) == [[6, 1, 1], [3, 2, 3]]
    for ratio in (Fraction(1), Fraction(2)):
        whole = crowd(rows, INPUTS, 3)
        assert crowd(merged(rows), INPUTS, 3).delta(ratio) == whole.delta(ratio)
        assert crowd(merged(rows), INPUTS, 3).linked() == whole.linked()


def test_one_report_alone():
    game = crowd(RESPONSE, INPUTS, 1)
    assert game.delta(Fraction(1)) == Fraction(1, 2)
    assert (game.informed(), game.uniform(), game.linked()) == (Fraction(3, 4), Fraction(3, 4), 1)


def test_samples_of_everybody_are_a_crowd():
    whole, all_asked = crowd(RESPONSE, INPUTS, 3), sampled(RESPONSE, INPUTS, 3, 3)
    assert all_asked.delta(Fraction(1)) == whole.delta(Fraction(1))
    assert all_asked.linked() == whole.linked()
    assert sampled(RESPONSE, INPUTS, 4, 2).delta(Fraction(1)) < crowd(RESPONSE, INPUTS, 2).delta(
        Fraction(1)
    )


def test_who_is_seen_hides_less():
    ratio, share = Fraction(5, 4), Fraction(1, 2)
    thinned = crowd(RESPONSE, INPUTS, 3, share=share)
    assert thinned.delta(ratio) > crowd(RESPONSE, INPUTS, 3).delta(ratio)


def test_a_report_that_is_sent_again_betrays_more_and_no_more_than_itself():
    twice, once = resent(RESPONSE, INPUTS, 3), crowd(RESPONSE, INPUTS, 3)
    alone = crowd(RESPONSE, INPUTS, 1)
    one = Fraction(1)
    assert once.delta(one) < twice.delta(one) < alone.delta(one)


def test_a_uniform_order_says_nothing():
    uniform, kept = (ordered(RESPONSE, INPUTS, 3, theta=theta) for theta in (0.0, 50.0))
    whole, alone = crowd(RESPONSE, INPUTS, 3), crowd(RESPONSE, INPUTS, 1)
    assert float(uniform.delta(Fraction(1))) == pytest.approx(float(whole.delta(Fraction(1))))
    assert float(kept.delta(Fraction(1))) == pytest.approx(float(alone.delta(Fraction(1))))
    assert float(uniform.linked()) == pytest.approx(float(whole.linked()))
    assert float(kept.linked()) == pytest.approx(1.0)


def test_rounds_add_up_for_one_report():
    """Two reports of randomized response: 9 : 1 against 1 : 9 with chance 10/16."""
    tables = crowd(RESPONSE, INPUTS, 1).furthest
    assert adaptive_delta(tables, 1.0, rounds=1) == pytest.approx(0.5)
    assert adaptive_delta(tables, 3.0) == pytest.approx(9 / 16 - 3 / 16)
    assert repeated_delta(tables, 3.0, rounds=2) == pytest.approx(9 / 16 - 3 / 16)
    game = crowd(RESPONSE, INPUTS, 1)
    assert most_right(game, known=True) == pytest.approx(0.75)
    assert most_right(game, known=False) == pytest.approx(0.75)


def test_alpha_of_a_group():
    assert alpha_of_order(3, 0.5) == pytest.approx(1.5)
    assert alpha_of_order(4, 1.0) == pytest.approx(6.0)
