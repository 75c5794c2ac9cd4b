"""Unary encoding: one noisy bit per category."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.rounding import exp_enclosure
from croupier.numerics.validate import whole_number
from croupier.randomizers.frequency_oracle import FrequencyOracle, Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.numerics.honest_chances import HonestChances

__all__ = ["OptimizedUnaryEncoding", "SymmetricUnaryEncoding", "UnaryEncoding"]

_MOST_BITS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(FrequencyOracle):
    """Report k bits: the value's bit set with probability p, every other with probability q.

    Bit j is set if its draw is below the weight a (j is the value) or b (it is not):

        p = a/D,  q = b/D,  epsilon_local = ln( a (D-b) / (b (D-a)) ).

    Against the measure m(y) = product of q and 1-q over the bits, a report with the value's bit set
    has likelihood p/q, any other (1-p)/(1-q).
    """

    @property
    @abstractmethod
    def bit_weights(self) -> tuple[int, int]:
        """The weights (a, b) of setting the value's bit and any other."""

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """One draw per bit."""
        return (self.denominator,) * self.size

    @cached_property
    def report_format(self) -> ReportFormat:
        """One bit per category."""
        return ReportFormat((2,) * whole_number("k", self.size, least=2, most=_MOST_BITS))

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """Compare every draw with the threshold of its bit."""
        own, other = (np.uint64(weight) for weight in self.bit_weights)
        bits = (draws < other).view(np.uint8)
        people = np.arange(len(indices))
        bits[people, indices] = draws[people, indices] < own
        return bits

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int, ...]:
        """Compare every draw with the threshold of its bit."""
        own, other = self.bit_weights
        bits = [int(draw < other) for draw in draws]
        bits[index] = int(draws[index] < own)
        return tuple(bits)

    @cached_property
    def levels(self) -> tuple[Fraction, Fraction]:
        """The likelihoods p/q and (1-p)/(1-q)."""
        own, other = self.bit_weights
        return Fraction(own, other), Fraction(self.denominator - own, self.denominator - other)

    def measure(self, values: Sequence[int], supported: Sequence[bool]) -> Fraction:
        """A product over the bits; those of other categories add up to one."""
        ones = sum(supported)
        return self._chance**ones * (1 - self._chance) ** (len(values) - ones)

    @property
    def unanimous(self) -> Fraction:
        """All bits set; zero, a lower bound, if that is too rare to be worth the digits."""
        return self._chance**self.size if self.size <= 2000 else Fraction(0)

    @property
    def _chance(self) -> Fraction:
        return Fraction(self.bit_weights[1], self.denominator)

    @property
    def report_count(self) -> int:
        """Every combination of bits."""
        return 1 << self.size

    def reports(self) -> list[Report]:
        """Every combination of bits."""
        everybody = range(self.size)
        patterns = product((0, 1), repeat=self.size)
        return [
            Report(
                bits,
                self.measure(everybody, [bit == 1 for bit in bits]),
                [bit == 1 for bit in bits],
            )
            for bits in patterns
        ]

    def supported(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """The bits."""
        return np.asarray(reports, dtype=bool)

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count how often each bit is set."""
        return np.asarray(reports.sum(axis=0, dtype=np.int64))

    def traits(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count the reports with 0, 1, … bits set."""
        return np.bincount(reports.sum(axis=1, dtype=np.int64), minlength=self.size + 1)

    def honest_chances(
        self, tally: NDArray[np.int64], traits: NDArray[np.int64], n: int
    ) -> list[HonestChances]:
        """The support of each category, and the number of set bits, whose law no value changes."""
        from croupier.randomizers.estimates.set_bits import (  # noqa: PLC0415 - needs scipy
            set_bits_chances,
            set_bits_law,
        )

        own, other = (float(Fraction(weight, self.denominator)) for weight in self.bit_weights)
        law = set_bits_law(self.size, raised=1, own=own, other=other)
        return [*super().honest_chances(tally, traits, n), set_bits_chances(n, traits, [law])]


@dataclass(frozen=True, kw_only=True)
class SymmetricUnaryEncoding(UnaryEncoding):
    """Flip every bit of the unary code with the same probability (SUE, basic one-time RAPPOR).

        b = ceil(D / (e^(epsilon/2) + 1)),   a = D - b.

    Reference: wang2017, SUE.

    Example:
        >>> SymmetricUnaryEncoding(k=5, max_epsilon_local=2.0, denominator=256).bit_weights
        (187, 69)
    """

    mechanism = "symmetric-unary"

    @cached_property
    def bit_weights(self) -> tuple[int, int]:
        """The weights of keeping and of flipping a bit."""
        low, _ = exp_enclosure(Fraction(self.max_epsilon_local) / 2)
        flip = math.ceil(self.denominator / (low + 1))
        return self.denominator - flip, flip


@dataclass(frozen=True, kw_only=True)
class OptimizedUnaryEncoding(UnaryEncoding):
    """Set the value's bit with probability 1/2, any other as rarely as epsilon allows (OUE).

        a = D / 2,   b = ceil(D / (e^epsilon + 1)).

    Reference: wang2017, OUE.

    Example:
        >>> OptimizedUnaryEncoding(k=5, max_epsilon_local=2.0, denominator=256).bit_weights
        (128, 31)
    """

    mechanism = "optimized-unary"

    @cached_property
    def bit_weights(self) -> tuple[int, int]:
        """The weights of setting the value's bit and any other.

        At an odd denominator one half is rounded up and b follows from the ratio that remains.
        """
        own = (self.denominator + 1) // 2
        low, _ = exp_enclosure(self.max_epsilon_local)
        odds = Fraction(own, self.denominator - own) / low
        return own, math.ceil(self.denominator * odds / (1 + odds))
