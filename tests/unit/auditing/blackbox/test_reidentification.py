import math
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from croupier.auditing.blackbox import sampled_reidentification
from croupier.auditing.blackbox.reidentification import finding_among_law, finding_among_samples
from croupier.auditing.blackbox.samples import chernoff_lower
from croupier.errors import ParameterError
from croupier.model import Direction
from croupier.numerics.intervals import clopper_pearson

TARGET = {y: Fraction(p, 10) for y, p in enumerate((6, 3, 1, 0))}
DECOY = {y: Fraction(p, 10) for y, p in enumerate((1, 3, 4, 2))}
BY_OUTPUT = {y: -y for y in DECOY}


def arrays(law):
    return list(law), [float(p) for p in law.values()]


def drawn(rng, law, size):
    return rng.choice(len(law), size=size, p=arrays(law)[1])


def ranks(decoys, score):
    above = sum(s > score for s in decoys)
    return np.array([above]), np.array([decoys.count(score)])


def enumerated(decoys, score, n):
    games = list(combinations(decoys, n - 1))
    won = [Fraction(1, 1 + g.count(score)) if max(g) <= score else Fraction(0) for g in games]
    return sum(won, Fraction(0)) / len(games)


def test_reference(golden):
    case = golden["finding among samples"]
    decoys, score, n = (case["inputs"][name] for name in ("decoy_scores", "score", "n"))
    value = Fraction(case["value"]["numerator"], case["value"]["denominator"])
    found = finding_among_samples(*ranks(decoys, score), len(decoys), n)
    assert enumerated(decoys, score, n) == value
    assert found[0] == pytest.approx(float(value), rel=case["tolerance"])


def test_finding_among_samples_by_enumeration():
    decoys = [5, 5, 4, 3, 3, 3, 1, 0, 0]
    for n in range(2, len(decoys) + 2):
        for score in (-1, 0, 1, 2, 3, 4, 5, 6):
            found = finding_among_samples(*ranks(decoys, score), len(decoys), n)[0]
            assert found == pytest.approx(float(enumerated(decoys, score, n)), rel=1e-13, abs=0)


def test_a_game_cannot_need_more_decoys_than_there_are():
    with pytest.raises(ParameterError, match="n"):
        finding_among_samples(np.array([0]), np.array([0]), 7, 9)


@pytest.mark.parametrize("n", [2, 100, 10_000])
@pytest.mark.parametrize(
    ("above", "tied"),
    [(0, 0), (0, 10**6), (100, 0), (100, 50), (3, 10**5), (10**6, 0), (900_000, 9)],
)
def test_finding_among_a_million_samples(n, above, tied):
    size = 10**6
    exact = Fraction(math.comb(size - above + 1, n) - math.comb(size - above - tied, n))
    exact /= (tied + 1) * math.comb(size, n - 1)
    found = finding_among_samples(np.array([above]), np.array([tied]), size, n)[0]
    assert found == pytest.approx(float(exact), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("n", [2, 5, 10**4, 10**9])
@pytest.mark.parametrize(
    ("above", "tied"),
    [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (0.5, 0.25), (1e-9, 1e-12), (0.25, 0.75), (0.0, 1e-300)],
)
def test_finding_among_a_law(n, above, tied):
    found = finding_among_law(np.array([above]), np.array([tied]), n)[0]
    with mpmath.workdps(400):
        whole, part = 1 - mpmath.mpf(above), mpmath.mpf(tied)
        if part:
            exact = float((whole**n - (whole - part) ** n) / (n * part))
        else:
            exact = float(whole ** (n - 1))
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_oracle_by_listing_every_game(n, oracle):
    score = {0: 2, 1: 1, 2: 1, 3: 0}
    assert oracle.exact(TARGET, DECOY, score, n) == oracle.enumerated(TARGET, DECOY, score, n)
    assert oracle.best(TARGET, DECOY, n) >= oracle.exact(TARGET, DECOY, score, n)


def test_wins_on_ties_are_not_counted_twice(oracle):
    """Equal laws leave one in n; counting ties as wins would give certainty."""
    law = {0: Fraction(1)}
    assert oracle.best(law, law, 3) == Fraction(1, 3)
    found = sampled_reidentification([0] * 4000, {0: 1.0}, n=3).evidence
    assert found.measured == pytest.approx(1 / 3)
    assert found.lower <= 1 / 3
    found = sampled_reidentification([0] * 4000, [0] * 4000, n=3).evidence
    assert found.measured == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("n", "targets", "score"),
    [
        (200, 60, lambda y: np.where(y == 1, 1.0, 0.0)),
        (4, 40, None),
    ],
)
def test_coverage_for_a_known_law(n, targets, score, oracle, repetitions):
    law = dict(zip(*arrays(DECOY), strict=True))
    if score is None:
        truth = oracle.best(TARGET, DECOY, n)
    else:
        truth = oracle.exact(TARGET, DECOY, {y: int(score(y)) for y in DECOY}, n)
    rng = np.random.default_rng(1)
    covered = sum(
        sampled_reidentification(drawn(rng, TARGET, targets), law, n=n, score=score).evidence.lower
        <= truth
        for _ in range(repetitions)
    )
    assert oracle.holds(covered, repetitions)


