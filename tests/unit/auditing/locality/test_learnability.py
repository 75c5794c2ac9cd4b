import sys

import numpy as np
import pytest

from croupier.auditing.locality.learnability import (
    accuracy,
    learning_error,
    local_shares,
    trained_model,
)
from croupier.auditing.locality.local_shuffle import near_sites
from croupier.datasets.community import Community
from croupier.errors import MissingExtraError, ParameterError
from croupier.numerics.keystream import Keystream
from croupier.randomizers.k_rr import KaryRandomizedResponse

RESPONSE = KaryRandomizedResponse(k=3, max_epsilon_local=1.5)


@pytest.fixture
def street():
    """Nine hundred people at thirty numbers; the value changes along the street."""
    rng = np.random.default_rng(5)
    number = rng.integers(30, size=900)
    values = np.clip(number // 10 + rng.integers(-1, 2, size=900), 0, 2)
    return Community(
        labels=("a", "b", "c"), values=values, places=number.astype(float), synthetic=True
    )


def test_the_truth_is_counted_around_each_place(street):
    shares = local_shares(street, near_sites(street, 2.0))
    for number, found in zip(street.sites[:, 0], shares, strict=True):
        near = street.values[np.abs(street.places[:, 0] - number) <= 2]
        assert found == pytest.approx(np.bincount(near, minlength=3) / len(near))


def test_a_perfect_model_errs_by_zero_and_the_blind_by_one(street):
    truth = local_shares(street, near_sites(street, 2.0))
    noisy = truth @ RESPONSE.channel().probabilities
    assert learning_error(street, truth, lambda _: noisy, RESPONSE) == pytest.approx(0, abs=1e-12)
    blind = np.full((30, 3), 1 / 3)
    assert learning_error(street, truth, lambda _: blind, RESPONSE) == pytest.approx(1)
    half = (noisy + 1 / 3) / 2
    assert learning_error(street, truth, lambda _: half, RESPONSE) == pytest.approx(0.5)


def test_people_weigh_the_same_not_places():
    number = np.repeat([0, 1], [90, 10])
    crowded = Community(
        labels=("a", "b"), values=number, places=number.astype(float), synthetic=True
    )
    response = KaryRandomizedResponse(k=2, max_epsilon_local=1.0)
    truth = local_shares(crowded, near_sites(crowded, 0.0))
    always_first = response.channel().probabilities[[0, 0]]
    error = learning_error(crowded, truth, lambda _: always_first, response)
    assert error == pytest.approx(0.1 * 1 / 0.5)


def test_nothing_to_learn():
    even = Community(labels=("a", "b"), values=np.array([0, 1]), places=np.zeros(2), synthetic=True)
    truth = local_shares(even, near_sites(even, 0.0))
    response = KaryRandomizedResponse(k=2, max_epsilon_local=1.0)
    with pytest.raises(ParameterError, match="nothing to learn"):
        learning_error(even, truth, lambda _: truth, response)


def test_trees_learn_a_trend_and_not_a_shuffled_one(street):
    truth = local_shares(street, near_sites(street, 0.0))
    rng = np.random.default_rng(7)
    batch = RESPONSE.randomize(street.values, rng=Keystream(insecure_seed=3))
    kept = trained_model(street.places, batch, k=3)
    lost = trained_model(street.places, rng.permutation(batch), k=3)
    assert learning_error(street, truth, kept, RESPONSE) < 0.6
    assert learning_error(street, truth, lost, RESPONSE) > 0.75
    assert kept(street.sites).sum(axis=1) == pytest.approx(np.ones(30))
    level = np.array([0, 0, 1])
    coarse = trained_model(street.places, level[batch], k=2)
    assert accuracy(coarse, street, level=level) > accuracy(kept, street, level=np.arange(3))


def test_values_that_nobody_reports(street):
    once = np.zeros(900, dtype=int)
    once[0] = 1
    assert trained_model(street.places, once, k=3)(street.sites)[0].tolist() == pytest.approx(
        [899 / 900, 1 / 900, 0]
    )
    two = trained_model(street.places, np.arange(900) % 2 * 2, k=3)(street.sites)
    assert two[:, 1].tolist() == [0] * 30


def test_the_missing_extra_says_what_to_install(street, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.calibration", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[learning\]'"):
        trained_model(street.places, street.values, k=3)
