"""Re-identification: guesses, corrupt people, thinning and priors, against all data."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from random import Random

from benchmarks.refute.draws import channel
from benchmarks.refute.found import Found
from benchmarks.refute.oracle import Rows
from croupier.leakage.reidentification import expected_reidentified, reidentification
from croupier.model.bracket import Bracket
from croupier.randomizers import randomizer

__all__ = ["best_linked", "search"]

SHARES = (Fraction(1), Fraction(1), Fraction(1, 2), Fraction(7, 8))
REPEATS = 6
_MOST_LOCAL = 100.0


def search(
    random: Random, found: Found, *, linked: Callable[..., Bracket] = reidentification
) -> None:
    """Try one random channel with several questions about it."""
    values, reports = random.choice((2, 3, 4)), random.choice((2, 3, 4))
    rows = channel(random, values=values, reports=reports)
    made = randomizer("matrix", matrix=rows)
    for _ in range(REPEATS):
        n = random.randint(1, 5 if reports < 4 else 4)
        corrupt = random.randrange(n) if random.random() < 0.3 else 0
        guesses, share = random.choice((1, 1, 2, 3, 7)), random.choice(SHARES)
        prior = _prior(random, values) if random.random() < 0.3 else None
        known = {
            "n": n,
            "guesses": guesses,
            "corrupt": corrupt,
            "report_probability": float(share),
        }
        case = f"{known}, prior {prior}, rows {rows}"
        targets = rows if prior is None else [_mean(rows, prior)]
        truth = best_linked(rows, targets, n - corrupt, guesses=guesses, share=share)
        both = linked(made, prior=prior, **known)
        found.at_least("linked, at most", both.upper.value, truth, case)
        found.at_most("linked, at least", both.lower.value, truth, case)
        if prior is None and 0 < made.epsilon_local <= _MOST_LOCAL:
            clones = linked(epsilon_local=made.epsilon_local, **known)
            found.at_least("linked by clones", clones.upper.value, truth, case)
        if prior is None and corrupt == 0 and guesses == 1 and share == 1:
            expected = expected_reidentified(made, n=n)
            found.at_least("expected linked", expected, n * truth, case)


def _prior(random: Random, values: int) -> list[Fraction]:
    weights = [random.randrange(5) for _ in range(values)]
    weights[random.randrange(values)] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def _mean(rows: Rows, prior: list[Fraction]) -> list[int]:
    """The law of the report of a person whose unknown value is drawn from the prior."""
    common = math.lcm(*(chance.denominator for chance in prior))
    weights = [int(chance * common) for chance in prior]
    columns = zip(*rows, strict=True)
    return [sum(w * c for w, c in zip(weights, column, strict=True)) for column in columns]


def best_linked(
    rows: Rows, targets: Rows, honest: int, *, guesses: int, share: Fraction
) -> Fraction:
    """The best chance that one of the guesses is right, over the others' data and the targets."""
    best = Fraction(0)
    for others in combinations_with_replacement(range(len(rows)), honest - 1):
        law, total = _thinned(rows, others, share)
        for target in targets:
            best = max(best, Fraction(_right(law, target, guesses)) / (total * sum(target)))
    return best


def _thinned(
    rows: Rows, others: tuple[int, ...], share: Fraction
) -> tuple[dict[tuple[int, ...], int], int]:
    each, law = sum(rows[0]), {(0,) * len(rows[0]): 1}
    absent = (share.denominator - share.numerator) * each
    for value in others:
        grown: dict[tuple[int, ...], int] = {}
        for counts, weight in law.items():
            if absent:
                grown[counts] = grown.get(counts, 0) + weight * absent
            for report, chance in enumerate(rows[value]):
                if chance:
                    seen = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                    grown[seen] = grown.get(seen, 0) + weight * chance * share.numerator
        law = grown
    return law, (each * share.denominator) ** len(others)


def _right(law: dict[tuple[int, ...], int], target: Sequence[int], guesses: int) -> Fraction:
    """Weights of the histograms times the chance that the likeliest places hold the target."""
    places: dict[tuple[int, ...], list[Fraction]] = {}
    for counts, weight in law.items():
        for report, chance in enumerate(target):
            if chance:
                seen = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                alike = seen[report]
                places.setdefault(seen, []).extend([Fraction(weight * chance, alike)] * alike)
    best = (place for p in places.values() for place in sorted(p, reverse=True)[:guesses])
    return sum(best, Fraction(0))
