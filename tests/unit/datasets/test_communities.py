import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from croupier.datasets.catalogue import DATASETS, dataset
from croupier.datasets.census import census
from croupier.datasets.community import Community
from croupier.datasets.friendship import friendship
from croupier.datasets.granularity import granularity
from croupier.datasets.hospital import hospital
from croupier.errors import ParameterError


@pytest.mark.parametrize("name", DATASETS)
def test_a_seed_makes_the_same_people_again(name):
    make = dataset(name).make
    first, again, other = make(n=900, seed=3), make(n=900, seed=3), make(n=900, seed=4)
    assert np.array_equal(first.values, again.values)
    assert np.array_equal(first.places, again.places)
    assert not np.array_equal(first.places, other.places)
    assert first.synthetic
    assert len(first) == 900
    assert set(first.values.tolist()) == set(range(len(first.labels)))


def test_towns_pay_differently_and_the_amount_tells_how():
    people = hospital(n=20_000)
    town = np.round(people.places / 40).astype(int)
    _, town = np.unique(town, axis=0, return_inverse=True)
    shares = np.zeros((town.max() + 1, 5))
    np.add.at(shares, (town.ravel(), people.values), 1)
    large = shares[shares.sum(axis=1) > 300]
    large /= large.sum(axis=1, keepdims=True)
    apart = cdist(large, large, "cityblock") / 2
    assert np.median(apart[np.triu_indices(len(large), 1)]) > 0.4  # of one law: below 0.1
    middles = [people.privileged[people.values == way].mean() for way in range(5)]
    assert middles == sorted(middles)
    assert len(people.sites) <= 400


def test_friends_are_alike_and_rows_say_nothing():
    people = friendship(n=3_000)
    graph = people.contacts.tocoo()
    assert (people.contacts != people.contacts.T).nnz == 0
    assert not people.contacts.diagonal().any()
    share = people.values.mean()
    alike = (people.values[graph.row] == people.values[graph.col]).mean()
    assert alike > share**2 + (1 - share) ** 2 + 0.15
    degrees = np.diff(people.contacts.indptr)
    assert degrees.max() > 4 * np.median(degrees)
    neighbours_in_rows = (people.values[1:] == people.values[:-1]).mean()
    assert neighbours_in_rows == pytest.approx(share**2 + (1 - share) ** 2, abs=0.05)
    along = people.places[:, 0]
    assert np.corrcoef(along[graph.row], along[graph.col])[0, 1] > 0.9


def test_the_married_earn_more_at_every_age():
    people = census(n=20_000)
    assert people.values.mean() == 0.5
    assert people.places.min() >= 17
    assert people.places.max() <= 90
    for age in (30, 45, 60):
        peers = np.abs(people.places[:, 0] - age) < 3
        married, never = (
            people.values[peers & (people.privileged == status)].mean()
            for status in ("married", "never married")
        )
        assert married > never + 0.3


def test_crescents_and_clusters_lie_apart():
    people = granularity(n=4_000)
    fours, twos = (np.asarray(level)[people.values] for level in people.levels)
    for first, second in ((0, 1), (2, 3)):
        gap = cdist(people.places[fours == first], people.places[fours == second]).min()
        assert 0.25 < gap < 0.5
    assert cdist(people.places[twos == 0], people.places[twos == 1]).min() > 0.9
    halves = cdist(people.places[people.values == 0], people.places[people.values == 1])
    assert halves.min() < 0.1


@pytest.mark.parametrize(
    ("parameter", "change"),
    [
        ("values", {"values": np.array([0, 2])}),
        ("values", {"values": np.array([0.0, 1.0])}),
        ("values", {"labels": ("only",)}),
        ("places", {"places": np.zeros(3)}),
        ("places", {"places": np.array(["here", "there"])}),
        ("privileged", {"privileged": np.zeros(3)}),
        ("contacts", {"contacts": csr_array((3, 3))}),
        ("levels", {"levels": ((0,),)}),
    ],
)
def test_what_is_no_community(parameter, change):
    whole = {
        "labels": ("a", "b"),
        "values": np.array([0, 1]),
        "places": np.zeros(2),
        "synthetic": True,
    }
    with pytest.raises(ParameterError) as refused:
        Community(**(whole | change))
    assert refused.value.parameter == parameter


def test_an_unknown_name():
    with pytest.raises(ParameterError, match="hospital, friendship"):
        dataset("hotel")
