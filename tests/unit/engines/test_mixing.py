import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from croupier.engines import mixing
from croupier.engines.mixing import mixed, rows_of
from croupier.numerics.keystream import Keystream

BATCHES, PEOPLE = 2000, 100
CIPHERTEXTS = rows_of((place.to_bytes(80) for place in range(PEOPLE)), length=80)


def drawn_places(draw):
    """Row i of the answer: who lies at each place of batch i."""
    return np.array([draw(CIPHERTEXTS)[:, -1] for _ in range(BATCHES)])


def unevenness(places):
    """Pearson's statistic of person against place.

    Two independent uniform orders agree in one place on average, with variance one; hence mean
    and variance are those of chi-square with (n - 1)^2 degrees of freedom, once scaled.
    """
    counts = np.zeros((PEOPLE, PEOPLE))
    for place in range(PEOPLE):
        counts[place] = np.bincount(places[:, place], minlength=PEOPLE)
    expected = BATCHES / PEOPLE
    return (PEOPLE - 1) / PEOPLE * ((counts - expected) ** 2 / expected).sum()


def leaving_some_in_place(rows):
    """A shuffler that is wrong: 2 % stay where they came in."""
    order = np.arange(len(rows))
    moving = np.sort(np.argsort(Keystream().words(len(rows)))[len(rows) // 50 :])
    order[moving] = moving[np.argsort(Keystream().words(len(moving)))]
    return rows[order]


def test_every_person_is_equally_often_at_every_place(alarm):
    limit = chi2.isf(alarm, (PEOPLE - 1) ** 2)
    assert unevenness(drawn_places(mixed)) < limit
    assert unevenness(drawn_places(leaving_some_in_place)) > limit


def test_neighbours_on_arrival_are_no_neighbours_afterwards(alarm):
    """Who comes right after whom, against a uniform law on the ordered pairs.

    Two independent uniform orders share 0.99 such pairs on average, with variance near one; the
    statistic has mean 9801, below its degrees of freedom, so that the limit errs to one side.
    """
    limit = chi2.isf(alarm, PEOPLE * (PEOPLE - 1) - 1)

    def pairs(places):
        counts = np.zeros((PEOPLE, PEOPLE))
        np.add.at(counts, (places[:, :-1].ravel(), places[:, 1:].ravel()), 1)
        expected = BATCHES / PEOPLE
        apart = ~np.eye(PEOPLE, dtype=bool)
        return ((counts[apart] - expected) ** 2 / expected).sum()

    def rotated(rows):
        return np.roll(rows, int(Keystream().integers(PEOPLE, 1)[0]), axis=0)

    assert pairs(drawn_places(mixed)) < limit
    assert pairs(drawn_places(rotated)) > limit


@given(st.lists(st.binary(min_size=3, max_size=3)))
def test_each_distinct_row_is_there_once(ciphertexts):
    rows = mixed(rows_of(ciphertexts, length=3))
    assert sorted(row.tobytes() for row in rows) == sorted(set(ciphertexts))


@pytest.mark.parametrize("seed", range(5))
def test_the_order_depends_on_the_seed_and_not_on_the_arrival(seed):
    again = mixed(CIPHERTEXTS[::-1], rng=Keystream(insecure_seed=seed))
    assert (mixed(CIPHERTEXTS, rng=Keystream(insecure_seed=seed)) == again).all()
    assert (mixed(CIPHERTEXTS) != again).any()


def test_where_one_word_of_the_keys_does_not_decide_the_other_does(monkeypatch):
    words = np.array([[1, 3], [0, 9], [1, 1], [1, 2], [1, 3]], dtype=np.uint64)
    monkeypatch.setattr(mixing, "keys_of", lambda *_, **__: words)
    rows = rows_of([b"d", b"a", b"b", b"c", b"d"], length=1)
    assert mixing.ordered(rows, seed=bytes(32)).tobytes() == b"abcd"