def test_coverage_where_chances_are_all_or_nothing(oracle, repetitions):
    truth = Fraction(1, 2) + Fraction(1, 2000)
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(repetitions):
        targets = rng.integers(0, 2, size=120)
        found = sampled_reidentification(targets, {0: 1.0}, n=1000, score=lambda y: y)
        covered += found.evidence.lower <= truth
    assert oracle.holds(covered, repetitions)
    assert covered < repetitions


@pytest.mark.parametrize(
    ("n", "targets", "decoys", "methods"),
    [
        (3, 100, 200, {"chernoff"}),
        (20, 200, 100, {"threshold"}),
        (500, 100, 400, {"threshold"}),
    ],
)
def test_coverage_for_sampled_decoys(n, targets, decoys, methods, oracle, repetitions):
    limits = {
        "chernoff": oracle.exact(TARGET, DECOY, BY_OUTPUT, n),
        # A threshold may be a better attack than the order, but none beats the best.
        "threshold": oracle.best(TARGET, DECOY, n),
    }
    rng = np.random.default_rng(2)
    covered = 0
    seen = set()
    for _ in range(repetitions):
        found = sampled_reidentification(
            drawn(rng, TARGET, targets), drawn(rng, DECOY, decoys), n=n, score=np.negative
        )
        seen.add(found.method)
        covered += found.evidence.lower <= limits[found.method]
    assert methods <= seen
    assert oracle.holds(covered, repetitions)


