"""One-time RAPPOR: a Bloom filter with noisy bits."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from croupier.errors import ParameterError
from croupier.model.channel import Channel
from croupier.model.estimate import Estimate
from croupier.model.likelihood import LikelihoodClasses
from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.independence import are_independent
from croupier.numerics.rounding import exp_enclosure, log_above
from croupier.numerics.validate import whole_number
from croupier.randomizers.categorical import CategoricalRandomizer
from croupier.randomizers.estimates.linear_rule import LinearRule
from croupier.randomizers.parameter import WHOLE, declares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.numerics.honest_chances import HonestChances

__all__ = ["Rappor"]

_MOST_CATEGORIES = 1000
_MOST_BITS = 1 << 16
_LABEL = b"croupier rappor v1"


@dataclass(frozen=True, kw_only=True)
class Rappor(CategoricalRandomizer):
    """Write the value into a Bloom filter, then flip every bit with the same probability.

    Category v sets the bits B(v) that its `hashes` public hashes name. Bit j is reported as
    B(v)_j, flipped if its draw is below b, so that with t the largest number of bits in which two
    categories differ

        epsilon_local = t ln((D-b)/b),   b = ceil(D / (e^(epsilon/t) + 1)).

    Permanent noise and cohorts of the original are left out: a report is randomised once, and the
    same report is sent on every try.

    Shares solve the linear system (bit counts/n - b/D)/(1 - 2b/D) = shares @ B in the least-squares
    sense. Bits are independent given the value and all have variance (b/D)(1 - b/D).

    Attributes:
        bits: The size of the filter; if not given, the least power of two from 4k on at which the
            counts of the bits determine the shares.
        hashes: The number of bits that a category sets, fewer if two of its hashes agree.

    Reference: erlingsson2014, the one-time variant; their f is 2b/D.

    Example:
        >>> Rappor(k=10, max_epsilon_local=2.0).filter_bits
        64
    """

    mechanism = "rappor"
    pairs_dominate = True

    bits: int | None = field(
        default=None, metadata=declares(WHOLE, "size of the Bloom filter; chosen if left out")
    )
    hashes: int = field(default=2, metadata=declares(WHOLE, "bits that a category sets"))

    @property
    def filter_bits(self) -> int:
        """The number of bits of the filter."""
        return self._filter[0]

    @cached_property
    def patterns(self) -> NDArray[np.uint8]:
        """The bits, one row per category."""
        patterns = np.zeros((self.size, self.filter_bits), dtype=np.uint8)
        for row, places in enumerate(self._filter[1]):
            patterns[row, list(places)] = 1
        return patterns

    @cached_property
    def _filter(self) -> tuple[int, list[frozenset[int]]]:
        """The number of bits, and those that each category sets."""
        whole_number("hashes", self.hashes, least=1, most=1000)
        if self.size > _MOST_CATEGORIES:
            raise ParameterError(
                "k", must=f"be at most {_MOST_CATEGORIES} for rappor, which solves for all of them"
            )
        if any(
            unicodedata.category(sign) == "Cn" for label in self.labels or () for sign in str(label)
        ):
            raise ParameterError(
                "labels",
                must="have characters that Unicode assigns: others hash differently later",
            )
        if self.bits is not None:
            bits = whole_number("bits", self.bits, least=1, most=_MOST_BITS)
            if not are_independent(places := self._bloom(bits)):
                raise ParameterError(
                    "bits",
                    must=f"be enough to tell {self.size} categories apart",
                    got=self.bits,
                    hint="Leave it out to have it chosen.",
                )
            return bits, places
        bits = 1 << (4 * self.size - 1).bit_length()
        while not are_independent(places := self._bloom(bits)):
            bits *= 2
            if bits > _MOST_BITS:
                raise ParameterError("hashes", must="be fewer to tell the categories apart")
        return bits, places

    def _bloom(self, bits: int) -> list[frozenset[int]]:
        return [
            frozenset(_hash(label, index) % bits for index in range(self.hashes))
            for label in self.domain.labels
        ]

    @cached_property
    def distance(self) -> int:
        """The largest number of bits in which two categories differ."""
        words = [sum(1 << bit for bit in places) for places in self._filter[1]]
        return max((one ^ two).bit_count() for one, two in combinations(words, 2))

    @cached_property
    def flip_weight(self) -> int:
        """The weight b of flipping a bit."""
        low, _ = exp_enclosure(Fraction(self.max_epsilon_local) / self.distance)
        return math.ceil(self.denominator / (low + 1))

    @property
    def _flip(self) -> Fraction:
        return Fraction(self.flip_weight, self.denominator)

    @cached_property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The epsilon of the integers."""
        if 2 * self.flip_weight >= self.denominator:
            return math.inf
        return log_above(((1 - self._flip) / self._flip) ** self.distance)

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """One draw per bit."""
        return (self.denominator,) * self.filter_bits

    @cached_property
    def report_format(self) -> ReportFormat:
        """The bits of the filter."""
        return ReportFormat((2,) * self.filter_bits)

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """The bits of the value, each flipped if its draw says so."""
        return np.asarray(self.patterns[indices] ^ (draws < np.uint64(self.flip_weight)))

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int, ...]:
        """The bits of the value, each flipped if its draw says so."""
        own, flip = self._filter[1][index], self.flip_weight
        return tuple(int((bit in own) != (draw < flip)) for bit, draw in enumerate(draws))

    def channel(self) -> Channel:
        """The law of a report given the value, exactly.

        Raises:
            TooLargeError: The filter has too many bits; ask for `likelihood_classes`.
        """
        self.require_few(2**self.filter_bits)
        reports = list(product((0, 1), repeat=self.filter_bits))
        flips = (self.patterns[:, None, :] != np.array(reports)).sum(axis=2)
        b, bits = self.flip_weight, self.filter_bits
        weight = [b**count * (self.denominator - b) ** (bits - count) for count in range(bits + 1)]
        return Channel.from_weights(
            np.array(weight, dtype=object)[flips],
            self.denominator**bits,
            inputs=self.domain.labels,
            outputs=reports,
        )

    def likelihood_classes(
        self, first: int, second: int, *, others: int | None = None
    ) -> LikelihoodClasses:
        """Merge reports by the number of flipped bits among those that tell the values apart.

        The blanket is replaced by max(R(first), R(second)) e^-epsilon_local, which every value's
        row exceeds by the definition of epsilon_local: a lower bound, hence a valid one.
        """
        values = [first, second] if others is None else [first, second, others]
        rows = self.patterns[values]
        columns, counts = np.unique(rows, axis=1, return_counts=True)
        flip, keep = self._flip, 1 - self._flip
        # Probability of a report under each value, as (number of bits that agree with it).
        law: dict[tuple[int, ...], Fraction] = {(0,) * len(values): Fraction(1)}
        total = 0
        for column, count in zip(columns.T.tolist(), counts.tolist(), strict=True):
            if len(set(column)) == 1:
                continue
            total += count
            grown: dict[tuple[int, ...], Fraction] = {}
            for agreeing, ways in law.items():
                for ones in range(count + 1):
                    key = tuple(
                        a + (ones if bit else count - ones)
                        for a, bit in zip(agreeing, column, strict=True)
                    )
                    grown[key] = grown.get(key, Fraction(0)) + ways * math.comb(count, ones)
            law = grown
        least = (flip / keep) ** self.distance
        outputs = []
        for agreeing, ways in law.items():
            chances = [ways * keep**a * flip ** (total - a) for a in agreeing]
            reference = chances[2] if others is not None else max(chances) * least
            outputs.append((reference, chances[0], chances[1]))
        return LikelihoodClasses.merged(outputs)

    def representative_pairs(self) -> Sequence[tuple[int, int]]:
        """One pair for every number of bits in which two categories differ."""
        return self._representative

    @cached_property
    def _representative(self) -> list[tuple[int, int]]:
        apart = _distances(self.patterns)
        distances, places = np.unique(apart, return_index=True)
        pairs = zip(*np.unravel_index(places[distances > 0], apart.shape), strict=True)
        return [(int(first), int(second)) for first, second in pairs]

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count how often each bit is set."""
        return np.asarray(reports.sum(axis=0, dtype=np.int64))

    def traits(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count the reports with 0, 1, … bits set."""
        return np.bincount(reports.sum(axis=1, dtype=np.int64), minlength=self.filter_bits + 1)

    def honest_chances(
        self, tally: NDArray[np.int64], traits: NDArray[np.int64], n: int
    ) -> list[HonestChances]:
        """The count of each bit, and the number of set bits, whose law few values change."""
        from croupier.numerics.honest_chances import HonestChances  # noqa: PLC0415 - not on devices
        from croupier.randomizers.estimates.set_bits import (  # noqa: PLC0415 - needs scipy
            set_bits_chances,
            set_bits_law,
        )

        chances = (self._flip, 1 - self._flip)
        least = [chances[bit] for bit in self.patterns.min(axis=0).tolist()]
        most = [chances[bit] for bit in self.patterns.max(axis=0).tolist()]
        flip, keep = map(float, chances)
        laws = [
            set_bits_law(self.filter_bits, raised=raised, own=keep, other=flip)
            for raised in sorted({len(places) for places in self._filter[1]})
        ]
        bits = HonestChances.of(n, tally, least, most, name="set bit {}".format)
        return [bits, set_bits_chances(n, traits, laws)]

    @cached_property
    def _decoder(self) -> NDArray[np.float64]:
        """The right inverse of the patterns: bit shares to category shares."""
        inverse = np.linalg.inv(_overlaps(self.patterns))
        return np.asarray(self.patterns.T @ inverse, dtype=np.float64)

    @property
    def _spread(self) -> NDArray[np.float64]:
        """The standard error of each share from one report."""
        flip = float(self._flip)
        noise = math.sqrt(flip * (1 - flip)) / (1 - 2 * flip)
        return np.asarray(noise * np.sqrt((self._decoder**2).sum(axis=0)))

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> Estimate:
        """The unbiased shares from the tally of `n` reports."""
        flip = float(self._flip)
        points = (tally / n - flip) / (1 - 2 * flip) @ self._decoder
        # A flipped bit moves a share by its weight in the decoder; any other bit by less.
        moved = np.abs(self._decoder).max(axis=0) / (1 - 2 * flip)
        return Estimate(
            quantity="share",
            values=self.domain.labels,
            points=points,
            standard_errors=self._spread / math.sqrt(n),
            n=n,
            confidence=confidence,
            rule=LinearRule(
                points=points,
                n=n,
                variance=self._spread**2,
                jump=moved * (flip**2 + (1 - flip) ** 2),
                low=0.0,
                high=1.0,
            ),
        )

    def rms_error(self, n: int) -> float:
        """The root mean square standard error over the categories; the same for all true shares."""
        return math.sqrt(float((self._spread**2).mean()) / n)

    @property
    def worst_shift(self) -> Fraction:
        """The sum of the sizes of a category's scores: a liar chooses every bit.

        Direction: upper, by the rounding of the sum.
        """
        largest = float(np.abs(self._decoder).sum(axis=0).max())
        rounding = 1 + Fraction(self.filter_bits, 1 << 52)
        return Fraction(largest) * rounding / (1 - 2 * self._flip)


def _hash(label: str | int, index: int) -> int:
    """The number that a public hash function gives to a category."""
    return int.from_bytes(hashlib.sha256(_LABEL + f"{index} {label!r}".encode()).digest())


def _overlaps(patterns: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The number of bits that each two categories have both set."""
    ones = patterns.astype(np.float64)
    return np.asarray(ones @ ones.T)


def _distances(patterns: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The number of bits in which each two categories differ."""
    overlaps = _overlaps(patterns)
    weight = overlaps.diagonal()
    return np.asarray(weight[:, None] + weight - 2 * overlaps)
