"""Local hashing: randomized response over the bucket of a fresh hash."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from croupier.errors import ParameterError
from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.rounding import exp_enclosure
from croupier.numerics.validate import whole_number
from croupier.randomizers.frequency_oracle import FrequencyOracle, Report
from croupier.randomizers.k_rr import blanket_weight, kary_response, kary_response_of_one
from croupier.randomizers.parameter import WHOLE, declares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.numerics.honest_chances import HonestChances

__all__ = ["LocalHashing"]

_LARGEST_PRIME = 2_642_239
"""The largest prime whose cube fits a 64-bit word, so that one draw is a seed."""

_HASHES_AT_ONCE = 1 << 20

_SEED_RANGES = 1024
"""Ranges of seeds that are counted: a liar who reports one seed again and again is in one."""


@dataclass(frozen=True, kw_only=True)
class LocalHashing(FrequencyOracle):
    """Hash the value into g buckets with a fresh hash; report the hash and the randomised bucket.

    The seed is a polynomial of degree two over the integers modulo a prime P:

        h(x) = ((c2 x^2 + c1 x + c0) mod P) mod g,   c0, c1, c2 uniform.

    The remainders modulo P of up to three values are independent and uniform, so that the chance
    of every pattern of up to three values is known exactly: a bucket y receives a value with
    probability m_y / P, m_y = floor or ceil of P/g. A report (seed, y) supports the values with
    h(x) = y. The privacy is that of k-RR over the buckets.

    For more than three categories the blanket of `likelihood_classes` ignores the reports that
    support every one (their measure is not determined by triples): a lower bound of the blanket,
    hence a valid one.

    Attributes:
        buckets: The number g of buckets; the one nearest to e^epsilon + 1 if not given (OLH).
        prime: P, for tests that try every seed.

    Reference: wang2017, OLH; wegman1981 for the polynomials.

    Example:
        >>> LocalHashing(k=1000, max_epsilon_local=4.0).g
        56
    """

    mechanism = "local-hashing"

    buckets: int | None = field(
        default=None, metadata=declares(WHOLE, "values of the hash functions; chosen if left out")
    )
    prime: int = field(
        default=_LARGEST_PRIME, metadata=declares(WHOLE, "of the hash functions, for tests")
    )

    @cached_property
    def g(self) -> int:
        """The number of buckets."""
        prime = whole_number("prime", self.prime, least=2, most=_LARGEST_PRIME)
        if any(prime % factor == 0 for factor in range(2, math.isqrt(prime) + 1)):
            raise ParameterError("prime", must="be a prime", got=prime)
        if self.size > prime:
            raise ParameterError("k", must=f"be at most {prime}", got=self.size)
        low, _ = exp_enclosure(self.max_epsilon_local)
        best = min(round(low + 1), prime)
        given = best if self.buckets is None else self.buckets
        return whole_number("buckets", given, least=2, most=prime)

    @cached_property
    def blanket(self) -> int:
        """The weight of every bucket that is not the value's."""
        return blanket_weight(self.denominator, self.max_epsilon_local, self.g)

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """A seed and a draw for the bucket."""
        return (self.prime**3, self.denominator)

    @cached_property
    def report_format(self) -> ReportFormat:
        """Seed and bucket."""
        return ReportFormat((self.prime**3, self.g))

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """Randomise the bucket of the value under the hash of the first draw."""
        seeds = draws[:, 0]
        own = self.hash(seeds, indices.astype(np.uint64)).astype(np.int64)
        bucket = kary_response(own, draws[:, 1], blanket=self.blanket, k=self.g)
        return np.stack([seeds, bucket.astype(np.uint64)], axis=1)

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int, int]:
        """Randomise the bucket of the value under the hash of the first draw."""
        seed, draw = draws
        own = self._bucket(seed, index)
        return seed, kary_response_of_one(own, draw, blanket=self.blanket, k=self.g)

    def hash(self, seeds: NDArray[np.uint64], values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The bucket of each value under each seed (broadcast)."""
        return np.asarray(self._bucket(seeds, values))

    def _bucket(self, seed: Any, value: Any) -> Any:
        """The bucket; integers and arrays of 64-bit words alike."""
        high, constant = divmod(seed, self.prime)
        square, linear = divmod(high, self.prime)
        return ((square * value + linear) % self.prime * value + constant) % self.prime % self.g

    @cached_property
    def levels(self) -> tuple[Fraction, Fraction]:
        """The chances of the value's bucket and of any other."""
        truth = self.denominator - (self.g - 1) * self.blanket
        return Fraction(truth, self.denominator), Fraction(self.blanket, self.denominator)

    def measure(self, values: Sequence[int], supported: Sequence[bool]) -> Fraction:
        """Values fall into a bucket independently; buckets come in two sizes."""
        ones = sum(supported)
        small, larger = divmod(self.prime, self.g)
        total = Fraction(0)
        for size, count in ((small, self.g - larger), (small + 1, larger)):
            chance = Fraction(size, self.prime)
            total += count * chance**ones * (1 - chance) ** (len(values) - ones)
        return total

    @property
    def report_count(self) -> int:
        """Every seed with every bucket."""
        return self.prime**3 * self.g

    def reports(self) -> list[Report]:
        """Every seed with every bucket."""
        seeds = np.arange(self.prime**3, dtype=np.uint64)
        hashes = self.hash(seeds[:, None], np.arange(self.size, dtype=np.uint64))
        measure = Fraction(1, self.prime**3)
        return [
            Report((int(seed), bucket), measure, row == bucket)
            for seed, row in zip(seeds, hashes, strict=True)
            for bucket in range(self.g)
        ]

    def supported(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """The categories in the bucket of the report."""
        rows = reports.astype(np.uint64, copy=False)
        buckets = self.hash(rows[:, [0]], np.arange(self.size, dtype=np.uint64))
        return np.asarray(buckets == rows[:, [1]])

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count the reports that support each category, hashing each category for each report."""
        values = np.arange(self.size, dtype=np.uint64)
        support = np.zeros(self.size, dtype=np.int64)
        step = max(1, _HASHES_AT_ONCE // self.size)
        for start in range(0, len(reports), step):
            part = reports[start : start + step].astype(np.uint64, copy=False)
            support += (self.hash(part[:, [0]], values) == part[:, [1]]).sum(axis=0)
        return support

    @property
    def _seeds_in_range(self) -> int:
        return -(-(self.prime**3) // _SEED_RANGES)

    @property
    def _range_count(self) -> int:
        return -(-(self.prime**3) // self._seeds_in_range)

    def traits(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count the reports with a seed of each range, then those with each bucket."""
        ranges = reports[:, 0].astype(np.uint64) // np.uint64(self._seeds_in_range)
        seeds = np.bincount(ranges.astype(np.int64), minlength=self._range_count)
        buckets = np.bincount(reports[:, 1].astype(np.int64), minlength=self.g)
        return np.concatenate([seeds, buckets])

    def honest_chances(
        self, tally: NDArray[np.int64], traits: NDArray[np.int64], n: int
    ) -> list[HonestChances]:
        """The support of each category; and seeds and buckets, whose laws no value changes.

        A uniform seed puts a value into bucket y with the chance m_y/P, so that y is reported with

            (m_y/P) high + (1 - m_y/P) low.
        """
        from croupier.numerics.honest_chances import HonestChances  # noqa: PLC0415 - not on devices

        many, width, ranges = self.prime**3, self._seeds_in_range, self._range_count
        lengths = [width] * (ranges - 1) + [many - width * (ranges - 1)]
        drawn = [Fraction(length, many) for length in lengths]
        high, low = self.levels
        small, larger = divmod(self.prime, self.g)
        own = [Fraction(small + (bucket < larger), self.prime) for bucket in range(self.g)]
        reported = [low + chance * (high - low) for chance in own]

        def seeds(entry: int) -> str:
            first = entry * width
            return f"have a seed from {first} to {first + lengths[entry] - 1}"

        return [
            *super().honest_chances(tally, traits, n),
            HonestChances.of(n, traits[:ranges], drawn, name=seeds),
            HonestChances.of(n, traits[ranges:], reported, name="are in bucket {}".format),
        ]