def test_shared_decoys_are_not_independent_games(oracle):
    """Why the bound counts games with decoys of their own: one a target would not cover."""
    n, size, repetitions = 21, 40, 1000
    law = {y: Fraction(1, 100) for y in range(100)}
    truth = float(oracle.exact(law, law, {y: y for y in law}, n))
    rng = np.random.default_rng(3)
    naive = honest = 0
    for _ in range(repetitions):
        decoys = np.sort(rng.integers(0, 100, size=size))
        targets = rng.integers(0, 100, size=2000)
        right = np.searchsorted(decoys, targets, side="right")
        tied = right - np.searchsorted(decoys, targets)
        mean = finding_among_samples(size - right, tied, size, n).mean()
        naive += chernoff_lower(mean, 2000, 0.95) <= truth
        honest += chernoff_lower(mean, size // (n - 1), 0.95) <= truth
    assert oracle.holds(honest, repetitions)
    assert not oracle.holds(naive, repetitions)


def test_coverage_for_many_targets_and_few_decoys(oracle):
    """One a target, the games would seem many and the decoys' chance would not be covered."""
    n = 21
    rising = {y: Fraction(2 * y + 1, 10_000) for y in range(100)}
    even = {y: Fraction(1, 100) for y in range(100)}
    truth = oracle.best(rising, even, n)
    rng = np.random.default_rng(10)
    covered = 0
    for _ in range(1000):
        targets, decoys = drawn(rng, rising, 2000), rng.integers(0, 100, size=80)
        found = sampled_reidentification(targets, decoys, n=n, score=lambda y: y)
        covered += found.evidence.lower <= truth
    assert oracle.holds(covered, 1000)


def test_a_score_learned_on_the_samples_it_is_tested_on_does_not_cover(oracle):
    law = {y: Fraction(1, 200) for y in range(200)}
    known = dict.fromkeys(range(200), 1 / 200)
    rng = np.random.default_rng(4)
    twice = once = 0
    for _ in range(400):
        sample = rng.integers(0, 200, size=50)
        counts = np.bincount(sample, minlength=200)
        fitted = sampled_reidentification(sample, known, n=20, score=lambda y: counts[y])  # noqa: B023
        twice += fitted.evidence.lower <= 1 / 20
        once += sampled_reidentification(sample, known, n=20).evidence.lower <= 1 / 20
    assert float(oracle.best(law, law, 20)) == pytest.approx(1 / 20)
    assert oracle.holds(once, 400)
    assert not oracle.holds(twice, 400)


@pytest.mark.parametrize(("n", "targets", "decoys"), [(6, 60, None), (2, 4000, 200)])
def test_coverage_on_both_sides_for_a_known_support(n, targets, decoys, oracle, repetitions):
    truth = oracle.best(TARGET, DECOY, n)
    law = dict(zip(*arrays(DECOY), strict=True))
    rng = np.random.default_rng(5)
    above = below = 0
    for _ in range(repetitions):
        found = sampled_reidentification(
            drawn(rng, TARGET, targets),
            law if decoys is None else drawn(rng, DECOY, decoys),
            n=n,
            support_size=4,
        ).evidence
        above += truth <= found.upper
        below += truth >= found.lower
    assert oracle.holds(above, repetitions, 0.975)
    assert oracle.holds(below, repetitions, 0.975)


def test_plain_frequencies_would_not_cover_from_below(oracle):
    """The plug-in value errs upward: as a lower bound it fails, by its bias alone."""
    law = {y: Fraction(1, 20) for y in range(20)}
    known = dict.fromkeys(range(20), 1 / 20)
    rng = np.random.default_rng(6)
    found = [
        sampled_reidentification(rng.integers(0, 20, 60), known, n=5, support_size=20).evidence
        for _ in range(300)
    ]
    assert all(x.lower <= 0.2 + 1e-9 for x in found)
    assert sum(x.measured > float(oracle.best(law, law, 5)) for x in found) > 290


def test_intervals_shrink_to_the_truth(oracle):
    rng = np.random.default_rng(7)
    truth = float(oracle.best(TARGET, DECOY, 10))
    targets, decoys = drawn(rng, TARGET, 200_000), drawn(rng, DECOY, 2_000_000)
    law = dict(zip(*arrays(DECOY), strict=True))
    for given in (law, decoys):
        found = sampled_reidentification(targets, given, n=10).evidence
        assert truth - 0.02 < found.lower <= truth
        both = sampled_reidentification(targets, given, n=10, support_size=4).evidence
        assert truth - 0.03 < both.lower <= truth <= both.upper < truth + 0.03


def test_numbers_are_ranked_by_neighbours():
    rng = np.random.default_rng(8)
    found = sampled_reidentification(3 + rng.normal(size=4000), rng.normal(size=4000), n=10)
    # The distance 3 is found among nine others with probability 0.880 by the best attack.
    assert 0.7 < found.evidence.lower <= 0.88


def test_a_threshold_is_sharper_where_few_games_have_decoys_of_their_own():
    n = 10**4
    truth, _ = integrate.quad(
        lambda y: stats.norm.pdf(y - 2) * stats.norm.cdf(y) ** (n - 1), 2, 8, epsabs=1e-10
    )
    rng = np.random.default_rng(9)
    found = sampled_reidentification(
        2 + rng.normal(size=10**5), rng.normal(size=10**6), n=n, score=lambda y: y
    )
    games = 500_000 // (n - 1)
    assert found.method == "threshold"
    assert chernoff_lower(truth, games, 0.95) < truth / 5
    assert truth / 2 < found.evidence.lower <= truth


def test_the_bounds_are_the_ones_of_the_formulas():
    targets, decoys = [1] * 60 + [1] * 40 + [0] * 20, [1] * 10 + [0] * 90 + [1] * 10 + [0] * 90
    found = sampled_reidentification(targets, decoys, n=40, score=lambda y: y)
    p = clopper_pearson(40, 60, confidence=0.95).lower
    q = clopper_pearson(10, 100, confidence=0.95).upper
    value = p * (1 - (1 - q) ** 40) / (40 * q) + (1 - p) * (1 - q) ** 39 / 40
    assert found.method == "threshold"
    assert found.evidence.lower == pytest.approx(value, rel=1e-9)
    rising = [math.isqrt(166 * i + 83) for i in range(60)]
    found = sampled_reidentification(rising * 2, [*range(100)] * 2, n=2, score=lambda y: y)
    mean = sum(y + 0.5 for y in rising) / 6000
    assert found.method == "chernoff"
    assert found.evidence.measured == pytest.approx(mean)
    assert found.evidence.lower == pytest.approx(chernoff_lower(mean, 60, 0.95), rel=1e-5)


def test_little_variance_makes_bernstein_sharper():
    law = {"x": 0.5, "y": 0.5}
    found = sampled_reidentification(["x", "y"] * 5000, law, n=50, score=lambda y: np.zeros(len(y)))
    assert found.method == "empirical bernstein"
    assert found.evidence.lower == pytest.approx(1 / 50, rel=0.2)


def test_outputs_outside_the_law_give_the_target_away():
    found = sampled_reidentification(["new"] * 200, {"old": 1.0}, n=1000).evidence
    assert found.measured == pytest.approx(1.0)
    assert found.lower > 0.9


def test_fewer_decoys_than_a_game_needs_still_give_a_bound():
    found = sampled_reidentification([1] * 50 + [0] * 50, [0] * 30, n=100)
    assert found.method == "threshold"
    assert found.evidence.upper == 1


@pytest.mark.parametrize("direction", [Direction.UPPER, Direction.EXACT])
@pytest.mark.parametrize("decoys", [[1, 2], {1: 1.0}])
def test_no_upper_bound_without_an_assumption(direction, decoys):
    with pytest.raises(ParameterError, match=r"support_size.*above.*how many.*likelihood ratio"):
        sampled_reidentification([1, 2], decoys, n=2, direction=direction)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"n": 1}, "n"),
        ({"n": 2.5}, "n"),
        ({"confidence": 0.5}, "confidence"),
        ({"decoys": {1: 0.5}}, "decoys"),
        ({"decoys": {1: 1.5, 2: -0.5}}, "decoys"),
        ({"score": lambda _: 1.0}, "score"),
        ({"score": lambda y: np.full(len(y), math.nan)}, "score"),
        ({"support_size": 1}, "support_size"),
    ],
)
def test_refusals(arguments, name):
    given = {"targets": [1, 2, 3], "decoys": [1, 2, 3], "n": 3} | arguments
    with pytest.raises(ParameterError) as refusal:
        sampled_reidentification(given.pop("targets"), given.pop("decoys"), **given)
    assert refusal.value.parameter == name
