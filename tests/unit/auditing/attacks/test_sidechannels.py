"""Attacks played out: within their intervals of the prediction, never above the proof."""

from dataclasses import replace

import pytest

from croupier.auditing.attacks.sidechannels import simulate_cardinality, simulate_participation
from croupier.errors import ParameterError
from croupier.model.participation import Bins, Divide, Multinomial, Parallel, SingleRound, Subsample
from croupier.numerics.keystream import Keystream
from croupier.randomizers.delta_summation import DeltaSummation
from croupier.sidechannels.comparison import RandomCheckIn, ShuffleThenRandomize
from croupier.sidechannels.participation import Observed

N = 10_000
MODELS = [
    SingleRound(),
    Divide(groups=40),
    Parallel(weights=(1,) * 40),
    Multinomial(weights=(1,) * 40),
    Multinomial(weights=(1, 2, 3, 4)),
    Bins(bins=((1,) * 5,) * 8),
    Multinomial(weights=(1,) * 40, rectified=True),
    ShuffleThenRandomize(people=N),
    RandomCheckIn(slots=40),
]


@pytest.mark.parametrize("observed", Observed)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.model)
def test_prediction_and_proof(model, observed, alarm):
    found = simulate_participation(
        model,
        n=N,
        epsilon_local=2.0,
        observed=observed,
        games=200_000,
        confidence=1 - alarm,
    )
    assert found.evidence.lower <= found.predicted <= found.evidence.upper
    assert found.evidence.lower <= found.proved_upper
    assert found.predicted <= found.proved_upper


def test_the_interval_would_notice_a_wrong_prediction():
    facts = {"n": N, "epsilon_local": 2.0, "games": 200_000, "insecure_seed": 1}
    model = Multinomial(weights=(1,) * 40)
    seen = simulate_participation(model, observed=Observed.IN_OUT, confidence=1 - 1e-9, **facts)
    unseen = simulate_participation(model, observed=Observed.NOTHING, confidence=1 - 1e-9, **facts)
    assert not seen.evidence.lower <= unseen.predicted <= seen.evidence.upper
    assert not seen.refuted
    assert replace(seen, proved_upper=unseen.proved_upper).refuted


@pytest.mark.parametrize("observed", [Observed.IN_OUT, Observed.LENGTH])
def test_subsampled_people_are_attacked_in_all_rounds(observed, alarm):
    found = simulate_participation(
        Subsample(repeats=60, batch=200),
        n=N,
        epsilon_local=2.0,
        observed=observed,
        games=200_000,
        confidence=1 - alarm,
    )
    assert found.predicted is None
    assert 0.5 < found.evidence.lower <= found.proved_upper


def test_number_of_messages(alarm):
    protocol = DeltaSummation(n=N, epsilon=1.0, delta=1e-6, gamma=0.1)
    found = simulate_cardinality(protocol, games=100_000, confidence=1 - alarm)
    assert found.evidence.lower <= found.predicted <= found.evidence.upper
    assert found.predicted > 0.9999


def test_same_seed_same_games():
    protocol = DeltaSummation(n=N, epsilon=1.0, delta=1e-6, gamma=0.1)
    one, two = (
        simulate_cardinality(protocol, games=1000, rng=Keystream(insecure_seed=1)).evidence
        for _ in range(2)
    )
    assert one == two


def test_unseen_subsampling_is_not_played():
    with pytest.raises(ParameterError, match="rounds"):
        simulate_participation(
            Subsample(repeats=2, batch=10),
            n=100,
            epsilon_local=1.0,
            observed=Observed.NOTHING,
            games=10,
            insecure_seed=1,
        )
