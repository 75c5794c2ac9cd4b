"""The shuffled view: one person among n, seen through a score of the batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.mechanism.column import Column, Shape
from croupier.auditing.mechanism.feature import Feature, pair_feature, score_feature
from croupier.auditing.mechanism.parts import every_feature
from croupier.auditing.mechanism.target import Places, Target
from croupier.numerics.keystream import Keystream

__all__ = ["ShuffledTarget", "shuffled_target"]

_LEARNED_FROM = 50_000


@dataclass(frozen=True)
class ShuffledTarget(Target):
    """A batch in which one person holds the given value and everybody else one fixed value.

        score = ln sum over reports y of P_a(y)/P_c(y) - ln sum over reports y of P_b(y)/P_c(y),

    where a and b are the two values to tell apart, c is the others' value, and the laws are
    frequencies learned beforehand: the logarithm of the likelihood ratio of two batches, which does
    not depend on their order.

    Attributes:
        feature: Numbers the reports.
        ratios: P_a/P_c and P_b/P_c for each number.
        others: The value of everybody else.
        n: The size of the batch.
        pair: The places of a and b among the inputs.
    """

    feature: Feature
    ratios: NDArray[np.float64]
    others: Any
    n: int
    pair: tuple[int, int]

    @property
    def at_once(self) -> int:
        """The number of batches that are held in memory together."""
        return max(1, super().at_once // self.n)

    def outputs(self, values: Sequence[Any], places: Places) -> Column:
        """Return scores of independent batches."""
        size = len(places)
        own = self._terms(values, places)
        others = self._terms([self.others], np.zeros(size * (self.n - 1), dtype=np.int64))
        sums = own + others.reshape(2, size, self.n - 1).sum(axis=2)
        # Equal batches must have equal scores, in whatever order the terms were added.
        return np.asarray(np.round(np.log(sums[0]) - np.log(sums[1]), 9))

    def questions(self, pooled: Column) -> Iterator[Feature]:
        """Ask only whether the score is high or low."""
        yield score_feature("likelihood score of the batch", pooled)

    def _terms(self, values: Sequence[Any], places: Places) -> NDArray[np.float64]:
        return self.ratios[:, self.feature.encode(super().outputs(values, places))]


def shuffled_target(
    target: Target, values: Sequence[Any], *, n: int, samples: int, rng: Keystream
) -> ShuffledTarget:
    """Choose the pair of values, and the others' value, that are farthest apart after shuffling.

    They are compared by sum over y of (P_a - P_b)^2/P_c, on which epsilon depends in large batches.
    Others who differ among themselves are not tried.
    """
    size = min(samples, _LEARNED_FROM)
    drawn = target.drawn(values, size, rng=rng, advance=lambda _: None)
    shape = Shape.of(drawn)
    columns = [shape.read(column)[1] for column in drawn]
    pairs = list(combinations(range(len(columns)), 2))
    features = list(every_feature(np.concatenate(columns)))
    choices = [(pair, feature) for pair in pairs for feature in features]
    for first, second in pairs:
        own = pair_feature(columns[first], columns[second])
        if own is not None:
            choices.append(((first, second), own))
    best, chosen = -1.0, None
    for pair, feature in choices:
        laws = np.array([feature.counts(column) + 0.5 for column in columns]) / size
        apart = (laws[pair[0]] - laws[pair[1]]) ** 2 / laws
        # Subtract what sampling alone contributes, so that rare answers do not look far apart.
        noise = (laws[pair[0]] + laws[pair[1]]) / size / laws
        distance = np.maximum(apart - 2 * noise, 0).sum(axis=1)
        others = int(distance.argmax())
        if distance[others] > best:
            best, ratios = float(distance[others]), laws[list(pair)] / laws[others]
            chosen = (feature, ratios, values[others], n, pair)
    if chosen is None:
        raise AssertionError("every column has a feature")
    return ShuffledTarget(target.call, target.vectorised, *chosen)
