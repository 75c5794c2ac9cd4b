"""Where to look: the pair of inputs and the event that promise the highest epsilon."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from croupier.audit.column import Column, Shape
from croupier.audit.feature import Codes, Feature, common_features, pair_feature

__all__ = ["Event", "Promise", "best_event"]

_MOST_PAIR_FEATURES = 6
"""For so many pairs a score of their own is learned, those first that are far apart already."""

_LUCK_OF_THRESHOLDS = 2.0
"""Standard errors. With 1, one audit in ten falls for a handful of outputs in a tail; with 3, all
of them keep to events that are too common to show much."""


@dataclass(frozen=True)
class Event:
    """A set of outputs, fixed before the outputs that are counted were drawn.

    Attributes:
        holds: Which entries of a column lie in it.
        words: The set in words.
    """

    holds: Callable[[Column], NDArray[np.bool_]]
    words: str


@dataclass(frozen=True)
class Promise:
    """An event, the two inputs it tells apart (by place), and what it promises to certify."""

    first: int
    second: int
    event: Event
    epsilon: float


@dataclass(frozen=True)
class _Terms:
    """What a promise depends on besides counts: delta, and the sizes of what was and will be."""

    delta: float
    confidence: float
    trials: int


def best_event(
    learning: Sequence[Column],
    *,
    delta: float,
    confidence: float,
    trials: int,
    questions: Callable[[Column], Iterable[Feature]] = common_features,
) -> Promise:
    """Choose a pair and an event on samples that certify nothing.

    On one half of them the answers to each question (`feature`) are put in the order of their
    likelihood ratio; on the other half every beginning of that order, and every threshold where
    answers have an order of their own, is tried. What counts is the epsilon that the certification
    can be expected to reach, not the one that the halves show: rare events seem to show much.

    Args:
        learning: Outputs of each input.
        delta: At which epsilon is sought.
        confidence: Of the certification.
        trials: Of the certification, both inputs together.
        questions: What may be asked of an output.
    """
    shape = Shape.of(learning)
    columns = [shape.read(column)[1] for column in learning]
    halves = [(column[: len(column) // 2], column[len(column) // 2 :]) for column in columns]
    pooled = np.concatenate([first for first, _ in halves])
    terms = _Terms(delta, confidence, trials)
    pairs = list(permutations(range(len(columns)), 2))
    found: dict[tuple[int, int], Promise] = {}
    for feature in questions(pooled):
        counts = [(feature.counts(first), feature.counts(second)) for first, second in halves]
        for pair in pairs:
            _keep(found, _best_of(feature, counts, pair, terms))
    told = {frozenset(pair): 0.0 for pair in pairs}
    for pair, promise in found.items():
        told[frozenset(pair)] = max(told[frozenset(pair)], promise.epsilon)
    for both in sorted(told, key=lambda both: -told[both])[:_MOST_PAIR_FEATURES]:
        first, second = sorted(both)
        own = pair_feature(halves[first][0], halves[second][0])
        if own is not None:
            # The score was learned on the first halves, which may not judge it too.
            unseen = np.zeros(own.size, dtype=np.int64)
            counts = [
                (unseen, own.counts(half) if place in both else unseen)
                for place, (_, half) in enumerate(halves)
            ]
            for pair in ((first, second), (second, first)):
                _keep(found, _best_of(own, counts, pair, terms))
    return max(found.values(), key=lambda promise: promise.epsilon)


def _keep(found: dict[tuple[int, int], Promise], promise: Promise) -> None:
    pair = (promise.first, promise.second)
    if pair not in found or promise.epsilon > found[pair].epsilon:
        found[pair] = promise


def _best_of(
    feature: Feature,
    counts: Sequence[tuple[Codes, Codes]],
    pair: tuple[int, int],
    terms: _Terms,
) -> Promise:
    first, second = pair
    best, member = -math.inf, np.zeros(feature.size, dtype=bool)
    for order, ahead, behind, luck in _beginnings(feature, counts[first], counts[second]):
        promised = _promised(ahead[order], behind[order], luck, terms)
        end = int(promised.argmax())
        if promised[end] > best:
            best = float(promised[end])
            member = np.zeros(feature.size, dtype=bool)
            member[order[: end + 1]] = True
    chosen = member

    def holds(column: Column) -> NDArray[np.bool_]:
        return np.asarray(chosen[feature.encode(column)])

    return Promise(first, second, Event(holds, feature.describe(chosen)), best)


def _beginnings(
    feature: Feature, first: tuple[Codes, Codes], second: tuple[Codes, Codes]
) -> Iterator[tuple[NDArray[Any], Codes, Codes, float]]:
    """Orders of the answers, the counts to try their beginnings on, and what luck can do there.

    By falling likelihood ratio on one half, tried on the other: the best of m answers that all tell
    nothing stands out by about sqrt(2 ln m) standard errors, and one more is kept. From either end,
    where answers have an order of their own: that owes nothing to the samples, so both halves
    count.
    """
    if not feature.scale:
        ratio = np.log(first[0] + 0.5) - np.log(second[0] + 0.5)
        order = np.argsort(-ratio, kind="stable")
        answers = int(np.count_nonzero(first[1] + second[1]))
        luck = 1 + math.sqrt(2 * math.log(max(answers, 2)))
        yield order, first[1], second[1], luck
    if feature.ordered:
        # Answers never learned of have no place in an order.
        upward = np.arange(feature.size - 1)
        for order in (upward, upward[::-1]):
            yield order, first[0] + first[1], second[0] + second[1], _LUCK_OF_THRESHOLDS


def _promised(first: Codes, second: Codes, luck: float, terms: _Terms) -> NDArray[np.float64]:
    """What each beginning can be expected to certify. The set of all outputs is left out.

    The counts, moved apart by c standard errors of the logarithm of their ratio: `luck` of them for
    having been chosen, and the margin of a one-sided interval at the size of the certification. By
    the score interval of Poisson counts, k + c^2/2 -+ c sqrt(k + c^2/4), which is fair to zero.
    """
    sizes = int(first.sum()) + 1, int(second.sum()) + 1
    ahead, behind = np.cumsum(first)[:-1] + 0.25, np.cumsum(second)[:-1] + 0.25
    if not len(ahead):
        return np.array([-math.inf])
    margin = special.ndtri(terms.confidence) * math.sqrt(sum(sizes) / terms.trials)
    total = np.sqrt(1 / ahead + 1 / behind)
    down, up = ((luck + margin) / np.sqrt(count) / total for count in (ahead, behind))
    low = ahead + down**2 / 2 - down * np.sqrt(ahead + down**2 / 4)
    high = behind + up**2 / 2 + up * np.sqrt(behind + up**2 / 4)
    excess = low / sizes[0] - terms.delta
    promised = np.full(len(ahead), -math.inf)
    shows = excess > 0
    promised[shows] = np.log(excess[shows] / (high[shows] / sizes[1]))
    return promised
