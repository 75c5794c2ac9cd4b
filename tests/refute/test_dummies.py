"""The law of dummies against all outcomes of small collections, listed in fractions."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from croupier.accounting.dummies import DummyCurve, DummyFloor
from croupier.numerics.rounding import float_above
from croupier.shufflers.dummies import DummyTable
from tests.refute.dummy_world import World, divergence

EPSILONS = [0.0, 0.05, 0.3, 0.7, 1.0, 1.5, 2.5, 4.0, 9.0]
KEEPS = [Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(1, 10)]


def identity(k):
    return [[Fraction(int(a == b)) for b in range(k)] for a in range(k)]


def drawn_weights(pick, longest):
    """Random weights; some are zero, also between others, and some tables are two entries long."""
    while True:
        size = pick.randint(2, longest)
        most = pick.choice([3, 100, 2**40])
        weights = [pick.choice([0, 1, 1, 1]) * pick.randint(1, most) for _ in range(size)]
        if sum(weights):
            return tuple(weights)


def cases(number, in_every_run):
    """Seeds, some of which take longer than the others."""
    return [range(in_every_run), pytest.param(range(in_every_run, number), marks=pytest.mark.proof)]


@pytest.mark.parametrize("seeds", cases(5_000, 250), ids=["some", "5,000"])
def test_delta_is_that_of_every_dataset(seeds):
    """Up to four people and four values: the divergence is the same whoever else takes part."""
    for seed in seeds:
        pick = random.Random(seed)  # noqa: S311 - tables, not noise
        k, n = pick.choice([2, 2, 3, 4]), pick.randint(1, 4)
        weights = drawn_weights(pick, 6 if k == 2 else 5 - (k > 3))
        world, table = World(identity(k), [(weights, Fraction(1))], n), DummyTable(weights)
        first, second = pick.sample(range(k), 2)
        others = tuple(pick.randrange(k) for _ in range(n - 1))
        laws = [world.seen("batch", (x, *others)) for x in (first, second)]
        epsilon = pick.choice(EPSILONS)
        exact = divergence(*laws, epsilon)
        low, high = table.delta(epsilon)
        assert low <= exact <= high, (seed, float(low), float(exact), float(high))
        assert high - low < Fraction(1, 10**12), seed


@pytest.mark.parametrize(("k", "n"), [(2, 4), (3, 3), (4, 2)])
def test_all_datasets_give_one_delta(k, n):
    weights = (3, 0, 5, 1)
    world, table = World(identity(k), [(weights, Fraction(1))], n), DummyTable(weights)
    for others in itertools.product(range(k), repeat=n - 1):
        for first, second in itertools.permutations(range(k), 2):
            laws = [world.seen("batch", (x, *others)) for x in (first, second)]
            low, high = table.delta(0.7)
            assert low <= divergence(*laws, 0.7) <= high


@pytest.mark.parametrize("seeds", cases(3_000, 150), ids=["some", "3,000"])
def test_a_sample_is_bounded_and_reached_without_others(seeds):
    for seed in seeds:
        pick = random.Random(seed)  # noqa: S311 - tables, not noise
        k, n = pick.choice([2, 2, 3]), pick.randint(1, 3)
        weights, keep = drawn_weights(pick, 4), pick.choice(KEEPS[1:])
        world, table = World(identity(k), [(weights, keep)], n), DummyTable(weights)
        others = tuple(pick.randrange(k) for _ in range(n - 1))
        laws = [world.seen("batch", (x, *others)) for x in (0, 1)]
        epsilon = pick.choice(EPSILONS)
        exact = divergence(*laws, epsilon)
        low, high = table.delta(epsilon, own=keep)
        assert exact <= high, seed
        if n == 1:
            assert low <= exact, seed
            assert high - low < Fraction(1, 10**12)


def drawn_channel(pick):
    """A random channel of up to three values, or k-rr with its two chances."""
    k = pick.choice([2, 3])
    if pick.random() < 0.5:
        other = Fraction(pick.randint(1, 20), 20 * k)
        own = 1 - (k - 1) * other
        return [[own if a == b else other for b in range(k)] for a in range(k)], (own, other)
    rows = []
    bins = pick.choice([2, 3])
    for _ in range(k):
        weights = [pick.randint(0, 9) for _ in range(bins)]
        weights[pick.randrange(bins)] += 1
        rows.append([Fraction(weight, sum(weights)) for weight in weights])
    return rows, None


@pytest.mark.parametrize("seeds", cases(5_000, 200), ids=["some", "5,000"])
def test_local_noise_is_bounded_by_joint_convexity(seeds):
    """floor <= truth <= bound, whoever else is in the batch."""
    sharpest = 0.0
    for seed in seeds:
        pick = random.Random(seed)  # noqa: S311 - tables, not noise
        channel, levels = drawn_channel(pick)
        distance = max(
            sum(max(Fraction(0), p - q) for p, q in zip(a, b, strict=True))
            for a, b in itertools.permutations(channel, 2)
        )
        if not distance:
            continue
        n = pick.choice([1, 1, 2])
        weights, keep = drawn_weights(pick, 4 if n == 1 else 3), pick.choice(KEEPS)
        world, table = World(channel, [(weights, keep)], n), DummyTable(weights)
        epsilon = pick.choice(EPSILONS)
        exact = world.delta("batch", epsilon)
        bound = DummyCurve(table, keep, min(1.0, float_above(distance))).log_delta(epsilon)
        if exact:
            assert math.log(exact) <= bound + 1e-14, (seed, float(exact), math.exp(bound))
            sharpest = max(sharpest, math.exp(math.log(exact) - bound))
        if levels and n == 1 and levels[0] >= levels[1]:
            own, other = (keep * chance for chance in levels)
            assert DummyFloor(table, own, other).delta(epsilon) <= exact, seed
    assert sharpest > 0.999, "the bound is reached somewhere"


def test_a_bound_that_ignores_half_of_the_noise_is_refuted():
    """The formula with t squared in place of t is false: the comparison can fail."""
    channel = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
    exact = World(channel, [((1, 2, 1), Fraction(1))], 1).delta("batch", 0.0)
    claimed = DummyCurve(DummyTable((1, 2, 1)), Fraction(1), 0.25).log_delta(0.0)
    assert math.log(exact) > claimed


TABLES = [(1, 1), (1, 2, 1), (3, 0, 1), (1, 5, 2)]


@pytest.mark.parametrize("second", TABLES)
@pytest.mark.parametrize("first", TABLES)
@pytest.mark.parametrize("n", [1, 2])
def test_each_of_two_tables_protects_although_totals_are_known(first, second, n):
    """A reader is told how many rows the first shuffler handed over."""
    world = World(identity(2), [(first, Fraction(1)), (second, Fraction(1))], n)
    for epsilon in (0.0, 0.4, 1.0, 2.0):
        exact = world.delta("batch", epsilon)
        alone = [DummyTable(weights).delta(epsilon)[1] for weights in (first, second)]
        assert exact <= min(alone)
        # Whoever runs one of them knows its dummies: what is left is the other's, exactly.
        assert world.delta("shuffler_1", epsilon) <= alone[1]
        assert world.delta("shuffler_2", epsilon) <= alone[0]
        assert abs(world.delta("shuffler_1", epsilon) - alone[1]) < Fraction(1, 10**12)
        assert abs(world.delta("honest_1", epsilon) - alone[0]) < Fraction(1, 10**12)
        assert abs(world.delta("honest_2", epsilon) - alone[1]) < Fraction(1, 10**12)


def test_the_convolution_of_two_tables_is_refuted():
    """The law of the sum promises more than holds once the total of one hop is known."""
    first, second = (1, 5, 2), (1, 2, 1)
    world = World(identity(2), [(first, Fraction(1)), (second, Fraction(1))], 1)
    both = [0] * 5
    for a, b in itertools.product(range(3), repeat=2):
        both[a + b] += first[a] * second[b]
    assert world.delta("batch", 1.0) > DummyTable(tuple(both)).delta(1.0)[1] * Fraction(11, 10)


@pytest.mark.parametrize("keeps", list(itertools.product(KEEPS[1:], repeat=2)))
def test_samples_of_two_shufflers_are_bounded(keeps):
    weights = (1, 3, 2)
    world = World(identity(2), [(weights, keep) for keep in keeps], 2)
    for epsilon in (0.0, 0.4, 1.5):
        alone = [DummyTable(weights).delta(epsilon, own=keep)[1] for keep in keeps]
        assert world.delta("batch", epsilon) <= min(alone)
        assert world.delta("shuffler_1", epsilon) <= alone[1]
        assert world.delta("shuffler_2", epsilon) <= alone[0]
