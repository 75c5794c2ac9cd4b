"""What a design promises holds when it is played out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from croupier.assessment.design.design import design
from croupier.assessment.ladder.ladder import assess
from croupier.model.adversary import Adversary, Goal, View
from croupier.model.evidence import Evidence
from croupier.model.metric import Metric
from croupier.numerics.intervals import clopper_pearson
from croupier.numerics.keystream import Keystream

GAMES = 4_000_000

EMOJI = {
    "k": 50,
    "enrolled": 1_000_000,
    "corrupt_fraction": 0.05,
    "target_error": 5e-4,
    "max_epsilon": 0.1,
    "max_reidentification": 5e-4,
}
PETS = {
    "k": 4,
    "enrolled": 2_000,
    "target_error": 0.04,
    "max_guess_of_two": 0.6,
    "max_reidentification": 0.05,
    "delta": 1e-6,
}


def squared_errors(plan, collections, rng):
    """The mean square over the categories of each collection's errors."""
    n, made = plan.protections.minimum_batch, plan.randomizer
    values = np.arange(n) % made.domain.size
    truth = np.bincount(values) / n
    found = []
    for _ in range(collections):
        tally = made.tally(made.randomize(values, rng=rng))
        found.append(np.mean((made.estimate_tally(tally, n).points - truth) ** 2))
    return np.array(found)


def is_understated(squares, promised, size, alarm):
    """Whether the errors are too large for what was promised.

    With equal shares all directions in which the k - 1 free errors may point have one variance.
    """
    freedom = len(squares) * (size - 1)
    return squares.mean() / promised**2 > stats.chi2.isf(alarm, freedom) / freedom


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "collections"),
    [pytest.param(EMOJI, 40, marks=pytest.mark.proof), (PETS, 200)],
    ids=["emoji", "pets"],
)
def test_the_error_of_many_collections_is_as_promised(asked, collections, alarm):
    """Of 49 free errors each, or of 3: so many that one promised too small by 1.3 is noticed."""
    for seed, found in enumerate(design(**asked)[:2]):
        squares = squared_errors(found.plan, collections, Keystream(insecure_seed=seed))
        size = asked["k"]
        assert not is_understated(squares, found.rms_error, size, alarm)
        assert is_understated(squares, found.rms_error / 1.3, size, alarm)


def played(made, n, rng):
    """Two games against a person among n - 1 others who all hold value 1, each played best.

    Linking: point at a report whose likelihood ratio is largest. Coin: the person holds 0 or 1; the
    batch is likelier under 0 if the ratios add up to more than n.
    """
    channel = made.channel().probabilities
    ratios = channel[0] / channel[1]
    others = rng.multinomial(n - 1, channel[1], size=GAMES)

    own = rng.choice(len(ratios), p=channel[0], size=GAMES)
    present = others.copy()
    present[np.arange(GAMES), own] += 1
    best = np.where(present > 0, ratios, 0).max(axis=1)
    rivals = (present * (ratios == best[:, None])).sum(axis=1)
    linked = (ratios[own] == best) & (rng.random(GAMES) * rivals < 1)

    coin = rng.integers(2, size=GAMES)
    sent = np.where(coin, *(rng.choice(len(ratios), p=channel[x], size=GAMES) for x in (1, 0)))
    says_zero = others @ ratios + ratios[sent] > n
    right = says_zero == (coin == 0)
    return {Metric.REIDENTIFICATION: linked.sum(), Metric.GUESS_OF_TWO: right.sum()}


def evidence(metric, successes, alarm):
    interval = clopper_pearson(int(successes), GAMES, confidence=1 - alarm)
    wants = Goal.LINK if metric is Metric.REIDENTIFICATION else Goal.GUESS
    return Evidence(
        metric=metric,
        measured=successes / GAMES,
        lower=interval.lower,
        upper=interval.upper,
        confidence=interval.confidence,
        adversary=Adversary(sees=frozenset({View.BATCH}), wants=wants),
        games=GAMES,
    )


@pytest.mark.slow
def test_no_attack_does_better_than_was_promised(alarm):
    for seed, found in enumerate(design(**PETS, mechanisms=["k-rr", "subset-selection"])):
        plan = found.plan
        rng = np.random.default_rng(seed)
        games = played(plan.randomizer, plan.protections.minimum_batch, rng)
        ladder = assess(plan)
        for metric, successes in games.items():
            proved = ladder["batch"][metric].proved
            seen = evidence(metric, successes, alarm)
            assert not seen.refutes(proved)
            blind = 0.5 if metric is Metric.GUESS_OF_TWO else 0.0
            understated = replace(proved, value=blind + (proved.value - blind) / 2)
            assert seen.refutes(understated)
