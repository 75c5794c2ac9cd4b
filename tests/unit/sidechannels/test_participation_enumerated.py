"""Every coin of every person, in small collections: what is proved is never below the truth."""

import math
from itertools import combinations, combinations_with_replacement, product

import pytest

from croupier.model.participation import (
    Bins,
    Divide,
    Multinomial,
    Parallel,
    SingleRound,
    Subsample,
)
from croupier.randomizers import randomizer
from croupier.sidechannels.participation import Observed, remaining

LENGTHS = (0.25, 0.75)


def response(k, epsilon_local):
    made = randomizer("k-rr", k=k, max_epsilon_local=epsilon_local)
    return made, made.channel().probabilities.tolist()


def law(people, rows, rounds, observed, *, padded):
    """The law of all that is seen, when each person draws a round (a law) and a length.

    `people` lists (value, {round: chance}); whoever sees the batches sees rows sorted in each.
    """
    lengths = LENGTHS if observed is Observed.LENGTH and not padded else (1.0,)
    choices = []
    for value, chances in people:
        choices.append(
            [
                (when, length, output, chance * share * rows[value][output])
                for when, chance in chances.items()
                for length, share in enumerate(lengths)
                for output in range(len(rows[value]))
            ]
        )
    seen = {}
    for combination in product(*choices):
        chance = math.prod(choice[3] for choice in combination)
        batches = tuple(
            tuple(sorted((length, output) for t, length, output, _ in combination if t == when))
            for when in range(rounds)
        )
        beside = ()
        if observed is not Observed.NOTHING and not padded:
            beside = tuple(choice[:2] for choice in combination)
        view = batches, beside
        seen[view] = seen.get(view, 0.0) + chance
    return seen


def divergence(one, two, epsilon):
    """The larger hockey-stick divergence of the two directions."""
    factor = math.exp(epsilon)
    views = set(one) | set(two)
    return max(
        sum(max(0.0, a.get(view, 0) - factor * b.get(view, 0)) for view in views)
        for a, b in ((one, two), (two, one))
    )


def worst(k, others, make, epsilon):
    """Over the person's two values and all that the others may hold."""
    return max(
        divergence(make(0, held), make(1, held), epsilon)
        for held in combinations_with_replacement(range(k), others)
    )


def drawn(weights):
    return {number: weight / sum(weights) for number, weight in enumerate(weights)}


MODELS = [
    (SingleRound(), {0: 1.0}),
    (Parallel(weights=(1, 2)), None),
    (Multinomial(weights=(1, 2)), drawn((1, 2))),
    (Multinomial(weights=(1, 1, 2)), drawn((1, 1, 2))),
    (Multinomial(weights=(1, 2), rectified=True), drawn((1, 2))),
    (Bins(bins=((1, 3),)), drawn((1, 3))),
    (Bins(bins=((1, 3),), rectified=True), drawn((1, 3))),
]


@pytest.mark.parametrize("observed", Observed)
@pytest.mark.parametrize(("model", "chances"), MODELS, ids=range(len(MODELS)))
@pytest.mark.parametrize(("k", "n"), [(2, 2), (2, 3), (3, 3), (2, 4)])
@pytest.mark.parametrize(("epsilon_local", "delta"), [(0.5, 0.02), (2.0, 0.1), (3.0, 0.3)])
def test_one_report(model, chances, k, n, epsilon_local, delta, observed):
    if len(chances or ()) * k**1 > 6 and n > 3:
        pytest.skip("too many views to list")
    made, rows = response(k, epsilon_local)
    rounds = len(chances) if chances else 1

    def make(value, held):
        people = [(x, chances or {0: 1.0}) for x in (value, *held)]
        return law(people, rows, rounds, observed, padded=model.padded)

    facts = {"n": n, "delta": delta, "observed": observed, "lengths": LENGTHS}
    for known in ({"epsilon_local": made.epsilon_local}, {"randomizer": made}):
        found = remaining(model, **facts, **known)
        assert worst(k, n - 1, make, found.epsilon_upper) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("observed", Observed)
@pytest.mark.parametrize(("epsilon_local", "delta"), [(0.5, 0.02), (2.0, 0.1), (3.0, 0.3)])
def test_divide(epsilon_local, delta, observed):
    made, rows = response(2, epsilon_local)
    model = Divide(groups=2)
    found = remaining(model, n=4, delta=delta, observed=observed, randomizer=made, lengths=LENGTHS)

    def make(value, held):
        return law([(x, {0: 1.0}) for x in (value, *held)], rows, 1, observed, padded=False)

    # Only the own group of two matters.
    assert worst(2, 1, make, found.epsilon_upper) <= delta * (1 + 1e-9)


def batch_law(people, rows, asked):
    return law(
        [(people[place], {0: 1.0}) for place in asked], rows, 1, Observed.IN_OUT, padded=True
    )


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize(("n", "batch"), [(2, 1), (3, 2), (4, 2)])
@pytest.mark.parametrize(("epsilon_local", "delta"), [(0.5, 0.02), (1.5, 0.05), (3.0, 0.3)])
@pytest.mark.parametrize("observed", [Observed.NOTHING, Observed.IN_OUT])
def test_subsampling(rounds, n, batch, epsilon_local, delta, observed):
    made, rows = response(2, epsilon_local)
    found = remaining(
        Subsample(repeats=rounds, batch=batch),
        n=n,
        delta=delta,
        observed=observed,
        epsilon_local=made.epsilon_local,
    )
    groups = list(combinations(range(n), batch))

    def one_round(value, held):
        people = (value, *held)
        seen = {}
        for asked in groups:
            for view, chance in batch_law(people, rows, asked).items():
                key = (view, asked if observed is Observed.IN_OUT else ())
                seen[key] = seen.get(key, 0.0) + chance / len(groups)
        return seen

    def make(value, held):
        one = one_round(value, held)
        if rounds == 1:
            return one
        return {(a, b): p * q for a, p in one.items() for b, q in one.items()}

    assert worst(2, n - 1, make, found.epsilon_upper) <= delta * (1 + 1e-9)
