"""Every order, every dataset, in fractions: nothing but the definition."""

import random
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest

from croupier.leakage.likelihood_ratio import LikelihoodRatio
from croupier.leakage.reidentification import reidentification
from croupier.randomizers import randomizer


def histograms(laws):
    """The law of how often each output is shown by independent people."""
    found = {(0,) * len(laws[0]): Fraction(1)}
    for law in laws:
        grown = {}
        for counts, chance in found.items():
            for output, probability in enumerate(law):
                if probability:
                    more = tuple(c + (output == place) for place, c in enumerate(counts))
                    grown[more] = grown.get(more, 0) + chance * probability
        found = grown
    return found


def success(target, others, guesses):
    """Of all reports of a histogram, the attacker points at those most likely the target's."""
    posterior = {}
    for counts, chance in histograms(others).items() if others else [((0,) * len(target), 1)]:
        for output, probability in enumerate(target):
            seen = tuple(c + (output == place) for place, c in enumerate(counts))
            posterior.setdefault(seen, []).append((output, chance * probability))
    total = Fraction(0)
    for seen, shares in posterior.items():
        each = [share / seen[output] for output, share in shares for _ in range(seen[output])]
        total += sum(sorted(each, reverse=True)[:guesses])
    return total


def law(rng, outputs, *, zeros):
    weights = [rng.randint(0 if zeros else 1, 5) for _ in range(outputs)]
    weights[rng.randrange(outputs)] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize("seed", range(10))
def test_given_laws(seed):
    rng = random.Random(seed)  # noqa: S311 - test cases, not noise
    for _ in range(150):
        outputs, n = rng.randint(1, 4), rng.randint(1, 5)
        guesses = rng.randint(1, n + 1)
        target, decoy = (law(rng, outputs, zeros=rng.random() < 0.5) for _ in range(2))
        truth = success(target, [decoy] * (n - 1), guesses)
        ratio = LikelihoodRatio.of(target, decoy)
        assert ratio.probability(n=n, guesses=guesses) == pytest.approx(float(truth), rel=1e-13)
        advantage = float(truth - Fraction(min(guesses, n), n))
        found = ratio.additive_advantage(n=n, guesses=guesses)
        assert found == pytest.approx(advantage, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("seed", range(40))
def test_every_dataset_of_a_randomizer(seed):
    rng = random.Random(seed)  # noqa: S311 - test cases, not noise
    inputs, outputs = rng.randint(2, 3), rng.randint(2, 3)
    weights = []
    for _ in range(inputs):
        row = [rng.randint(0 if seed % 4 == 0 else 1, 6) for _ in range(outputs - 1)]
        weights.append([*row, 18 - sum(row)])
    made = randomizer("matrix", matrix=weights)
    rows = [[Fraction(weight, 18) for weight in row] for row in weights]
    for n in (2, 3, 4):
        for guesses in (1, 2):
            bounds = reidentification(made, n=n, guesses=guesses)
            worst = max(
                success(target, [rows[x] for x in others], guesses)
                for target in rows
                for others in combinations_with_replacement(range(inputs), n - 1)
            )
            assert bounds.lower.value <= worst <= bounds.upper.value


def test_mixed_others(golden_mixed_others):
    case = golden_mixed_others
    odds = int(case["odds"])
    rows = [
        [Fraction(odds if x == y else 1, odds + case["k"] - 1) for y in range(case["k"])]
        for x in range(case["k"])
    ]
    found = success(rows[0], [rows[x] for x in case["others"]], 1)
    assert found == Fraction(case["value"])
