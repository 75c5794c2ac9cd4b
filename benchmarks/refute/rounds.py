"""Two rounds of one person; the second may be chosen after the first is seen."""

import math
from collections.abc import Iterable
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from benchmarks.refute.games import Game, World

__all__ = ["Table", "adaptive_delta", "most_right", "repeated_delta"]

Real = NDArray[np.float64]
Table = tuple[Real, Real]

_MOST_WORLDS = 40


def adaptive_delta(tables: list[Table], ratio: float, *, rounds: int = 2) -> float:
    """The worst divergence of rounds, each of whose pairs may depend on what was seen before.

    f_T(r) = max over pairs of sum_h P(h) f_{T-1}(r Q(h)/P(h)),   f_0(r) = (1 - r)_+.
    """
    return float(_ahead(tables, np.array([ratio]), rounds)[0])


def _ahead(tables: list[Table], ratios: Real, rounds: int) -> Real:
    best = np.zeros_like(ratios)
    for first, second in tables:
        if rounds == 1:
            found = np.maximum(first - ratios[:, None] * second, 0.0).sum(axis=1)
        else:
            following = ratios[:, None] * (second / first)
            worth = _ahead(tables, following.ravel(), rounds - 1).reshape(following.shape)
            found = worth @ first
        best = np.maximum(best, found)
    return best


def repeated_delta(tables: Iterable[Table], ratio: float, *, rounds: int) -> float:
    """The divergence that an attacker reaches by one event in each of many equal rounds.

    How often the event happened is binomial under both values.
    """
    best = 0.0
    for first, second in tables:
        p = np.minimum(1.0, np.cumsum(first))
        q = np.minimum(1.0, np.cumsum(second))
        for chance, other in zip(p.tolist(), q.tolist(), strict=True):
            times = range(rounds + 1)
            weight = [math.comb(rounds, t) for t in times]
            best = max(
                best,
                math.fsum(
                    max(0.0, c * (_power(chance, t, rounds) - ratio * _power(other, t, rounds)))
                    for c, t in zip(weight, times, strict=True)
                ),
            )
    return best


def _power(chance: float, times: int, rounds: int) -> float:
    return chance**times * (1 - chance) ** (rounds - times)


def most_right(game: Game, *, known: bool) -> float:
    """The chance of guessing an answer from two rounds in which people hold the same.

    Args:
        game: One round.
        known: True if the values of all others are known; they may then differ between rounds.
    """
    if not known:
        return _unknown(game)
    best = 0.0
    for family in game.families:
        tables = [_array(world, family, game.total) for world in game.worlds[:_MOST_WORLDS]]
        for first, second in islice(product(tables, repeat=2), _MOST_WORLDS**2):
            joint = first[:, :, None] * second[:, None, :]
            best = max(best, float(joint.max(axis=0).sum()) / len(family))
    return best


def _unknown(game: Game) -> float:
    everything = range(len(game.inputs))
    outcomes = sorted({o for world in game.worlds for law in world.laws for o in law}, key=repr)
    joint = np.zeros((len(game.inputs), len(outcomes), len(outcomes)))
    datasets = sum(world.datasets for world in game.worlds)
    for world in game.worlds:
        table = _array(world, everything, game.total, outcomes)
        joint += world.datasets / datasets * table[:, :, None] * table[:, None, :]
    best = 0.0
    for question in range(len(game.inputs[0])):
        answers = np.array([held[question] for held in game.inputs])
        by_answer = [joint[answers == answer].sum(axis=0) for answer in np.unique(answers)]
        best = max(best, float(np.max(by_answer, axis=0).sum()) / len(game.inputs))
    return best


def _array(
    world: World, inputs: Iterable[int], total: int, outcomes: list[object] | None = None
) -> Real:
    laws = [world.laws[place] for place in inputs]
    listed = sorted(set().union(*laws), key=repr) if outcomes is None else outcomes
    return np.array([[law.get(outcome, 0) / total for outcome in listed] for law in laws])
