"""The negative binomial law as a table of integers."""

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from croupier.errors import ParameterError, TooLargeError
from croupier.numerics.keystream import WORD
from croupier.numerics.rounding import exp_enclosure

__all__ = ["Enclosure", "TabulatedLaw", "log_enclosure", "negative_binomial"]

Enclosure = tuple[Fraction, Fraction]
"""Two rational numbers that enclose the truth."""

_PRECISE = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
_SLACK = Fraction(1, 10**50)
_BITS = 256
_MOST_ENTRIES = 1 << 18


@dataclass(frozen=True)
class TabulatedLaw:
    """Integers over a denominator that stand for a law on the counts 0, 1, 2 and so on.

    Attributes:
        weights: The weight of 0, 1, …; larger counts have none.
        denominator: The sum of the weights.
        error: An upper bound of the total variation between the table and the law, exact.
    """

    weights: tuple[int, ...]
    denominator: int
    error: Fraction

    def moment(self, power: int) -> Fraction:
        """E[Z^power] of the table, exactly."""
        total = sum(weight * value**power for value, weight in enumerate(self.weights))
        return Fraction(total, self.denominator)

    @property
    def variance(self) -> Fraction:
        """The variance of the table, exactly."""
        return self.moment(2) - self.moment(1) ** 2


def negative_binomial(
    shape: Enclosure, ratio: Enclosure, *, denominator: int = WORD
) -> TabulatedLaw:
    """NB(r, p), each probability rounded down; the remainder goes to the most likely count.

        P(k) = C(k + r - 1, k) (1 - p)^r p^k,   P(k + 1)/P(k) = p (k + r)/(k + 1)

    where `shape` encloses r > 0 and `ratio` encloses p in (0, 1).

    Every probability is bounded from below in fixed-point arithmetic that rounds down, so no
    weight but that of the most likely count M exceeds its probability. The total variation is then

        sum over k != M of (P(k) - w_k/D)  =  1 - P(M) - (sum over k != M of w_k)/D,

    the cut tail included. The table ends where the probabilities fall below 1/D.

    Direction: `error` is upper.
    Reference: ghazi2021, for the use of the law; the table is ours.

    Example:
        >>> half = Fraction(1, 2)
        >>> law = negative_binomial((Fraction(1), Fraction(1)), (half, half), denominator=100)
        >>> law.weights, float(law.error)
        ((54, 24, 12, 6, 3, 1), 0.04)
    """
    if not 0 < shape[0] <= shape[1]:
        raise ParameterError("shape", must="be positive", got=float(shape[0]))
    if not 0 < ratio[0] <= ratio[1] < 1:
        raise ParameterError("ratio", must="be in (0, 1)", got=float(ratio[0]))
    probabilities, one = _lower_probabilities(shape, ratio, denominator)
    weights = [probability * denominator // one for probability in probabilities]
    likeliest = max(range(len(weights)), key=probabilities.__getitem__)
    others = sum(weights) - weights[likeliest]
    weights[likeliest] = denominator - others
    error = 1 - Fraction(probabilities[likeliest], one) - Fraction(others, denominator)
    return TabulatedLaw(tuple(weights), denominator, error)


def _lower_probabilities(
    shape: Enclosure, ratio: Enclosure, denominator: int
) -> tuple[list[int], int]:
    """Lower bounds of P(0), P(1), … in units of the second integer, as far as they matter."""
    log_miss, _ = log_enclosure(1 - ratio[1])
    first, _ = exp_enclosure(shape[1] * log_miss)
    if first <= 0:
        raise ParameterError("shape", must="leave the count 0 a positive probability")
    # P(0) may be far below the least weight although large probabilities follow.
    bits = _BITS + first.denominator.bit_length() - first.numerator.bit_length()
    one = 1 << bits
    r, p = (int(lower * (1 << _BITS)) for lower in (shape[0], ratio[0]))
    probabilities = [int(first * one)]
    while probabilities[-1] * denominator >= one or _is_rising(
        len(probabilities) - 1, shape, ratio
    ):
        k = len(probabilities) - 1
        if k >= _MOST_ENTRIES:
            raise TooLargeError(
                "The table of a negative binomial law",
                entries=k + 1,
                limit=_MOST_ENTRIES,
                hint="Use a larger epsilon or gamma.",
            )
        step = probabilities[-1] * p * ((k << _BITS) + r)
        probabilities.append((step // (k + 1)) >> (2 * _BITS))
    return probabilities[:-1] or probabilities, one


def _is_rising(k: int, shape: Enclosure, ratio: Enclosure) -> bool:
    """Tell whether count k + 1 may be likelier than count k."""
    return ratio[1] * (k + shape[1]) > k + 1


def log_enclosure(value: Fraction) -> Enclosure:
    """Rational numbers just below and just above ln(value).

    The logarithm of the decimal module is correctly rounded at 60 digits; so is its argument.

    >>> low, high = log_enclosure(Fraction(2))
    >>> float(low), float(high)
    (0.6931471805599453, 0.6931471805599453)
    """
    if value <= 0:
        raise ParameterError("value", must="be positive")
    quotient = _PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))
    logarithm = Fraction(_PRECISE.ln(quotient))
    slack = _SLACK * (1 + abs(logarithm))
    return logarithm - slack, logarithm + slack
