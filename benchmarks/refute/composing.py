"""Adaptive rounds of one person, and models of participation."""

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

from benchmarks.refute.draws import rows as drawn_rows
from benchmarks.refute.found import Found
from benchmarks.refute.games import Game, crowd, sampled
from benchmarks.refute.oracle import Rows, exp_between
from benchmarks.refute.rounds import adaptive_delta, repeated_delta
from croupier.accounting.blanket import upper_curve
from croupier.accounting.composition import basic_epsilon, composed_epsilon
from croupier.model.participation import Bins, Divide, Multinomial, Subsample
from croupier.randomizers import randomizer
from croupier.sidechannels.participation import Observed, remaining

__all__ = ["search_participation", "search_rounds"]

DELTAS = (0.3, 0.05, 1e-2, 1e-4, 1e-7)
SLACK = 1e-9
"""The relative tolerance: the truth is summed in doubles here."""


def search_rounds(
    random: Random, found: Found, *, composed: Callable[..., float] = composed_epsilon
) -> None:
    """Try one random channel, a few people, two or three rounds."""
    values, reports, n = random.choice((2, 2, 3)), random.choice((2, 3)), random.randint(1, 3)
    kind = random.choice(("even", "flat", "flat", "skewed"))
    rows = drawn_rows(random, kind, values=values, reports=reports, total=1000)
    made = randomizer("matrix", matrix=rows)
    if made.epsilon_local == 0:
        return
    game = crowd(rows, [(value,) for value in range(values)], n)
    tables, curve = game.furthest[:24], upper_curve(made, n=n)
    small = sum(len(first) for first, _ in tables) <= 24
    for delta in random.sample(DELTAS, 2):
        for rounds in (2, 3):
            case = f"{rounds} rounds, n = {n}, delta {delta}, rows {rows}"
            for kind, bound in (("rounds", composed), ("rounds added", basic_epsilon)):
                epsilon = bound(curve, rounds=rounds, delta=delta)
                if math.isinf(epsilon):
                    continue
                ratio = float(exp_between(epsilon)[1])
                reached = repeated_delta(tables, ratio, rounds=rounds)
                if rounds == 2 or small:
                    reached = max(reached, adaptive_delta(tables, ratio, rounds=rounds))
                _compare(found, kind, delta, reached, f"epsilon {epsilon!r}, {case}")


def search_participation(
    random: Random, found: Found, *, left: Callable[..., Any] = remaining
) -> None:
    """Try binary randomized response in every model, against all data of a few people."""
    yes, total = random.choice(((3, 4), (5, 8), (11, 12), (60, 61)))
    rows = [[yes, total - yes], [total - yes, yes]]
    made = randomizer("matrix", matrix=rows)
    known: dict[str, Any] = (
        {"randomizer": made} if random.random() < 0.5 else {"epsilon_local": made.epsilon_local}
    )
    n = random.randint(2, 4)
    asked = random.randint(1, n)
    weights = (random.randint(1, 4), random.randint(1, 4))
    for delta in DELTAS:
        case = f"n = {n}, weights {weights}, asked {asked}, delta {delta}, {list(known)}, {rows}"
        facts = {"delta": delta, **known}
        _lots(found, left, rows, n, weights, facts, case)
        _samples(found, left, rows, n, asked, facts, case)
        whole = _game(rows, n)
        for model in (Divide(groups=2), Bins(bins=((1,), (1,)))):
            said = left(model, n=2 * n, observed=Observed.IN_OUT, **facts)
            for epsilon in (said.epsilon_upper, said.worst_epsilon_upper):
                reached = float(whole.delta(exp_between(epsilon)[1]))
                _compare(found, f"participation {model.model}", delta, reached, case)


def _game(rows: Rows, n: int, share: Fraction = Fraction(1)) -> Game:
    return crowd(rows, [(value,) for value in range(len(rows))], n, share=share)


def _lots(  # noqa: PLR0913, PLR0917 - one comparison, and what it is about
    found: Found,
    left: Callable[..., Any],
    rows: Rows,
    n: int,
    weights: tuple[int, ...],
    facts: dict[str, Any],
    case: str,
) -> None:
    """Check models in which everybody draws their round, with participation seen or not."""
    model, delta = Multinomial(weights=weights), facts["delta"]
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    strata = [_game(rows, n, share) for share in shares]
    seen = left(model, n=n, observed=Observed.IN_OUT, **facts)
    ratio = exp_between(seen.epsilon_upper)[1]
    average = sum(s * game.delta(ratio) for s, game in zip(shares, strata, strict=True))
    _compare(found, "participation seen", delta, float(average), case)
    ratio = exp_between(seen.worst_epsilon_upper)[1]
    worst = max(game.delta(ratio) for game in strata)
    _compare(found, "participation seen, worst", delta, float(worst), case)
    unseen = left(model, n=n, observed=Observed.NOTHING, **facts)
    inputs = [(a, b) for a in range(len(rows)) for b in range(len(rows))]
    mixed = [
        [weights[0] * c for c in rows[a]] + [weights[1] * c for c in rows[b]] for a, b in inputs
    ]
    whole = crowd(mixed, inputs, n)
    reached = whole.delta(exp_between(unseen.epsilon_upper)[1])
    _compare(found, "participation unseen", delta, float(reached), case)


def _samples(  # noqa: PLR0913, PLR0917 - one comparison, and what it is about
    found: Found,
    left: Callable[..., Any],
    rows: Rows,
    n: int,
    asked: int,
    facts: dict[str, Any],
    case: str,
) -> None:
    """Check two rounds, each of which asks random people."""
    model, delta = Subsample(repeats=2, batch=asked), facts["delta"]
    inputs = [(value,) for value in range(len(rows))]
    unseen = left(model, n=n, observed=Observed.NOTHING, **facts)
    tables = sampled(rows, inputs, n, asked).furthest
    ratio = float(exp_between(unseen.epsilon_upper)[1])
    _compare(found, "samples unseen", delta, adaptive_delta(tables, ratio), case)
    seen = left(model, n=n, observed=Observed.IN_OUT, **facts)
    tables, share = _game(rows, asked).furthest, asked / n
    ratio = float(exp_between(seen.epsilon_upper)[1])
    once, twice = (adaptive_delta(tables, ratio, rounds=rounds) for rounds in (1, 2))
    average = 2 * share * (1 - share) * once + share**2 * twice
    _compare(found, "samples seen", delta, average, case)
    ratio = float(exp_between(seen.worst_epsilon_upper)[1])
    _compare(found, "samples seen, worst", delta, adaptive_delta(tables, ratio), case)


def _compare(found: Found, kind: str, delta: float, reached: float, case: str) -> None:
    found.at_least(kind, delta * (1 + SLACK), reached, case)
