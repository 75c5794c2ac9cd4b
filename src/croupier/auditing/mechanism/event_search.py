"""The search for the pairs of inputs and the events that promise the highest epsilon."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from croupier.auditing.mechanism.column import Column, Shape
from croupier.auditing.mechanism.feature import (
    Codes,
    Feature,
    exact_feature,
    pair_feature,
)
from croupier.auditing.mechanism.one_sided import one_sided_answers
from croupier.auditing.mechanism.parts import every_feature

__all__ = ["Event", "Promise", "Promises", "best_events"]

_MOST_PAIR_FEATURES = 6
"""Pairs for which a score of their own is learned, the most distant first."""

_LUCK_OF_THRESHOLDS = 2.0
"""Standard errors. With 1, one audit in ten is misled by a handful of outputs in a tail; with 3,
all of them keep to events that are too common to show much."""


@dataclass(frozen=True)
class Event:
    """A set of outputs, fixed before the counted outputs were drawn.

    Attributes:
        holds: Marks the entries of a column that lie in it.
        words: The set in words.
    """

    holds: Callable[[Column], NDArray[np.bool_]]
    words: str


@dataclass(frozen=True)
class Promise:
    """An event, the two inputs it tells apart (by place), and what it promises to certify.

    Attributes:
        first: The input it is likelier from.
        second: The other one.
        event: A set of outputs.
        worth: The value by which promises of one kind are compared.
    """

    first: int
    second: int
    event: Event
    worth: float

    @property
    def pair(self) -> frozenset[int]:
        """The two inputs, in no order."""
        return frozenset((self.first, self.second))


@dataclass(frozen=True)
class Promises:
    """The events to certify: the one of the highest epsilon, and those of only one input.

    Attributes:
        likeliest: The event of the highest epsilon that can be expected.
        one_sided: Outputs that one input had and another never: by themselves, and by the questions
            that can be asked of them.
        repeating: The share of the outputs that came more than once.
        parts_repeating: The same for the part of the outputs of which it is largest.
    """

    likeliest: Promise
    one_sided: tuple[Promise, ...]
    repeating: float
    parts_repeating: float


@dataclass(frozen=True)
class _Terms:
    """The facts besides counts that a promise depends on: delta, and sizes of both splits."""

    delta: float
    confidence: float
    trials: int


def best_events(
    learning: Sequence[Column],
    *,
    delta: float,
    confidence: float,
    trials: int,
    questions: Callable[[Column], Iterable[Feature]] = every_feature,
) -> Promises:
    """Choose pairs and events on samples that certify nothing.

    On one half of them the answers to each question (`feature`) are sorted by their likelihood
    ratio; on the other half every beginning of that order, and every threshold if answers have an
    order of their own, is tried. Events are compared by the epsilon that the certification can be
    expected to reach, not by the one that the halves show: rare events seem to show much.

    A leak of one output in 10,000 promises little by that measure, however much it reveals.
    Therefore outputs of only one input (`one_sided_answers`) are also sought, and certified apart.

    Args:
        learning: Outputs of each input.
        delta: The delta at which epsilon is sought.
        confidence: Of the certification.
        trials: The trials of the certification, both inputs together.
        questions: The questions that may be asked of an output.
    """
    shape = Shape.of(learning)
    columns = [shape.read(column)[1] for column in learning]
    halves = [(column[: len(column) // 2], column[len(column) // 2 :]) for column in columns]
    pooled = np.concatenate([first for first, _ in halves])
    terms = _Terms(delta, confidence, trials)
    pairs = list(permutations(range(len(columns)), 2))
    found: dict[tuple[int, int], Promise] = {}
    one_sided: dict[bool, Promise] = {}
    exact = exact_feature("output", np.concatenate(columns))
    repeating = {False: 0.0, True: 0.0}
    for feature in (exact, *questions(pooled)):
        counts = [(feature.counts(first), feature.counts(second)) for first, second in halves]
        if feature.exact:
            whole = feature is exact
            repeating[whole] = max(repeating[whole], _repeating(counts))
        for pair in pairs:
            for promise in _one_sided_of(feature, counts, pair, delta):
                _keep(one_sided, feature is exact, promise)
            if feature is not exact:
                _keep(found, pair, _best_of(feature, counts, pair, terms))
    told = {frozenset(pair): 0.0 for pair in pairs}
    for pair, promise in found.items():
        told[frozenset(pair)] = max(told[frozenset(pair)], promise.worth)
    for both in sorted(told, key=lambda both: -told[both])[:_MOST_PAIR_FEATURES]:
        first, second = sorted(both)
        own = pair_feature(halves[first][0], halves[second][0])
        if own is not None:
            # The score was learned on the first halves, so they cannot also judge it.
            unseen = np.zeros(own.size, dtype=np.int64)
            counts = [
                (unseen, own.counts(half) if place in both else unseen)
                for place, (_, half) in enumerate(halves)
            ]
            for pair in ((first, second), (second, first)):
                _keep(found, pair, _best_of(own, counts, pair, terms))
    likeliest = max(found.values(), key=lambda promise: promise.worth)
    return Promises(likeliest, (*one_sided.values(),), repeating[True], repeating[False])


def _repeating(counts: Sequence[tuple[Codes, Codes]]) -> float:
    """Return the share of outputs whose answer came more than once."""
    total = np.sum(counts, axis=(0, 1))
    return 1 - float(total[-1] / total.sum())


def _keep(found: dict[Any, Promise], key: Hashable, promise: Promise) -> None:
    if key not in found or promise.worth > found[key].worth:
        found[key] = promise


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
    return Promise(first, second, _event(feature, member), best)


def _one_sided_of(
    feature: Feature,
    counts: Sequence[tuple[Codes, Codes]],
    pair: tuple[int, int],
    delta: float,
) -> Iterator[Promise]:
    first, second = pair
    for member, worth in one_sided_answers(counts[first], counts[second], delta=delta):
        yield Promise(first, second, _event(feature, member), worth)


def _event(feature: Feature, member: NDArray[np.bool_]) -> Event:
    def holds(column: Column) -> NDArray[np.bool_]:
        return np.asarray(member[feature.encode(column)])

    return Event(holds, feature.describe(member))


def _beginnings(
    feature: Feature, first: tuple[Codes, Codes], second: tuple[Codes, Codes]
) -> Iterator[tuple[NDArray[Any], Codes, Codes, float]]:
    """Yield orders of the answers, the counts to try their beginnings on, and the role of luck.

    Answers are sorted by falling likelihood ratio on one half, and tried on the other: the best of
    m uninformative answers stands out by about sqrt(2 ln m) standard errors, and one more is kept.
    If answers have an order of their own, they are also taken from either end: that owes nothing
    to the samples, so both halves count.
    """
    if not feature.scale:
        ratio = np.log(first[0] + 0.5) - np.log(second[0] + 0.5)
        order = np.argsort(-ratio, kind="stable")
        answers = int(np.count_nonzero(first[1] + second[1]))
        luck = 1 + math.sqrt(2 * math.log(max(answers, 2)))
        yield order, first[1], second[1], luck
    if feature.ordered:
        # Answers that were never learned have no place in an order.
        upward = np.arange(feature.size - 1)
        for order in (upward, upward[::-1]):
            yield order, first[0] + first[1], second[0] + second[1], _LUCK_OF_THRESHOLDS


def _promised(first: Codes, second: Codes, luck: float, terms: _Terms) -> NDArray[np.float64]:
    """Return what each beginning can be expected to certify. The set of all outputs is left out.

    The counts are moved apart by c standard errors of the logarithm of their ratio: `luck` of them
    for having been chosen, and the margin of a one-sided interval at the size of the certification.
    By the score interval of Poisson counts, k + c^2/2 -+ c sqrt(k + c^2/4), which is fair to zero.
    """
    sizes = int(first.sum()) + 1, int(second.sum()) + 1
    ahead, behind = np.cumsum(first)[:-1] + 0.25, np.cumsum(second)[:-1] + 0.25
    if not len(ahead):
        return np.array([-math.inf])
    margin = special.ndtri(terms.confidence) * math.sqrt(sum(sizes) / terms.trials)
    total = np.sqrt(1 / ahead + 1 / behind)
    down, up = ((luck + margin) / np.sqrt(count) / total for count in (ahead, behind))
    if terms.delta:
        # The rest above delta moves with the first count alone, however small the second is.
        down = np.full(len(ahead), luck + margin)
    low = ahead + down**2 / 2 - down * np.sqrt(ahead + down**2 / 4)
    high = behind + up**2 / 2 + up * np.sqrt(behind + up**2 / 4)
    excess = low / sizes[0] - terms.delta
    promised = np.full(len(ahead), -math.inf)
    shows = excess > 0
    promised[shows] = np.log(excess[shows] / (high[shows] / sizes[1]))
    return promised
