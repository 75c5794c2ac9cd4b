"""Delta-summation: a sum of bits from several messages per person."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from croupier.errors import DataError, ParameterError, TooLargeError
from croupier.model.adversary import Adversary, View
from croupier.model.channel import Channel
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.columns import read_column
from croupier.numerics.keystream import WORD, Keystream, stream
from croupier.numerics.rounding import exp_enclosure, float_above
from croupier.numerics.validate import number_of_people, require_delta, whole_number
from croupier.numerics.weight_table import WeightTable
from croupier.randomizers.negative_binomial import (
    Enclosure,
    TabulatedLaw,
    log_enclosure,
    negative_binomial,
)

__all__ = ["DeltaSummation", "SumEstimate", "read_bits", "read_sum"]

_MOST_PRODUCTS = 50_000_000
_CENTRAL_DENOMINATOR = 1 << 96
_FIXED = 1 << 200


@dataclass(frozen=True)
class SumEstimate:
    """The published sum of everybody's values.

    Attributes:
        total: The unbiased estimate.
        standard_error: One standard deviation of its error, from the law of the noise.
        n: The number of people who took part.
    """

    total: int
    standard_error: float
    n: int


@dataclass(frozen=True, kw_only=True)
class DeltaSummation:
    """Each person sends a bit if it is 1, and a random number of messages +1 and -1.

        +1 is sent x + Z1 + Z3 times, -1 is sent Z2 + Z3 times,
        Z1, Z2 ~ NB(1/n, e^-((1-gamma) epsilon)),
        Z3 ~ NB(3 (1 + ln(2/delta))/n, e^-(min(1, gamma epsilon)/40)).

    NB(r, p) has P(k) = C(k + r - 1, k) (1 - p)^r p^k, so n people together add discrete Laplace
    noise to the sum, and Z3 hides how many messages there are. The analyzer adds all messages.

    Each law is a table of integers over `denominator`; a person's three draws together are within
    `law_error` of the true laws in total variation. So a guarantee (epsilon, delta) of the true
    laws is a guarantee (epsilon, delta + `added_delta`) of the tables.

    It sends several messages per person, and their number reveals the bit to anyone who counts
    them: see `croupier.sidechannels.cardinality`.

    Attributes:
        n: The number of people among whom the noise is divided; all must take part.
        epsilon: The most that the batch may reveal about one person's bit.
        delta: The failure probability that the noise was designed for.
        gamma: The share of epsilon spent on hiding the number of messages.
        largest: The largest value of a person, Delta; only 1 is implemented.
        denominator: The denominator of the tables, at most 2**64.

    Holds when n honest people take part and the order is uniform.
    Reference: ghazi2021, the protocol; wang2025, section IV-C, the noise for values 0 and 1.

    Example:
        >>> protocol = DeltaSummation(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1)
        >>> round(protocol.standard_error, 3), round(float(protocol.mean_messages(0)), 4)
        (1.52, 3.7176)
    """

    n: int
    epsilon: float
    delta: float
    gamma: float
    largest: int = 1
    denominator: int = WORD

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", number_of_people("n", self.n, least=1))
        if self.largest != 1:
            raise ParameterError(
                "largest",
                must="be 1",
                got=self.largest,
                hint="The noise for larger values is not implemented; see Ghazi et al. 2021.",
            )
        if not 0 < self.epsilon <= 50:
            raise ParameterError("epsilon", must="be in (0, 50]", got=self.epsilon, hint="Try 1.")
        require_delta(self.delta)
        if not 0 < self.gamma < 1:
            raise ParameterError("gamma", must="be in (0, 1)", got=self.gamma, hint="Try 0.1.")
        whole_number("denominator", self.denominator, least=2, most=WORD)

    @cached_property
    def unary_law(self) -> TabulatedLaw:
        """Z1 and Z2: the number of unpaired messages of one sign that a person adds."""
        shape = Fraction(1, self.n)
        return negative_binomial((shape, shape), self._unary_ratio, denominator=self.denominator)

    @cached_property
    def pair_law(self) -> TabulatedLaw:
        """Z3: the number of pairs of +1 and -1 that a person adds."""
        low, high = self._pair_shape
        return negative_binomial(
            (low / self.n, high / self.n), self._pair_ratio, denominator=self.denominator
        )

    @property
    def _unary_ratio(self) -> Enclosure:
        return exp_enclosure(-(1 - Fraction(self.gamma)) * Fraction(self.epsilon))

    @property
    def _pair_shape(self) -> Enclosure:
        """The shape of the number of everybody's pairs together."""
        low, high = log_enclosure(2 / Fraction(self.delta))
        return 3 * (1 + low), 3 * (1 + high)

    @property
    def _pair_ratio(self) -> Enclosure:
        return exp_enclosure(-min(Fraction(1), Fraction(self.gamma) * Fraction(self.epsilon)) / 40)

    @property
    def law_error(self) -> Fraction:
        """An upper bound of the total variation between a person's three draws and their laws."""
        return 2 * self.unary_law.error + self.pair_law.error

    @property
    def added_delta(self) -> float:
        """The addition to delta from the rounding of the tables: n (1 + e^epsilon) law_error.

        Everybody's draws together are within t = n law_error of the true ones. If P' and Q' are
        the tables' laws of the batch for two datasets and P and Q the true ones,

            P' <= P + t <= e^epsilon Q + delta + t <= e^epsilon Q' + delta + (1 + e^epsilon) t.

        Direction: upper, rounded up.
        """
        return float_above(self.delta_of(self.law_error))

    def delta_of(self, distance: Fraction) -> Fraction:
        """The addition to delta if everybody is off by `distance`: n (1 + e^epsilon) distance."""
        return self.n * (1 + exp_enclosure(self.epsilon)[1]) * distance

    @cached_property
    def batch_delta(self) -> float:
        """The delta of this implementation at `epsilon`, for a reader of the shuffled batch.

        The batch shows u = S + A + C messages +1 and v = B + C messages -1, A and B geometric with
        ratio q = e^-((1-gamma) epsilon), C ~ NB(3(1 + ln(2/delta)), ·). With

            g(j) = P(C = j) + q^2 g(j - 1),   P(u, v) = (1 - q)^2 q^|u-v| g(min(u, v)) at S = 0,

        a sum larger by one is at most 1/q <= e^epsilon times as likely anywhere; a sum smaller by
        one exceeds e^epsilon only at u <= v, which adds up to

            delta = (1 - q) sum_j max(0, g(j) - e^epsilon q g(j - 1)).

        The rounding of the tables (`added_delta`) and of the law of C is added.

        Holds when n honest people take part; replace-one adjacency.
        Direction: upper, in integers that round outward.
        Reference: ours; ghazi2021 prove that delta suffices, with much to spare for bits.

        >>> DeltaSummation(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1).batch_delta < 1e-10
        True
        """
        central = negative_binomial(
            self._pair_shape, self._pair_ratio, denominator=_CENTRAL_DENOMINATOR
        )
        low, high = self._unary_ratio
        growth = exp_enclosure(self.epsilon)
        square_low, square_high = int(low**2 * _FIXED), int(high**2 * _FIXED) + 1
        factor = int(growth[0] * low * _FIXED)
        before_low = before_high = total = 0
        for weight in central.weights:
            exact = weight * (_FIXED // _CENTRAL_DENOMINATOR)
            now_high = exact + square_high * before_high // _FIXED + 1
            total += max(0, now_high - factor * before_low // _FIXED)
            before_low = exact + square_low * before_low // _FIXED
            before_high = now_high
        # Past the table g shrinks by q^2 per step, so `error` covers the rest.
        divergence = (1 - low) * Fraction(total, _FIXED) + (1 + growth[1]) * central.error
        return min(1.0, float_above(divergence + self.delta_of(self.law_error)))

    def guarantee(self) -> Guarantee:
        """The guarantee against a reader of the batch who does not see message counts."""
        if self.batch_delta >= 1:
            self._refuse()
        return Guarantee(
            metric=Metric.EPSILON,
            value=self.epsilon,
            direction=Direction.UPPER,
            adversary=Adversary(sees=frozenset({View.BATCH})),
            theorem="divergence of the counts of +1 and -1, summed (protocol: Ghazi et al. 2021)",
            assumptions=(
                "uniform order",
                f"{self.n:,} honest people, none missing",
                "nobody sees how many messages each person sends",
            ),
            delta=self.batch_delta,
        )

    def _refuse(self) -> NoReturn:
        """Say that the tables cannot express the noise."""
        raise ParameterError(
            "n",
            must="leave each person noise that integers can express",
            got=self.n,
            hint="Use fewer people, a smaller epsilon or a larger denominator.",
        )

    @cached_property
    def _unary_table(self) -> WeightTable:
        return WeightTable((self.unary_law.weights,), self.denominator)

    @cached_property
    def _pair_table(self) -> WeightTable:
        return WeightTable((self.pair_law.weights,), self.denominator)

    def noise(self, draws: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Z1, Z2 and Z3 for rows of three integers below the denominator: a pure function."""
        first = np.zeros(len(draws), dtype=np.int64)
        if not len(first):
            return np.zeros((0, 3), dtype=np.int64)
        tables = (self._unary_table, self._unary_table, self._pair_table)
        columns = [table.respond(first, draws[:, j]) for j, table in enumerate(tables)]
        return np.stack(columns, axis=1)

    def draw_noise(self, people: int, rng: Keystream) -> NDArray[np.int64]:
        """Draw Z1, Z2 and Z3 for a number of people, one row per person."""
        if min(len(self.unary_law.weights), len(self.pair_law.weights)) < 2:
            self._refuse()
        return self.noise(rng.table((self.denominator,) * 3, people))

    def counts(
        self, values: Any, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> NDArray[np.int64]:
        """The number of messages +1 and -1 that each person sends, one row per person.

        Args:
            values: One bit per person: a list, an array or a column.
            rng: The source of the integers; the operating system if not given.
            insecure_seed: Instead of `rng`: makes them repeatable.
        """
        bits = read_bits(values)
        noise = self.draw_noise(len(bits), stream(rng, insecure_seed))
        return _signed_counts(bits, noise)

    def messages(
        self, values: Any, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """The messages of everybody, and the offsets at which each person's begin.

        Person i sends ``messages[offsets[i]:offsets[i + 1]]``, in a fixed order of the signs: the
        shuffler must mix the messages, not the people.
        """
        counts = self.counts(values, rng=rng, insecure_seed=insecure_seed)
        signs = np.tile(np.array([1, -1], dtype=np.int8), len(counts))
        offsets = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
        return np.repeat(signs, counts.ravel()), offsets

    @property
    def noise_variance(self) -> Fraction:
        """The variance of the noise that one person adds to the sum, Z1 - Z2, exactly."""
        return 2 * self.unary_law.variance

    @property
    def standard_error(self) -> float:
        """One standard deviation of the estimated sum."""
        return math.sqrt(self.n * self.noise_variance)

    def estimate(self, messages: Any) -> SumEstimate:
        """The sum of everybody's bits, from the messages in any order or from their total.

        Unbiased, since Z1 and Z2 have the same table.
        """
        return SumEstimate(read_sum(messages), self.standard_error, self.n)

    @cached_property
    def noise_count_weights(self) -> tuple[int, ...]:
        """The law of Z1 + Z2 + 2 Z3, a person's noise messages: weights over denominator**3."""
        unary = np.array(self.unary_law.weights, dtype=object)
        pairs = np.array(self.pair_law.weights, dtype=object)
        products = 2 * len(unary) * (len(unary) + len(pairs))
        if products > _MOST_PRODUCTS:
            raise TooLargeError(
                "The law of the number of messages",
                entries=products,
                limit=_MOST_PRODUCTS,
                hint="Use a larger epsilon or gamma.",
            )
        both = np.zeros(2 * len(unary) - 1, dtype=object)
        for count, weight in enumerate(unary):
            both[count : count + len(unary)] += weight * unary
        total = np.zeros(len(both) + 2 * (len(pairs) - 1), dtype=object)
        for count, weight in enumerate(both):
            total[count : count + 2 * len(pairs) - 1 : 2] += weight * pairs
        return tuple(total.tolist())

    def count_channel(self) -> Channel:
        """The number of messages of a person given the bit: the implementation's exact law."""
        noise = self.noise_count_weights
        weights = np.array([[*noise, 0], [0, *noise]], dtype=object)
        return Channel.from_weights(weights, self.denominator**3, inputs=(0, 1))

    def mean_messages(self, bit: int) -> Fraction:
        """The mean number of messages of a person who holds `bit`, exactly."""
        bit = whole_number("bit", bit, least=0, most=1)
        return bit + 2 * self.unary_law.moment(1) + 2 * self.pair_law.moment(1)


def read_bits(values: Any) -> NDArray[np.int64]:
    """The bits of a list, an array or a column.

    Raises:
        DataError: Some entries are neither 0 nor 1; the message counts them and shows none.
    """
    column = read_column(values)
    if column.ndim != 1:
        raise ParameterError("values", must="be one bit per person", got=f"{column.ndim} axes")
    wrong = int(np.count_nonzero((column != 0) & (column != 1)))
    if wrong:
        raise DataError(wrong, "values are neither 0 nor 1", hint="Give one bit per person.")
    return column.astype(np.int64)


def read_sum(messages: Any) -> int:
    """The sum of messages that are -1, 0 or +1; a single number is a sum already."""
    entries = np.asarray(messages)
    if entries.ndim == 0:
        if entries.dtype.kind not in "iu":
            raise DataError(1, "sum is not a whole number", hint="Add up the messages.")
        return int(entries)
    wrong = int(np.count_nonzero((entries != -1) & (entries != 0) & (entries != 1)))
    if wrong:
        raise DataError(
            wrong, "messages are none of -1, 0 and +1", hint="Give the result of `messages`."
        )
    return int(entries.sum(dtype=np.int64))


def _signed_counts(bits: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
    plus = bits + noise[:, 0] + noise[:, 2]
    return np.stack([plus, noise[:, 1] + noise[:, 2]], axis=1)
