"""Cardinality: what the number of a person's messages reveals, and a constant number instead."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.leakage.gain import gain
from croupier.model.adversary import Adversary, Goal, View
from croupier.model.channel import Channel
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.keystream import Keystream, stream
from croupier.numerics.rounding import float_above
from croupier.numerics.validate import number_of_people, whole_number
from croupier.randomizers.delta_summation import DeltaSummation, SumEstimate, read_bits, read_sum
from croupier.sidechannels.length import LengthLaw
from croupier.sidechannels.length_loss import local_epsilon, local_loss

__all__ = [
    "ConstantCardinality",
    "Price",
    "count_delta",
    "count_epsilon",
    "count_guess",
    "observed_counts",
]

_MOST_DRAWS = 1000
"""The most draws per person on average; a number of messages that needs more is refused."""

_COUNTER = frozenset({View.COUNTS})
_THEOREM = "Wang et al. 2025, Definition 15, evaluated on the implementation's integers"


def observed_counts(
    protocol: DeltaSummation, *, most: int | None = None, blur: Channel | None = None
) -> Channel:
    """The law of an observer's view of the number of a person's messages, given the bit.

        p(seen | x) = sum_c P(num_x = c) blur(seen | min(c, most))

    where num_1 is num_0 + 1. Most people send no noise or pairs only, so the count, or its parity
    alone, almost reveals the bit. An observer who can count beyond `most` gains at most P(num_1 >
    most) more, added to delta.

    Args:
        protocol: The protocol whose messages are counted.
        most: Counts of this and more look alike; by default none do.
        blur: The law of the observation given the count 0, 1, …, `most`; by default the count.

    Direction: exact, if the blur is.
    Reference: wang2025, section IV-C and Definition 15.

    Example:
        >>> protocol = DeltaSummation(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1)
        >>> float(observed_counts(protocol, most=3).probability(0, 0))
        0.97240192828...
    """
    counts = protocol.count_channel()
    if blur is not None:
        if most is not None and most != blur.shape[0] - 1:
            raise ParameterError(
                "most", must=f"be the blur's last input, {blur.shape[0] - 1}", got=most
            )
        most = blur.shape[0] - 1
    if most is not None:
        counts = _saturated(counts, whole_number("most", most, least=1))
    return counts if blur is None else counts @ blur


def _saturated(counts: Channel, most: int) -> Channel:
    """The same law with all counts from `most` on merged into one."""
    weights = counts.weights.astype(object)
    rows = np.zeros((len(weights), most + 1), dtype=object)
    kept = min(most, weights.shape[1])
    rows[:, :kept] = weights[:, :kept]
    rows[:, most] = weights[:, kept:].sum(axis=1)
    return Channel(rows, counts.denominator, counts.inputs)


def count_delta(channel: Channel, *, epsilon: float) -> float:
    """The local loss at `epsilon`: the larger hockey-stick divergence of the two bits' laws.

        max over (x, x') of sum_y max(0, p(y | x) - e^epsilon p(y | x'))

    where `channel` is the result of `observed_counts`.

    Direction: exact, rounded up.
    Reference: wang2025, Definition 15.

    Example:
        >>> protocol = DeltaSummation(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1)
        >>> count_delta(observed_counts(protocol), epsilon=20.0)
        0.97240192828...
    """
    return local_loss(LengthLaw(channel), epsilon=epsilon)


def count_epsilon(channel: Channel, *, delta: float) -> Guarantee:
    """The least local epsilon at `delta` against an observer of a person's count.

    Infinite if outputs of more than `delta` are possible for one bit only.

    Holds when the observer sees only the count.
    Direction: exact, rounded up.
    Reference: wang2025, Definition 15.

    Example:
        >>> protocol = DeltaSummation(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1)
        >>> blur = Channel.from_weights([[3, 1], [1, 3]], 4)
        >>> count_epsilon(observed_counts(protocol, blur=blur), delta=1e-6).value
        1.0800...
    """
    return local_epsilon(LengthLaw(channel), delta=delta, seen=View.COUNTS)


def count_guess(channel: Channel) -> Guarantee:
    """The chance that the best guess of a fair bit from the count is right.

        (1/2) sum_y max(p(y | 0), p(y | 1))

    Direction: exact, correctly rounded.
    Reference: wang2025, section IV-C, which prints P(num_b = b) >= 95.1 %; the printed parameters
    give 97.24 %, and the parity of the count tells still more.

    Example:
        >>> protocol = DeltaSummation(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1)
        >>> count_guess(observed_counts(protocol)).value
        0.99991...
    """
    return Guarantee(
        metric=Metric.GUESS_OF_TWO,
        value=gain(channel),
        direction=Direction.EXACT,
        adversary=Adversary(sees=_COUNTER, wants=Goal.GUESS),
        theorem="Bayes' rule on the implementation's integers",
        assumptions=("the bit is a fair coin",),
    )


@dataclass(frozen=True)
class Price:
    """The cost of a constant number of messages to a person.

    Attributes:
        messages: The constant number of messages.
        mean_messages: The mean number for a person with the bit 1 without the defence.
        bytes: The number of bytes sent.
        mean_bytes: The mean number of bytes without the defence.
    """

    messages: int
    mean_messages: float
    bytes: int
    mean_bytes: float

    @property
    def factor(self) -> float:
        """The factor by which the traffic grows."""
        return self.messages / self.mean_messages


@dataclass(frozen=True, kw_only=True)
class ConstantCardinality:
    """A defence: everybody sends exactly m messages, the real ones and nulls (0) to fill up.

    A person whose noise Z1 + Z2 + 2 Z3 exceeds m - 1 draws all three again until it does not. The
    limit is m - 1 for both bits, so the noise, and the number of draws, do not depend on the bit.
    The law is the table restricted to the noise that fits, at a total variation of exactly
    P(Z1 + Z2 + 2 Z3 >= m) from the table; over n people that adds

        n (1 + e^epsilon) P(Z1 + Z2 + 2 Z3 >= m)

    to delta. Network and shuffler see m messages of one length in one round from everybody.

    The nulls cost no privacy: a batch of n people has n m messages, so the number of nulls is n m
    less the numbers of +1 and -1, which the analyzer sees anyway. (One null sent only by those who
    hold 0 would be different: the number of nulls would be the answer, without noise.)

    Not worth it if one message per person is accurate enough: that number is constant anyway.
    At n = 10,000, epsilon = 1, delta = 1e-6 the sum has a standard error of 1.5 people with 12,917
    messages per person, against 6.5 with one message of `k-rr`. A larger gamma makes the tail of
    Z3, and m with it, shorter at the price of a larger error.

    Attributes:
        protocol: The protocol that is protected.
        messages_a_person: The number m.

    Holds when all messages have one length (see the padding of the wire format) and everybody
    sends in one round.
    Direction: the added delta is upper, rounded up.
    Reference: wang2025, section VI-D, which calls binary protocols unfixable; the defence is ours.

    Example:
        >>> protocol = DeltaSummation(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1)
        >>> constant = ConstantCardinality.for_delta(protocol, added_delta=1e-6)
        >>> constant.messages_a_person
        12917
        >>> constant.observation_channel(bytes_a_message=128).outputs
        ((12917, 128, 1),)
    """

    protocol: DeltaSummation
    messages_a_person: int

    def __post_init__(self) -> None:
        checked = number_of_people("messages_a_person", self.messages_a_person, least=1)
        object.__setattr__(self, "messages_a_person", checked)

    @classmethod
    def for_delta(cls, protocol: DeltaSummation, *, added_delta: float) -> "ConstantCardinality":
        """The least number of messages that adds at most `added_delta` to delta."""
        if not 0 < added_delta < 1:
            raise ParameterError(
                "added_delta", must="be in (0, 1)", got=added_delta, hint="Try 1e-6."
            )
        chance = Fraction(added_delta) / protocol.delta_of(Fraction(1))
        limit = chance * protocol.denominator**3
        tails = accumulate(reversed(protocol.noise_count_weights))
        heavier = sum(1 for tail in tails if tail > limit)
        return cls(protocol=protocol, messages_a_person=max(1, heavier))

    @cached_property
    def _accepted(self) -> tuple[int, ...]:
        """The weights of noise counts that fit, whatever the bit."""
        fitting = self.protocol.noise_count_weights[: self.messages_a_person]
        if _MOST_DRAWS * sum(fitting) < self.protocol.denominator**3:
            raise ParameterError(
                "messages_a_person",
                must=f"leave room for one draw of noise in {_MOST_DRAWS}",
                got=self.messages_a_person,
                hint="Use ConstantCardinality.for_delta.",
            )
        return fitting

    @property
    def overflow(self) -> Fraction:
        """The probability that a person draws again, exactly."""
        return 1 - Fraction(sum(self._accepted), self.protocol.denominator**3)

    @property
    def added_delta(self) -> float:
        """The addition to delta from drawing again: n (1 + e^epsilon) overflow, rounded up."""
        return float_above(self.protocol.delta_of(self.overflow))

    def guarantee(self) -> Guarantee:
        """The guarantee against an observer of the batch and of all traffic."""
        delta = Fraction(self.protocol.batch_delta) + self.protocol.delta_of(self.overflow)
        if delta >= 1:
            raise ParameterError(
                "messages_a_person",
                must="be large enough to leave a guarantee",
                got=self.messages_a_person,
                hint="Use ConstantCardinality.for_delta.",
            )
        ideal = self.protocol.guarantee()
        seen = {View.BATCH, View.COUNTS, View.LENGTHS, View.PARTICIPATION}
        return Guarantee(
            metric=ideal.metric,
            value=ideal.value,
            direction=ideal.direction,
            adversary=Adversary(sees=frozenset(seen)),
            theorem=ideal.theorem,
            assumptions=(
                *ideal.assumptions[:2],
                f"everybody sends {self.messages_a_person:,} messages of one length in one round",
            ),
            delta=float_above(delta),
        )

    def counts(
        self, values: Any, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> NDArray[np.int64]:
        """The number of +1, -1 and nulls that each person sends, one row per person, equal sums."""
        bits = read_bits(values)
        rng = stream(rng, insecure_seed)
        _ = self._accepted  # refuses a limit under which drawing again might never end
        noise = self.protocol.draw_noise(len(bits), rng)
        again = np.flatnonzero(self.exceeds(noise))
        while len(again):
            noise[again] = self.protocol.draw_noise(len(again), rng)
            again = again[self.exceeds(noise[again])]
        plus = bits + noise[:, 0] + noise[:, 2]
        minus = noise[:, 1] + noise[:, 2]
        return np.stack([plus, minus, self._nulls(plus + minus)], axis=1)

    def exceeds(self, noise: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which rows of Z1, Z2 and Z3 do not fit beside a bit and are drawn again."""
        return np.asarray(noise @ np.array([1, 1, 2]) >= self.messages_a_person)

    def _nulls(self, real: Any) -> Any:
        return self.messages_a_person - real

    def messages(
        self, values: Any, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> NDArray[np.int8]:
        """The messages of everybody to seal and shuffle: +1, -1 and 0, one row per person."""
        counts = self.counts(values, rng=rng, insecure_seed=insecure_seed)
        kinds = np.tile(np.array([1, -1, 0], dtype=np.int8), len(counts))
        return np.repeat(kinds, counts.ravel()).reshape(len(counts), self.messages_a_person)

    def observation_channel(self, *, bytes_a_message: int) -> Channel:
        """The view of network and shuffler: (messages, bytes per message, rounds) given x.

        Summed over the implementation's own law. There is one output, so the rows are identical:
        the observation says nothing about the bit.
        """
        size = whole_number("bytes_a_message", bytes_a_message, least=1)
        rows: list[dict[tuple[int, int, int], int]] = []
        for bit in (0, 1):
            row: dict[tuple[int, int, int], int] = {}
            for noise, weight in enumerate(self._accepted):
                real = bit + noise
                seen = (real + self._nulls(real), size, 1)
                row[seen] = row.get(seen, 0) + weight
            rows.append(row)
        outputs = sorted({seen for row in rows for seen in row})
        weights = [[row.get(seen, 0) for seen in outputs] for row in rows]
        return Channel.from_weights(weights, sum(self._accepted), inputs=(0, 1), outputs=outputs)

    @cached_property
    def noise_variance(self) -> Fraction:
        """The variance of the noise of one person, Z1 - Z2 given that it fits, exactly.

        The mean is zero, since Z1 and Z2 have the same table and count equally towards the limit.
        """
        unary = self.protocol.unary_law.weights
        pairs = list(accumulate(self.protocol.pair_law.weights))
        total = 0
        for first, weight in enumerate(unary[: self.messages_a_person]):
            for second, other in enumerate(unary[: self.messages_a_person - first]):
                room = (self.messages_a_person - 1 - first - second) // 2
                fitting = pairs[min(room, len(pairs) - 1)]
                total += (first - second) ** 2 * weight * other * fitting
        return Fraction(total, sum(self._accepted))

    @property
    def standard_error(self) -> float:
        """One standard deviation of the estimated sum."""
        return math.sqrt(self.protocol.n * self.noise_variance)

    def estimate(self, messages: Any) -> SumEstimate:
        """The sum of everybody's bits, from the messages in any order or from their total."""
        return SumEstimate(read_sum(messages), self.standard_error, self.protocol.n)

    def price(self, *, bytes_a_message: int) -> Price:
        """The traffic of a person, against the mean without the defence."""
        size = whole_number("bytes_a_message", bytes_a_message, least=1)
        mean = float(self.protocol.mean_messages(1))
        return Price(self.messages_a_person, mean, self.messages_a_person * size, mean * size)
