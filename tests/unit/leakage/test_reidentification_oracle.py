"""A billion people, to twelve digits, against sixty."""

import random

import mpmath
import pytest

from croupier.leakage.likelihood_ratio import LikelihoodRatio
from croupier.leakage.reidentification import reidentification
from croupier.randomizers import randomizer

DIGITS = 60


def oracle(target, decoy, n, guesses):
    """certain + (1/n) sum of t (Phi(T) - Phi(T + q)), Phi(T) = E max(0, k - Bin(n, T))."""
    with mpmath.workdps(DIGITS):
        pairs = [(mpmath.mpf(p), mpmath.mpf(q)) for p, q in zip(target, decoy, strict=True)]
        certain = mpmath.fsum(p for p, q in pairs if q == 0)
        atoms = sorted(((p / q, q) for p, q in pairs if q), reverse=True)

        def missed(above):
            # Sum of (k - j) P(Bin(n, T) = j), term by term.
            if above >= 1:
                return mpmath.mpf(0)
            term, total = mpmath.exp(n * mpmath.log1p(-above)), mpmath.mpf(0)
            for j in range(guesses):
                total += (guesses - j) * term
                term *= mpmath.mpf(n - j) / (j + 1) * above / (1 - above)
            return total

        above, total = mpmath.mpf(0), mpmath.mpf(0)
        for ratio, mass in atoms:
            total += ratio * (missed(above) - missed(above + mass))
            above += mass
        return certain + total / n


@pytest.mark.parametrize("guesses", [1, 2, 7, 60, 150, 1000])
@pytest.mark.parametrize("n", [2000, 10**6, 10**9])
@pytest.mark.parametrize("seed", range(4))
def test_random_laws(n, guesses, seed):
    rng = random.Random(f"{n} {guesses} {seed}")  # noqa: S311 - test cases, not noise
    size = rng.randint(2, 8)
    # Decoys so rare that about as many as there are guesses show them.
    decoy = [10 ** rng.uniform(-12, 0) for _ in range(size)]
    decoy[0] = guesses / n * 10 ** rng.uniform(-1, 1)
    decoy = [mass / (2 * sum(decoy)) for mass in decoy]
    target = [10 ** rng.uniform(-6, 0) for _ in range(size)]
    target = [mass / sum(target) for mass in target]
    found = LikelihoodRatio.of(target, decoy).probability(n=n, guesses=guesses)
    truth = oracle(target, decoy, n, guesses)
    assert abs(found / truth - 1) <= 1e-12


@pytest.mark.parametrize("epsilon_local", [0.1, 1.0, 5.0, 12.0, 20.0])
@pytest.mark.parametrize("k", [2, 10, 10**6])
def test_k_rr_of_a_billion_people(k, epsilon_local):
    made = randomizer("k-rr", k=k, max_epsilon_local=epsilon_local)
    n = 10**9
    with mpmath.workdps(DIGITS):
        high, low = (mpmath.mpf(level.numerator) / level.denominator for level in made.levels)
        missed = mpmath.exp(n * mpmath.log1p(-low))
        odds = high / low
        hidden = mpmath.exp(n * mpmath.log1p(-k * low))
        upper = (odds * (1 - missed) + missed - hidden) / n
        spread = mpmath.exp(n * mpmath.log1p(-(k - 1) * low))
        lower = (odds * (1 - missed) + missed - (1 - 1 / odds) * spread) / n
    bounds = reidentification(made, n=n)
    assert 0 <= bounds.upper.value / upper - 1 <= 1e-12
    assert 0 <= 1 - bounds.lower.value / lower <= 1e-12


@pytest.mark.parametrize("report_probability", [0.123, 0.9, 0.999])
@pytest.mark.parametrize("epsilon_local", [0.5, 1.0])
def test_a_large_mass_after_a_small_one(epsilon_local, report_probability):
    k = n = 10**9
    made = randomizer("k-rr", k=k, max_epsilon_local=epsilon_local)
    with mpmath.workdps(DIGITS):
        high, low = (mpmath.mpf(level.numerator) / level.denominator for level in made.levels)
        low_thinned = report_probability * low
        missed = mpmath.exp(n * mpmath.log1p(-low_thinned))
        hidden = mpmath.exp(n * mpmath.log1p(-k * low_thinned))
        ratio = high / low_thinned
        upper = (ratio * (1 - missed) + (missed - hidden) / report_probability) / n
    bounds = reidentification(made, n=n, report_probability=report_probability)
    assert 0 <= bounds.upper.value / upper - 1 <= 1e-12
    assert bounds.lower.value <= bounds.upper.value
