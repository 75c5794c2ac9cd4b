"""The law of message lengths, given the value."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from croupier.errors import ParameterError, TooLargeError
from croupier.model.channel import Channel
from croupier.model.randomizer import Randomizer
from croupier.numerics.validate import whole_number
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.randomizers.rappor import Rappor
from croupier.randomizers.unary_encoding import UnaryEncoding

__all__ = ["BITS_A_BYTE", "LengthLaw"]

BITS_A_BYTE = 8
_MOST_DIGITS = 1 << 16
"""Bits of the common denominator of a list of set bits: 1,024 positions at 64 bits per draw."""


@dataclass(frozen=True, eq=False)
class LengthLaw:
    """The probability of each message length given the value.

    Everything here is exact: the channel holds integers over a denominator.

    Attributes:
        channel: One row per value (or group of values with one law), one column per length in bits.
            The same questions can be asked of counts of messages and of rounds; after a `blurred`
            observation the columns are whatever is observed.

    Reference: wang2025, section IV-E and Appendix A.

    Example:
        >>> from croupier.sidechannels.length_loss import local_epsilon
        >>> law = LengthLaw.of_set_bits(bits=16, set_bits=(1, 2), flip=Fraction(1, 4))
        >>> law.lengths[:3], law.independent
        ((0, 4, 8), False)
        >>> str(local_epsilon(law))
        'epsilon = 1.10'
    """

    channel: Channel

    def __post_init__(self) -> None:
        if not self.channel.exact:
            raise ParameterError(
                "channel", must="be exact", got="floats", hint="Use Channel.from_weights."
            )

    @classmethod
    def of_encoding(cls, randomizer: Randomizer, encode: Callable[[Any], bytes]) -> "LengthLaw":
        """The lengths of a randomizer's reports as `encode` would send them.

        Args:
            randomizer: The randomizer whose reports are sent.
            encode: Turns a report, as `channel()` labels it, into the bytes of the message.

        Raises:
            TooLargeError: There are too many reports to list.

        Example:
            >>> from croupier.randomizers import KaryRandomizedResponse
            >>> response = KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=16)
            >>> law = LengthLaw.of_encoding(response, lambda answer: b"yes" if answer else b"no")
            >>> law.channel.outputs, law.channel.weights.tolist()
            ((16, 24), [[11, 5], [5, 11]])
        """
        channel = randomizer.channel()
        return cls(_merged(channel, [BITS_A_BYTE * len(encode(y)) for y in channel.outputs]))

    @classmethod
    def of_listed_bits(cls, randomizer: Rappor | UnaryEncoding) -> "LengthLaw":
        """The lengths of noisy bits if a report is sent as the list of those that are set.

        One row for each number of bits that a value sets; unary encodings set one for every value,
        so that the lengths of their lists reveal nothing. No report is listed.

        Raises:
            TooLargeError: The exact probabilities would have too many digits.
        """
        total = randomizer.denominator
        if isinstance(randomizer, Rappor):
            bits = randomizer.filter_bits
            sizes = sorted({int(size) for size in randomizer.patterns.sum(axis=1)})
            weights = total - randomizer.flip_weight, randomizer.flip_weight
        elif isinstance(randomizer, UnaryEncoding):
            bits, sizes, weights = randomizer.size, [1], randomizer.bit_weights
        else:
            raise ParameterError("randomizer", must="report noisy bits", got=type(randomizer))
        return cls._listed(bits, sizes, weights, total)

    @classmethod
    def of_set_bits(cls, *, bits: int, set_bits: Sequence[int], flip: Fraction) -> "LengthLaw":
        """The lengths of a Bloom filter with noisy bits, sent as the list of those that are set.

        A value that sets s of b bits has Bin(s, 1 - f) + Bin(b - s, f) of them set after each was
        flipped with probability f, and every one takes as many bits as a position needs.

        Args:
            bits: The size b of the filter.
            set_bits: The numbers s that values can have.
            flip: The probability f, in (0, 1/2].

        Reference: wang2025, Appendix A, the compressed RAPPOR.
        """
        whole_number("bits", bits, least=1)
        if not 0 < flip <= Fraction(1, 2):
            raise ParameterError("flip", must="be in (0, 1/2]", got=flip, hint="Try 1/4.")
        sizes = [whole_number("set_bits", size, least=0, most=bits) for size in set_bits]
        chance = Fraction(flip)
        weights = chance.denominator - chance.numerator, chance.numerator
        return cls._listed(bits, sizes, weights, chance.denominator)

    @classmethod
    def _listed(
        cls, bits: int, sizes: Sequence[int], weights: tuple[int, int], total: int
    ) -> "LengthLaw":
        digits = bits * (total - 1).bit_length()
        if digits > _MOST_DIGITS:
            raise TooLargeError(
                "A row of digits",
                entries=digits,
                limit=_MOST_DIGITS,
                hint="Pad to the longest list.",
            )
        own, other = weights
        rows = [
            _convolved(_binomial(size, own, total), _binomial(bits - size, other, total))
            for size in sizes
        ]
        position = max(1, (bits - 1).bit_length())
        lengths = [position * count for count in range(bits + 1)]
        return cls(Channel.from_weights(rows, total**bits, inputs=sizes, outputs=lengths))

    @classmethod
    def of_queries(cls, randomizer: ParallelRandomizer) -> "LengthLaw":
        """The lengths of parallel queries if their reports were not padded.

        Example:
            >>> from croupier.sidechannels.length_loss import require_independent
            >>> from croupier.randomizers import KaryRandomizedResponse, OptimizedUnaryEncoding
            >>> law = LengthLaw.of_queries(ParallelRandomizer(queries=(
            ...     KaryRandomizedResponse(k=1000, max_epsilon_local=1.0),
            ...     OptimizedUnaryEncoding(k=100, max_epsilon_local=1.0),
            ... )))
            >>> require_independent(law)
            {16: Fraction(1, 2), 104: Fraction(1, 2)}
        """
        lengths = [BITS_A_BYTE * size for size in randomizer.lengths]
        return cls._of_draw(lengths, randomizer.weights)

    @classmethod
    def of_hierarchy(cls, periods: int) -> "LengthLaw":
        """The lengths of changes over time, reported at one level of a binary hierarchy.

        With d = 2^H periods, a person draws one of the levels 0, …, H and reports a sign for each
        of the d/2^h intervals of level h: one bit each, as many as the level has, whatever happened
        in them.

        Reference: wang2025, section IV-E and Figure 4.

        Example:
            >>> from croupier.sidechannels.length_loss import require_independent
            >>> require_independent(LengthLaw.of_hierarchy(4))
            {1: Fraction(1, 3), 2: Fraction(1, 3), 4: Fraction(1, 3)}
        """
        whole_number("periods", periods, least=1)
        if periods & (periods - 1):
            raise ParameterError("periods", must="be a power of two", got=periods, hint="Try 64.")
        lengths = [1 << level for level in range(periods.bit_length())]
        return cls._of_draw(lengths, [1] * len(lengths))

    @classmethod
    def _of_draw(cls, lengths: Sequence[int], weights: Sequence[int]) -> "LengthLaw":
        """The law of lengths that follow from a draw alone."""
        draws = Channel.from_weights([list(weights)], sum(weights), inputs=("every value",))
        return cls(_merged(draws, lengths))

    @property
    def lengths(self) -> tuple[Hashable, ...]:
        """The possible lengths, or the outputs of a blurred observation."""
        return tuple(self.channel.outputs)

    @cached_property
    def independent(self) -> bool:
        """True if every value has the same law."""
        return len(self.laws) == 1

    @cached_property
    def laws(self) -> list[list[int]]:
        """The different rows."""
        return [list(row) for row in dict.fromkeys(map(tuple, self.channel.weights.tolist()))]

    def rounded_up(self, multiple: int) -> "LengthLaw":
        """The law if messages are padded to a multiple: 8 for bytes, 128 for cipher blocks.

        >>> LengthLaw.of_hierarchy(64).rounded_up(8).lengths
        (8, 16, 32, 64)
        """
        whole_number("multiple", multiple, least=1)
        up = [-(-length // multiple) * multiple for length in self.whole_lengths()]
        return LengthLaw(_merged(self.channel, up))

    def padded(self) -> "LengthLaw":
        """The law if every message is padded to the whole bytes of the longest."""
        size = BITS_A_BYTE * max(self.sizes())
        return LengthLaw(_merged(self.channel, [size] * len(self.lengths)))

    def sizes(self) -> list[int]:
        """The whole bytes of every length that may be sent."""
        sent = np.flatnonzero(self.channel.weights.max(axis=0))
        return [-(-self.whole_lengths()[column] // BITS_A_BYTE) for column in sent.tolist()]

    def blurred(self, blur: Channel) -> "LengthLaw":
        """The law of an uncertain observation, given the value.

        Packets are split, blocks are encrypted whole, and an observer misses some. If the
        observation of one message depends on its length (or that of one person on the count or the
        round) through `blur`, the law of the observation is the cascade of the two, exactly.

        A blur of everybody's lengths together, such as their sorted list or a total, is not a
        channel of this kind. The others' lengths do not depend on this person's value, so that by
        data processing the loss without any blur is an upper bound: ask `local_epsilon` for it with
        ``joint_blur=True``.

        Args:
            blur: An exact channel whose inputs include every possible length.

        Reference: wang2025, Definitions 14 and 15.

        Example:
            >>> from croupier.sidechannels.length_loss import local_epsilon
            >>> noisy = Channel.from_weights([[3, 1], [1, 3]], 4, inputs=(16, 24))
            >>> law = LengthLaw(Channel.from_weights([[1, 0], [0, 1]], 1, outputs=(16, 24)))
            >>> local_epsilon(law).value, local_epsilon(law.blurred(noisy)).value
            (inf, 1.0986122886681098)
        """
        if blur.denominator is None:
            raise ParameterError(
                "blur", must="be exact", got="floats", hint="Use Channel.from_weights."
            )
        places = {length: place for place, length in enumerate(blur.inputs)}
        missing = [length for length in self.lengths if length not in places]
        if missing:
            raise ParameterError(
                "blur", must="say what is seen of every length", got=f"{len(missing)} missing"
            )
        rows = blur.weights[[places[length] for length in self.lengths]]
        seen = Channel(rows, blur.denominator, self.lengths, blur.outputs)
        return LengthLaw(self.channel @ seen)

    def whole_lengths(self) -> list[int]:
        """The lengths as numbers of bits."""
        lengths = [length for length in self.lengths if isinstance(length, int) and length >= 0]
        if len(lengths) < len(self.lengths):
            raise ParameterError(
                "law", must="be of lengths in bits", hint="Ask before the observation is blurred."
            )
        return lengths


def _merged(channel: Channel, lengths: Sequence[int]) -> Channel:
    """The channel with its outputs replaced by their lengths."""
    distinct = sorted(set(lengths))
    weights = channel.weights.astype(object)
    chosen = np.array(lengths)
    columns = [weights[:, chosen == length].sum(axis=1) for length in distinct]
    return Channel(np.stack(columns, axis=1), channel.denominator, channel.inputs, distinct)


def _binomial(count: int, weight: int, total: int) -> list[int]:
    """The number of the total^count rows of draws that lead to 0, 1, …, count successes."""
    hits, misses = (
        list(accumulate([base] * count, mul, initial=1)) for base in (weight, total - weight)
    )
    return [math.comb(count, k) * hits[k] * misses[count - k] for k in range(count + 1)]


def _convolved(first: list[int], second: list[int]) -> list[int]:
    sums = [0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            sums[i + j] += a * b
    return sums
