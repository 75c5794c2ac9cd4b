"""Calls that repeat the noise of another call: each alone meets the claim, two together do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.mechanism.column import Fingerprints
from croupier.auditing.mechanism.one_sided import promised_share
from croupier.auditing.mechanism.ratio import Hits, epsilon_lower
from croupier.auditing.mechanism.target import Places
from croupier.numerics.keystream import Keystream, generator

__all__ = ["Repeat", "Repeats", "likeliest_repeat", "paired", "repeats_at"]

_PROJECTIONS = 4
_MOST_CALLS = 1 << 20
"""The number of search calls among which a distance is sought."""

_MOST_TURNS = 6
"""The largest m for which noise that repeats at every m-th call only is sought."""


@dataclass(frozen=True)
class Repeat:
    """The rule of which calls are compared.

    Call i, counted from the first one of the audit, is compared with call i - distance, if i is
    `turn` modulo `turns` and lies in an odd (or even) stretch of `distance` calls: then no call
    occurs in two pairs.

    Attributes:
        distance: The difference of their numbers.
        odd: True if the stretches are the odd ones.
        turns: One call in so many is compared.
        turn: The index of those calls.
    """

    distance: int
    odd: bool = True
    turns: int = 1
    turn: int = 0

    def later(self, start: int, size: int) -> NDArray[np.int64]:
        """Return the second calls of the pairs among `size` calls, numbered from `start`."""
        calls = np.arange(start + self.distance, start + size)
        kept = ((calls // self.distance) % 2 == self.odd) & (calls % self.turns == self.turn)
        return np.asarray(calls[kept] - start)


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Counts of equal outputs of two calls, by whether their inputs were the same.

    Attributes:
        distance: The number of calls apart; None for the same call after a restart.
        inputs: The two that a coin chose from.
        hits: The number of equal outputs, for equal inputs and for different ones.
        same: Pairs whose inputs were equal.
        lower: A lower limit of epsilon, for somebody who knows the other call.
        confidence: The confidence of that limit.
    """

    distance: int | None
    inputs: tuple[Any, Any]
    hits: Hits
    same: int
    lower: float
    confidence: float


def likeliest_repeat(
    words: Fingerprints, places: Places, *, delta: float, rng: Keystream
) -> Repeat | None:
    """Find the distance at which calls most seem to repeat noise, on calls that certify nothing.

    Every output and every input gets a random number; the product of both, correlated with itself
    at every distance at once, adds up over pairs of equal outputs with equal inputs, less those
    with different inputs.

    Args:
        words: The outputs in the order of the calls.
        places: Their inputs.
        delta: The delta of the claim.
        rng: Draws the numbers.
    """
    words, places = words[:_MOST_CALLS], places[:_MOST_CALLS]
    size, inputs = len(words), int(places.max()) + 1
    if size < 4:
        return None
    known, codes = np.unique(words, return_inverse=True)
    draw = generator(rng)
    score = np.zeros(size // 2)
    for _ in range(_PROJECTIONS):
        sides = draw.standard_normal(inputs)
        sides -= sides.mean()
        series = draw.standard_normal(len(known))[codes] * (sides / sides.std())[places]
        spectrum = np.fft.rfft(series - series.mean(), 1 << (2 * size - 1).bit_length())
        score += np.fft.irfft(np.abs(spectrum) ** 2)[1 : size // 2 + 1]

    def worth(choice: Repeat) -> float:
        hits, _ = paired(words, places, choice, start=0)
        fair = (hits.first * (inputs - 1), hits.second)
        return promised_share(fair, hits.trials, delta) if hits.first else -1.0

    # Blocks of calls that share noise are few, and may look alike at a large distance by luck.
    far = [Repeat(distance, odd) for distance in _peaks(score) for odd in (True, False)]
    distance = max(far, key=worth).distance
    choices = [
        Repeat(distance, odd, turns, turn)
        for turns in range(1, _MOST_TURNS + 1)
        for turn in range(turns)
        for odd in (True, False)
    ]
    return max(choices, key=worth)


def _peaks(score: NDArray[np.float64]) -> list[int]:
    """Return the distance of the highest score between each power of two and the next."""
    starts = [1 << power for power in range(len(score).bit_length())]
    return [start + int(score[start - 1 : 2 * start - 1].argmax()) for start in starts]


def paired(words: Fingerprints, places: Places, repeat: Repeat, *, start: int) -> tuple[Hits, int]:
    """Count equal outputs of the compared calls, and pairs that have equal inputs."""
    later = repeat.later(start, len(words))
    earlier = later - repeat.distance
    equal, same = words[later] == words[earlier], places[later] == places[earlier]
    hits = Hits(int((equal & same).sum()), int((equal & ~same).sum()), len(later))
    return hits, int(same.sum())


def repeats_at(  # noqa: PLR0913 - keyword-only facts about one test
    words: Fingerprints,
    places: Places,
    repeat: Repeat,
    *,
    inputs: Sequence[Any],
    start: int,
    delta: float,
    confidence: float,
) -> Repeats:
    """Test pairs of calls against the claim: a report seen by somebody who knows another call.

        P(y_i = y_j | x_i = x_j) <= e^epsilon P(y_i = y_j | x_i != x_j) + delta

    if the draws of call i are fresh: given the other call's output v, the two probabilities are
    those of y_i = v for two inputs. A fair coin chose every input, so it chose "equal" or
    "different" for each pair, and no call is in two pairs: the counts are those of `epsilon_lower`.
    If the noise is the same, equal inputs give equal outputs, and unequal ones do not.

    An output that depends on the clock, or on a seed that is published with it, repeats as well,
    but equally for both: that is no violation and raises no alarm.

    Args:
        words: The outputs in the order of the calls.
        places: The input that a fair coin chose for each, of two.
        repeat: The calls to compare, chosen without these.
        inputs: The two inputs.
        start: The number of the first call.
        delta: The delta of the claim.
        confidence: The confidence of the lower bound.

    Holds when calls are independent of each other under the claim.
    Direction: lower.
    """
    hits, same = paired(words, places, repeat, start=start)
    lower = epsilon_lower(hits, delta=delta, confidence=confidence) if hits.trials else 0.0
    return Repeats(
        distance=repeat.distance,
        inputs=(inputs[0], inputs[1]),
        hits=hits,
        same=same,
        lower=lower,
        confidence=confidence,
    )
