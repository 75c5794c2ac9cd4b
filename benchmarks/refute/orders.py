"""Mallows orders: their leaks inside a group, against all orders of a few people."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.refute.draws import rows as drawn_rows
from benchmarks.refute.found import Found
from benchmarks.refute.games import inversions, ordered
from croupier.assessment.ladder.ladder import assess
from croupier.plan.plan import Plan
from croupier.research.hamming_mallows import HammingMallowsShuffler
from croupier.shufflers.mallows import MallowsShuffler
from croupier.shufflers.sensitivity import composed_alpha

__all__ = ["alpha_reached", "search"]

Orders = dict[tuple[int, ...], float]
SLACK = 1e-9


def search(random: Random, found: Found, *, composed: Callable[..., Any] = composed_alpha) -> None:
    """Try random groups and a random reference, and a plan that releases rows in such an order."""
    n, theta = random.randint(2, 5), random.choice((0.05, 0.3, 1.0, 2.5))
    reference = random.sample(range(n), n)
    groups = [sorted(random.sample(range(n), random.randint(1, n))) for _ in range(2)]
    grouping = SimpleNamespace(
        n=n,
        starts=np.cumsum([0, *map(len, groups)]),
        members=np.array([person for group in groups for person in group]),
    )
    case = f"theta {theta}, reference {reference}, groups {groups}"
    shufflers: dict[str, tuple[Any, Callable[..., Orders]]] = {
        "alpha, Kendall": (MallowsShuffler(theta=theta, reference=reference), kendall),
        "alpha, Hamming": (HammingMallowsShuffler(theta=theta), hamming),
    }
    for kind, (shuffler, law) in shufflers.items():
        once = shuffler.guarantee(grouping)
        reached = alpha_reached(law(reference, theta), groups)
        found.expect(kind, once.value >= reached - SLACK, once.value, reached, case)
        for rounds in (2, 3):
            many = composed([once] * rounds).value
            truth = rounds * reached
            holds = many >= truth - SLACK
            found.expect(f"{kind}, rounds", holds, many, truth, f"{rounds} rounds, {case}")
    _link(random, found)


def kendall(reference: Sequence[int], theta: float) -> Orders:
    """The law z[s(k)] = y[s(t(k))] with a chance proportional to e^(-theta inversions of t)."""
    n, weights = len(reference), {}
    for moved in permutations(range(n)):
        order = [0] * n
        for place in range(n):
            order[reference[place]] = reference[moved[place]]
        weights[tuple(order)] = math.exp(-theta * inversions(moved))
    return weights


def hamming(reference: Sequence[int], theta: float) -> Orders:
    """The law proportional to e^(-theta moved people)."""
    return {
        order: math.exp(-theta * sum(order[i] != i for i in range(len(order))))
        for order in permutations(range(len(reference)))
    }


def alpha_reached(orders: Orders, groups: Sequence[Sequence[int]]) -> float:
    """The largest log-ratio of a batch for two ways to assign different reports in a group."""
    best = 0.0
    for group in groups:
        for hands in permutations(group):
            back = dict(zip(hands, group, strict=True))
            for order, chance in orders.items():
                other = tuple(back.get(person, person) for person in order)
                best = max(best, math.log(chance / orders[other]))
    return best


def _link(random: Random, found: Found) -> None:
    """Check the ladder's cells for readers of a Mallows order, against all cases."""
    n, alpha = random.choice((2, 3)), random.choice((0.5, 1.0, 3.0))
    sensitivity = n * (n - 1) // 2
    rows = drawn_rows(random, "even", values=2, reports=2, total=97)
    plan = Plan.from_document(
        {
            "schema": 2,
            "randomizer": {"mechanism": "matrix", "matrix": rows},
            "population": {"enrolled": n},
            "participation": {"model": "single"},
            "protections": {"minimum_batch": n},
            "guarantee": {"delta": 0.01},
            "shuffling": {
                "order": "mallows",
                "alpha": alpha,
                "groups": {"sha256": "0" * 64, "sensitivity": sensitivity},
            },
        }
    )
    game = ordered(rows, [(0,), (1,)], n, theta=alpha / sensitivity)
    batch, case = assess(plan)["batch"], f"plan {plan.document()}"
    link = batch["reidentification"]
    slack = 1 + SLACK
    if link.lower is not None:
        found.at_most("order, linked", link.lower, float(game.linked()) * slack, case)
    if link.upper is not None:
        found.at_least("order, linked", link.upper * slack, game.linked(), case)
    coin = batch["guess_of_two"]
    reached = (1 + float(game.delta(Fraction(1)))) / 2
    found.at_least("order, coin", (coin.upper or 1.0) * slack, reached, case)
    if coin.lower is not None:
        found.at_most("order, coin", coin.lower, reached * slack, case)
