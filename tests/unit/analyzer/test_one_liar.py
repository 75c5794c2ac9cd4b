"""One lying client moves one count by one, whatever it sends, where there are dummies."""

import os

import numpy as np
import pytest

from croupier.analyzer.analyzer import analyze
from croupier.analyzer.keys import KeySource
from croupier.numerics.keystream import Keystream
from tests.unit.dummy_site import release, with_dummies

PEOPLE, K = 300, 6
LIES = {
    "a chosen answer": [K - 1],
    "a null": [None],
    "an answer beyond the last": [b"\2\1\xff"],
    "another version": [b"\1\1\0"],
    "dirt in the padding": [b"\2\1\1\0\0\7"],
}


@pytest.fixture
def site(make_released):
    return with_dummies(make_released(), k=K)


def counted(site, inner, dummies, engine):
    """The analysis of one batch with given dummies."""
    epoch = inner[0]
    path = release(site, inner[1], epoch, dummies)
    return analyze(site.plan, [path], key=KeySource(site.keys.path), engine=engine)


@pytest.mark.parametrize("lie", LIES, ids=list(LIES))
def test_one_more_report_moves_one_count_by_at_most_one(site, memory_engine, lie):
    values = [place % (K - 1) for place in range(PEOPLE)]
    (table,) = site.plan.dummies
    dummies = table.draw(K, Keystream(insecure_seed=4))
    found = []
    for lies in ([], LIES[lie]):
        epoch = site.epoch(round_number=len(found))
        inner = site.sealed([*site.answers(values), *lies], epoch)
        found.append(counted(site, (epoch, inner), dummies, memory_engine))
    before, after = (each.batches[0].counts.tally for each in found)
    moved = after - before
    assert moved.sum() == np.abs(moved).sum() == (lie == "a chosen answer")
    assert moved.argmax() == (K - 1 if moved.any() else 0)
    honest, lied = (each.estimates[0].estimate.points * each.n for each in found)
    assert np.abs(lied - honest - moved).max() < 1e-9


def test_a_row_that_does_not_open_moves_nothing(site, memory_engine):
    """A client can make it; the shuffler drops what is not sealed to it, and not this."""
    (table,) = site.plan.dummies
    dummies = table.draw(K, Keystream(insecure_seed=4))
    values = [place % K for place in range(PEOPLE)]
    epoch = site.epoch()
    inner = [*site.sealed(site.answers(values), epoch), os.urandom(epoch.inner_length)]
    found = counted(site, (epoch, inner), dummies, memory_engine)
    expected = np.bincount(values, minlength=K) + dummies
    assert np.array_equal(found.batches[0].counts.tally, expected)
    assert found.counts["cannot_open"] == 1
    assert found.n == PEOPLE
