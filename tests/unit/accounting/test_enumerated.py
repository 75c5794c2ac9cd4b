"""upper >= exact >= lower, over all datasets of small batches."""

import math
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

from croupier.accounting.blanket import lower_curve, upper_curve
from croupier.accounting.clones import clone_curve
from croupier.accounting.pair import Laws, ShuffledPair
from croupier.randomizers import MatrixRandomizer, randomizer

ORACLE = 1e-14
"""What rounding may do to the enumeration itself, which adds up to a few thousand doubles."""

EPSILONS = (0.0, 0.05, 0.3, 0.7, 1.4)


class Batches:
    """The laws of the histogram of a batch, for every dataset of the other people."""

    def __init__(self, rows, n):
        self.rows, self.n = rows, n
        outputs = rows.shape[1]
        self.levels = [{(0,) * outputs: 0}]
        self.moves = []
        for _ in range(n):
            following, move = {}, []
            for histogram in self.levels[-1]:
                raised = [
                    (*histogram[:j], histogram[j] + 1, *histogram[j + 1 :]) for j in range(outputs)
                ]
                move.append([following.setdefault(h, len(following)) for h in raised])
            self.levels.append(following)
            self.moves.append(np.array(move))

    def add(self, law, row, level):
        weights = (law[:, None] * row).ravel()
        return np.bincount(
            self.moves[level].ravel(), weights, minlength=len(self.levels[level + 1])
        )

    def divergences(self, epsilons):
        """{(x0, x1, epsilon): (worst over datasets, {c: value when all others hold c})}"""
        inputs = range(len(self.rows))
        found = {}
        for others in combinations_with_replacement(inputs, self.n - 1):
            law = np.ones(1)
            for level, other in enumerate(others):
                law = self.add(law, self.rows[other], level)
            laws = [self.add(law, row, self.n - 1) for row in self.rows]
            for first, second in permutations(inputs, 2):
                for epsilon in epsilons:
                    gap = np.maximum(laws[first] - math.exp(epsilon) * laws[second], 0).sum()
                    worst, equal = found.setdefault((first, second, epsilon), [0.0, {}])
                    found[first, second, epsilon][0] = max(worst, gap)
                    if len(set(others)) == 1:
                        equal[others[0]] = gap
        return found


def _random_channels():
    rng = np.random.default_rng(11)
    for inputs, outputs in ((2, 2), (2, 3), (3, 3), (2, 4), (3, 4), (4, 4)):
        for concentration in (0.3, 1.0, 5.0):
            rows = rng.dirichlet(np.full(outputs, concentration), inputs)
            yield MatrixRandomizer(
                matrix=np.maximum(rows, 1e-3) / np.maximum(rows, 1e-3).sum(1)[:, None]
            )
    yield MatrixRandomizer(matrix=((0.5, 0.5, 0.0), (0.2, 0.5, 0.3), (0.0, 0.5, 0.5)))


CASES = [
    (mechanism, n)
    for mechanism in (
        *(randomizer("k-rr", k=k, max_epsilon_local=e) for k in (2, 3, 4) for e in (0.3, 1.0, 3.0)),
        *_random_channels(),
    )
    for n in (2, 3, 4, 6)
    if n < 6 or mechanism.channel().shape[1] < 4
]


@pytest.mark.parametrize(("mechanism", "n"), CASES)
def test_upper_exact_lower(mechanism, n):
    rows = mechanism.channel().probabilities
    blanket = rows.min(axis=0)
    upper, lower = upper_curve(mechanism, n=n), lower_curve(mechanism, n=n)
    found = Batches(rows, n).divergences(EPSILONS)
    for (first, second, epsilon), (worst, equal) in found.items():
        bound = ShuffledPair.among(
            Laws.of_doubles(blanket, rows[first], rows[second]), n
        ).log_delta(epsilon)
        assert math.exp(bound.upper) >= worst - ORACLE
        for others, value in equal.items():
            pair = ShuffledPair.among(
                Laws.of_doubles(rows[others], rows[first], rows[second]), n
            ).log_delta(epsilon)
            assert math.exp(pair.lower) <= value + ORACLE
            assert math.exp(pair.upper) >= value - ORACLE
    for epsilon in EPSILONS:
        truth = max(worst for (*_, e), (worst, _) in found.items() if e == epsilon)
        assert lower.delta(epsilon) <= truth + ORACLE
        assert upper.delta(epsilon) >= truth - ORACLE
        if math.isfinite(mechanism.epsilon_local) and mechanism.epsilon_local > 0:
            clones = clone_curve(epsilon_local=mechanism.epsilon_local, n=n)
            assert clones.delta(epsilon) >= truth - ORACLE


def test_enough_cases_were_enumerated():
    shapes = [mechanism.channel().shape[0] for mechanism, _ in CASES]
    assert sum(k * (k - 1) for k in shapes) * len(EPSILONS) >= 2_000


def test_corrupt_people_and_people_who_stay_away_by_enumeration():
    """Thinning: the exact divergence, averaged over who reports, with an output for silence."""
    response = randomizer("k-rr", k=3, max_epsilon_local=1.0)
    rows, chance, n = response.channel().probabilities, 0.6, 4
    silent = np.column_stack([chance * rows, np.full(3, 1 - chance)])
    victim = np.column_stack([rows, np.zeros(3)])
    batches = Batches(silent, n)
    curve = upper_curve(response, n=n + 2, corrupt=2, report_probability=chance)
    for epsilon in EPSILONS:
        worst = 0.0
        for others in combinations_with_replacement(range(3), n - 1):
            law = np.ones(1)
            for level, other in enumerate(others):
                law = batches.add(law, silent[other], level)
            first, second = (batches.add(law, victim[x], n - 1) for x in (0, 1))
            worst = max(worst, np.maximum(first - math.exp(epsilon) * second, 0).sum())
        assert curve.delta(epsilon) >= worst - ORACLE


def test_for_two_values_the_lower_bound_is_the_worst_split():
    response = MatrixRandomizer(matrix=((2, 1), (1, 2)))
    curve = lower_curve(response, n=3)
    assert curve.delta(math.log(41 / 40)) == pytest.approx(7 / 40, rel=1e-9)
    rows = response.channel().probabilities
    equal = [
        ShuffledPair.among(Laws.of_doubles(rows[c], rows[0], rows[1]), 3).log_delta(
            math.log(41 / 40)
        )
        for c in (0, 1)
    ]
    assert math.exp(max(bound.upper for bound in equal)) == pytest.approx(13 / 90, rel=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_for_two_values_and_small_batches_the_lower_bound_is_exact(n):
    for local in (0.3, 1.0, 3.0):
        response = randomizer("k-rr", k=2, max_epsilon_local=local)
        found = Batches(response.channel().probabilities, n).divergences(EPSILONS[:4])
        curve = lower_curve(response, n=n)
        for epsilon in EPSILONS[:4]:
            truth = max(worst for (*_, e), (worst, _) in found.items() if e == epsilon)
            if epsilon < response.epsilon_local:
                assert curve.delta(epsilon) == pytest.approx(truth, rel=1e-9)
