import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from croupier.auditing.locality.gaussian_process import field_guesses, guessed_share
from croupier.auditing.locality.inference import vote, voters, vulnerable_share
from croupier.auditing.locality.local_shuffle import near_sites
from croupier.datasets.community import Community
from croupier.datasets.granularity import granularity
from croupier.errors import ParameterError
from croupier.numerics.intervals import clopper_pearson
from croupier.numerics.keystream import Keystream
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.shufflers.groups import Groups

HOUSEHOLD, HOUSEHOLDS, RESAMPLES = 25, 400, 50


@pytest.fixture
def street():
    """Two hundred people at forty numbers of a street."""
    rng = np.random.default_rng(5)
    return Community(
        labels=("a", "b", "c"),
        values=rng.integers(3, size=200),
        places=rng.integers(40, size=200).astype(float),
        privileged=rng.random(200),
        synthetic=True,
    )


def test_the_nearest_and_most_alike_vote(street):
    found = voters(street, near_sites(street, 3.0), count=7, rng=Keystream(insecure_seed=1))
    for person in range(200):
        near = np.flatnonzero(np.abs(street.places[:, 0] - street.places[person, 0]) <= 3)
        alike = sorted(near, key=lambda j: abs(street.privileged[j] - street.privileged[person]))
        assert found[person].tolist() == alike[:7]
        assert found[person, 0] == person


def test_labels_agree_or_not(street):
    status = np.where(np.arange(200) % 2, "odd", "even")
    people = Community(
        labels=street.labels,
        values=street.values,
        places=street.places,
        privileged=status,
        synthetic=True,
    )
    found = voters(people, near_sites(people, 5.0), count=4)
    assert (found >= 0).all()
    assert (status[found] == status[:, None]).all()


def test_without_privileges_voters_are_drawn(street):
    people = Community(
        labels=street.labels, values=street.values, places=street.places, synthetic=True
    )
    near = near_sites(people, 5.0)
    first, second = (voters(people, near, count=5, rng=Keystream(insecure_seed=s)) for s in (1, 2))
    assert (first[:, 0] == np.arange(200)).all()
    assert (first != second).mean() > 0.5
    everybody = voters(people, near, count=300)
    sizes = (np.abs(people.places - people.places.T) <= 5).sum(axis=1)
    assert ((everybody >= 0).sum(axis=1) == sizes).all()


def test_the_vote_is_the_plurality():
    rng = np.random.default_rng(2)
    reports = rng.integers(4, size=50)
    ballots = rng.integers(-1, 50, size=(300, 9))
    ballots[:, 0] = rng.integers(50, size=300)
    found = vote(reports, ballots, k=4, rng=rng)
    for person in range(300):
        counts = Counter(reports[j] for j in ballots[person] if j >= 0)
        assert counts[found[person]] == max(counts.values())


def test_ties_are_tossed(alarm):
    ballots = np.tile([0, 1], (2_000, 1))
    ones = int(vote(np.array([0, 1]), ballots, k=3, rng=np.random.default_rng(3)).sum())
    assert 0.5 in clopper_pearson(ones, 2_000, confidence=1 - alarm)


def test_households_are_found_as_often_as_the_binomial_says(alarm):
    """Everybody's 25 voters are the household, all of whom hold the same value."""
    household = np.repeat(np.arange(HOUSEHOLDS), HOUSEHOLD)
    people = Community(
        labels=("no", "yes"),
        values=household % 2,
        places=household.astype(float),
        synthetic=True,
    )
    response = KaryRandomizedResponse(k=2, max_epsilon_local=0.5)
    near = near_sites(people, 0.0)
    counted = voters(people, near, count=HOUSEHOLD)
    order = np.arange(len(people))
    share = vulnerable_share(
        people, counted, order, response, resamples=RESAMPLES, rng=Keystream(insecure_seed=6)
    )
    interval = clopper_pearson(round(share * HOUSEHOLDS), HOUSEHOLDS, confidence=1 - alarm)
    truth = float(response.levels[0])

    def predicted(truth, seats=HOUSEHOLD):
        right = binom.sf(seats // 2, seats, truth)
        return binom.sf(math.ceil(0.9 * RESAMPLES) - 1, RESAMPLES, right)

    assert predicted(truth) in interval
    assert predicted(truth + 0.03) not in interval
    assert predicted(truth, seats=HOUSEHOLD + 6) not in interval


def test_a_uniform_order_finds_few(street):
    response = KaryRandomizedResponse(k=3, max_epsilon_local=2.5)
    counted = voters(street, near_sites(street, 3.0), rng=Keystream(insecure_seed=1))
    order = np.random.default_rng(1).permutation(200)
    shuffled = vulnerable_share(street, counted, order, response, rng=Keystream(insecure_seed=2))
    assert shuffled < 0.4


def test_what_cannot_be_attacked(street):
    with pytest.raises(ParameterError, match="one group of places"):
        voters(street, Groups.of_sets([{0}], len(street.sites)))
    response = KaryRandomizedResponse(k=3, max_epsilon_local=2.5)
    with pytest.raises(ParameterError, match="sure"):
        vulnerable_share(street, np.zeros((200, 1), int), np.arange(200), response, sure=0.0)


def test_places_together_are_a_process_over_reports():
    """The conditional over averages of places is that over all reports, one by one."""
    rng = np.random.default_rng(4)
    sites = rng.random((12, 2))
    where = np.concatenate([np.arange(12), rng.integers(12, size=60)])
    batch = rng.integers(3, size=72)
    points = sites[where]
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    covariance = np.exp(-distance / (2 * 0.3**2))
    seen = np.eye(3)[batch] - 1 / 3
    mean = covariance[:12] @ np.linalg.inv(covariance + np.eye(72)) @ seen
    found = field_guesses(sites, where, batch, k=3, length=0.3)
    assert found.tolist() == mean.argmax(axis=1).tolist()


def test_the_process_finds_colours_and_nothing_in_a_uniform_order():
    people = granularity(n=2_500)
    assert len(people.sites) > 2_000
    told = guessed_share(people, people.values, length=0.2, rng=Keystream(insecure_seed=1))
    mixed = np.random.default_rng(1).permutation(people.values)
    lost = guessed_share(people, mixed, length=0.2, rng=Keystream(insecure_seed=1))
    assert told > 0.95
    assert lost < 0.3
    with pytest.raises(ParameterError, match="length"):
        guessed_share(people, mixed, length=0.0)
