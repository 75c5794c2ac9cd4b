"""Vulnerability and Bayes security of any channel, alone and shuffled, against exact sums."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from random import Random
from typing import Any

from benchmarks.refute.draws import channel
from benchmarks.refute.found import Found
from benchmarks.refute.oracle import Rows, add_report, histogram_law
from croupier.accounting.blanket import upper_curve
from croupier.leakage.bayes_security import (
    bayes_security,
    bayes_security_bracket,
    prior_bayes_security,
)
from croupier.leakage.gain import (
    gain as expected_gain,
)
from croupier.leakage.gain import (
    miracle_bound,
    multiplicative_capacity,
)
from croupier.leakage.informed import (
    informed_upper_bound,
    informed_vulnerability,
    scan_compositions,
)
from croupier.leakage.uninformed import uninformed_upper_bound, uninformed_vulnerability
from croupier.model.channel import Channel
from croupier.randomizers import randomizer

__all__ = ["check_shuffled", "search"]

NEAR = Fraction(1, 10**12)
"""The tolerance for a number that is rounded to nearest."""

EPSILONS = (0.0, 0.1, 0.3, 0.7, 1.0, 2.0, 4.0)
Gain = list[list[Any]]


def search(random: Random, found: Found, *, security: Callable[..., Any] = bayes_security) -> None:
    """Try one random channel with a prior and gains; then the same among a few people."""
    values, reports = random.randint(2, 4), random.randint(2, 4)
    rows = channel(random, values=values, reports=reports)
    prior = _prior(random, values)
    made = Channel.from_weights(rows, sum(rows[0]))
    case = f"prior {[str(p) for p in prior]}, rows {rows}"
    _alone(random, found, made, rows, prior, case, security)
    n = random.randint(1, 4 if reports < 4 else 3)
    check_shuffled(found, rows, prior, n, f"n = {n}, {case}")


def _prior(random: Random, values: int) -> list[Fraction]:
    weights = [random.randrange(6) for _ in range(values)]
    weights[random.randrange(values)] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def _near(found: Found, kind: str, said: float, truth: Fraction, case: str) -> None:
    found.expect(kind, abs(Fraction(said) - truth) <= NEAR, said, truth, case)


def _alone(  # noqa: PLR0913, PLR0917 - one comparison, and what it is about
    random: Random,
    found: Found,
    made: Channel,
    rows: Rows,
    prior: list[Fraction],
    case: str,
    security: Callable[..., Any],
) -> None:
    total, k = sum(rows[0]), len(rows)
    distance = max(
        sum(max(a - b, 0) for a, b in zip(first, second, strict=True))
        for first, second in permutations(rows, 2)
    )
    beta = 1 - Fraction(distance, total)
    _near(found, "Bayes security", security(made).value, beta, case)
    found.at_most("Bayes security", security(made).value, beta, case)
    both = bayes_security_bracket(made)
    found.at_most("Bayes security, bracket", both.lower.value, beta, case)
    found.at_least("Bayes security, bracket", both.upper.value, beta, case)
    same: Gain = [[Fraction(int(i == j)) for j in range(k)] for i in range(k)]
    drawn = [
        [[Fraction(random.randint(low, 8), 7) for _ in range(k)] for _ in range(3)]
        for low in (0, -8)
    ]
    gains = [same, *drawn]
    for gain in gains:
        truth = _posterior(rows, prior, gain)
        _near(found, "vulnerability", expected_gain(made, prior, gain), truth, case)
    found.at_least(
        "miracle", miracle_bound(made, prior, gains[1]), _posterior(rows, prior, gains[1]), case
    )
    capacity = Fraction(sum(map(max, zip(*rows, strict=True))), total)
    _near(found, "capacity", multiplicative_capacity(made), capacity, case)
    if max(prior) < 1:
        left = (1 - _posterior(rows, prior, same)) / (1 - max(prior))
        _near(found, "Bayes security, prior", prior_bayes_security(made, prior), left, case)
        found.at_least("Bayes security, any prior", left, beta, case)


def _posterior(rows: Rows, prior: list[Fraction], gain: Gain) -> Fraction:
    right = Fraction(0)
    for report in range(len(rows[0])):
        seen = [p * row[report] for p, row in zip(prior, rows, strict=True)]
        right += max(sum(g * s for g, s in zip(line, seen, strict=True)) for line in gain)
    return right / sum(rows[0])


def check_shuffled(found: Found, rows: Rows, prior: list[Fraction], n: int, case: str) -> None:
    """Compare guesses from the histogram of n people, others known and unknown."""
    made = Channel.from_weights(rows, sum(rows[0]))
    k, total = len(rows), sum(rows[0])
    uninformed = _uninformed(rows, prior, n)
    _near(found, "uninformed", uninformed_vulnerability(made, n=n, prior=prior), uninformed, case)
    bound = uninformed_upper_bound(made, n=n, prior=prior)
    found.at_least("uninformed, at most", Fraction(bound) + NEAR, uninformed, case)
    worst = uniform = Fraction(0)
    for others in combinations_with_replacement(range(k), n - 1):
        base = histogram_law(rows, others)
        laws = [add_report(base, row) for row in rows]
        seen = {counts for law in laws for counts in law}
        right = sum(
            max(p * law.get(counts, 0) for p, law in zip(prior, laws, strict=True))
            for counts in seen
        )
        value = Fraction(right) / total**n
        held = [others.count(x) for x in range(k)]
        said = informed_vulnerability(made, others=held, prior=prior)
        _near(found, "informed", said, value, f"others {held}, {case}")
        most = sum(max(law.get(counts, 0) for law in laws) for counts in seen)
        worst, uniform = max(worst, value), max(uniform, Fraction(most, k * total**n))
    curve = upper_curve(randomizer("matrix", matrix=rows), n=n)
    known = informed_upper_bound(curve.delta, epsilons=EPSILONS, prior=prior)
    found.at_least("informed, at most", known, worst, case)
    known = informed_upper_bound(curve.delta, epsilons=EPSILONS, k=k)
    found.at_least("informed, at most", known, uniform, case)
    found.at_most("informed, scanned", scan_compositions(made, n=n).value, uniform, case)


def _uninformed(rows: Rows, prior: list[Fraction], n: int) -> Fraction:
    """Sum over every list of reports, the one person's first."""
    common = math.lcm(*(chance.denominator for chance in prior))
    weights = [int(chance * common) for chance in prior]
    reports = range(len(rows[0]))
    mean = [sum(w * row[y] for w, row in zip(weights, rows, strict=True)) for y in reports]
    joint: dict[tuple[int, ...], list[int]] = {}
    for own, *others in product(reports, repeat=n):
        rest = math.prod(mean[y] for y in others)
        chances = joint.setdefault(tuple(sorted((own, *others))), [0] * len(rows))
        for x, weight in enumerate(weights):
            chances[x] += weight * rows[x][own] * rest
    right = sum(max(chances) for chances in joint.values())
    return Fraction(right, (common * sum(rows[0])) ** n)
