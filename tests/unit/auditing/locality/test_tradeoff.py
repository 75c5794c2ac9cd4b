import math

import numpy as np
import pytest

from croupier.auditing.locality.local_shuffle import (
    among_nearest,
    ladder,
    near_sites,
    no_shuffle,
    uniform_shuffle,
    within_radius,
)
from croupier.auditing.locality.tradeoff import Attack, tradeoff
from croupier.datasets.friendship import friendship
from croupier.datasets.granularity import granularity
from croupier.datasets.hospital import hospital
from croupier.errors import ParameterError
from croupier.model.metric import Metric
from croupier.numerics.keystream import Keystream
from croupier.shufflers.groups import Groups


def test_groups_of_places_are_groups_of_people():
    people = hospital(n=500)
    for radius in (0.0, 8.0, 60.0):
        setting = within_radius(people, radius, alpha=2.0)
        groups = Groups.by_radius(people.places, radius)
        proved = setting.shuffler.guarantee(groups).value
        assert proved == setting.alpha <= 2
        assert setting.group == pytest.approx(groups.sizes.mean())


def test_the_ends_of_the_ladder():
    people = hospital(n=300)
    unmoved = no_shuffle()
    assert unmoved.shuffler.order(300).tolist() == list(range(300))
    assert unmoved.alpha == math.inf
    assert uniform_shuffle(people).alpha == 0
    names = [step.name for step in ladder(people, alpha=4.0, radii=(0.0, 5.0), unit="km")]
    assert names == ["no shuffling", "r = 0 km", "r = 5 km", "uniform"]


def test_radius_zero_keeps_everybody_in_their_hospital():
    people = hospital(n=8_000)
    shuffler = within_radius(people, 0.0, alpha=4.0).shuffler
    order = shuffler.order(8_000, rng=Keystream(insecure_seed=1))
    assert (people.places[order] == people.places).all()
    assert (order != np.arange(8_000)).mean() > 0.9


def test_groups_of_friends_have_their_size_and_alpha():
    people = friendship(n=600)
    setting = among_nearest(people, 10, alpha=4.0)
    assert setting.group == 10
    groups = Groups.nearest(people.places, 9)
    assert setting.shuffler.guarantee(groups).value <= 4
    friends = near_sites(people, 1.0)
    assert friends.sizes.tolist() == (np.diff(people.contacts.indptr) + 1).tolist()


def test_a_shuffle_in_town_stops_the_vote_and_keeps_the_trend():
    people = hospital(n=2_500)
    attack = Attack(radius=10.0, length=20.0, resamples=20)
    steps = ladder(people, alpha=4.0, radii=(10.0,))
    done = []
    apart, town, uniform = tradeoff(
        people, steps, attack, trials=2, rng=Keystream(insecure_seed=1), advance=done.append
    )
    assert len(done) == 6
    assert apart.vulnerable.lower > 1.8 * town.vulnerable.upper
    assert town.vulnerable.lower > 4 * uniform.vulnerable.upper
    assert town.error.measured == pytest.approx(apart.error.measured, abs=0.08)
    assert uniform.error.lower > town.error.upper + 0.2
    assert town.guessed.measured == pytest.approx(apart.guessed.measured, abs=0.04)
    assert town.vulnerable.metric is Metric.VULNERABLE_SHARE
    assert town.vulnerable.confidence == 0.5
    assert town.accuracies == ()


@pytest.mark.proof
def test_coarse_colours_outlive_fine_ones():
    people = granularity(n=1_000)
    attack = Attack(radius=0.2, length=0.2, resamples=5)
    steps = [no_shuffle(), within_radius(people, 0.2, alpha=4.0), uniform_shuffle(people)]
    points = tradeoff(
        people, steps, attack, trials=2, test=granularity(n=1_000, seed=1),
        rng=Keystream(insecure_seed=1),
    )  # fmt: skip
    apart, crescents, uniform = ([level.measured for level in p.accuracies] for p in points)
    assert min(apart) > 0.9
    assert crescents[0] < 0.8
    assert min(crescents[1:]) > 0.95
    assert uniform[0] < 0.2
    assert uniform[1] < 0.4
    assert uniform[2] < 0.65


def test_one_trial_has_no_interval():
    people = hospital(n=300)
    with pytest.raises(ParameterError, match="trials"):
        next(tradeoff(people, [no_shuffle()], Attack(radius=1.0, length=1.0), trials=1))
