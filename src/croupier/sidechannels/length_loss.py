"""The loss from message lengths alone, and padding, which prevents it."""

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import accumulate, permutations

from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, View
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.rounding import ceiling_digits, exp_enclosure, float_above, log_above
from croupier.sidechannels.length import BITS_A_BYTE, LengthLaw

__all__ = ["Padding", "local_epsilon", "local_loss", "padding", "require_independent"]


def local_loss(law: LengthLaw, *, epsilon: float) -> float:
    """The delta at which lengths alone tell two values apart, at the given epsilon.

        delta = max over x, x' of sum over l of (P(l|x) - e^epsilon P(l|x'))_+ .

    Here P is `law`. Zero if the lengths do not depend on the value.

    Holds when lengths follow the law and nothing else about the message is seen.
    Direction: exact, rounded up.
    Reference: wang2025, Definition 13; after `LengthLaw.blurred`, Definition 15.

    >>> from croupier.model.channel import Channel
    >>> law = LengthLaw(Channel.from_weights([[3, 1], [1, 3]], 4))
    >>> local_loss(law, epsilon=0.0)
    0.5
    """
    if not (epsilon >= 0 and math.isfinite(epsilon)):
        raise ParameterError("epsilon", must="be at least 0 and finite", got=epsilon)
    low, _ = exp_enclosure(epsilon)
    odds = Fraction(1) if epsilon == 0 else low
    up, down = odds.numerator, odds.denominator
    losses = (
        sum(max(0, down * p - up * q) for p, q in zip(first, second, strict=True))
        for first, second in permutations(law.laws, 2)
    )
    return float_above(Fraction(max(losses, default=0), down * (law.channel.denominator or 1)))


def local_epsilon(
    law: LengthLaw,
    *,
    delta: float = 0.0,
    seen: View = View.LENGTHS,
    joint_blur: bool = False,
) -> Guarantee:
    """The least epsilon at which lengths alone tell two values apart with at most `delta`.

    The divergence of `local_loss` is the largest of P(L|x) - e^epsilon P(L|x') over the sets L of
    lengths with the j largest ratios, so that

        e^epsilon = max(1, max over x, x' and j of (P(L_j|x) - delta)/P(L_j|x')).

    Holds when lengths follow the law and nothing else about the message is seen.
    Direction: exact, rounded up; upper if only a blur of everybody's lengths together is seen.
    Reference: wang2025, Definitions 13, 14 and 15; the closed form is ours.

    Args:
        law: The lengths given the value.
        delta: The failure probability, in [0, 1).
        seen: The subject of the law: lengths, or counts or participation.
        joint_blur: True if the observation is some function of everybody's lengths together.

    Example:
        >>> law = LengthLaw.of_set_bits(bits=128, set_bits=(1, 2), flip=Fraction(1, 4))
        >>> str(local_epsilon(law, delta=1e-6))
        'epsilon = 0.471 at delta 1e-06'
    """
    if not 0 <= delta < 1:
        raise ParameterError("delta", must="be in [0, 1)", got=delta, hint="Try 1e-6.")
    return Guarantee(
        metric=Metric.EPSILON,
        value=_epsilon(law, Fraction(delta)),
        direction=Direction.UPPER if joint_blur else Direction.EXACT,
        adversary=Adversary(sees=frozenset({seen})),
        theorem="hockey-stick of the length laws (Wang et al. 2025, Definition 13)",
        assumptions=("what is seen follows the stated law", "the message itself is not read"),
        delta=delta or None,
    )


def require_independent(law: LengthLaw) -> dict[Hashable, Fraction]:
    """Return the probability of each length; refuse a law that depends on the value.

    Shuffling does not reduce the loss from lengths that depend on the secret: nothing is certified
    about them, and padding is required instead.

    Raises:
        ParameterError: The lengths of two values differ in law.

    Reference: wang2025, section VI-B.

    Example:
        >>> leaking = LengthLaw.of_set_bits(bits=16, set_bits=(1, 2), flip=Fraction(1, 4))
        >>> require_independent(leaking)
        Traceback (most recent call last):
        croupier.errors.ParameterError: `lengths` must have the same law for every value;
        got 'epsilon 1.10 from lengths alone'. Pad every message to 8 bytes.
        >>> require_independent(leaking.padded())
        {64: Fraction(1, 1)}
    """
    if not law.independent:
        loss = ceiling_digits(_epsilon(law, Fraction(0)))
        whole = all(isinstance(length, int) for length in law.lengths)
        size = f"{padding(law).size:,} bytes" if whole else "one size"
        raise ParameterError(
            "lengths",
            must="have the same law for every value",
            got=f"epsilon {loss} from lengths alone",
            hint=f"Pad every message to {size}.",
        )
    columns = range(law.channel.shape[1])
    chances = {law.lengths[column]: law.channel.probability(0, column) for column in columns}
    return {length: chance for length, chance in chances.items() if chance}


@dataclass(frozen=True, kw_only=True)
class Padding:
    """The cost of padding every message to the longest.

    Attributes:
        size: The bytes of every message.
        mean_added: The mean number of bytes added to a message, for the value at which it is
            largest.
        worst_added: The most bytes added to a message.
    """

    size: int
    mean_added: float
    worst_added: int


def padding(law: LengthLaw) -> Padding:
    """The size that makes all messages look alike, and its cost against whole bytes each.

    Reference: wang2025, section VI-B.

    Example:
        >>> padding(LengthLaw.of_hierarchy(64))
        Padding(size=8, mean_added=5.428571428571429, worst_added=7)
    """
    sent = law.sizes()
    added = [max(sent) - -(-length // BITS_A_BYTE) for length in law.whole_lengths()]
    means = [
        sum(weight * more for weight, more in zip(row, added, strict=True) if weight)
        for row in law.laws
    ]
    return Padding(
        size=max(sent),
        mean_added=float(Fraction(max(means), law.channel.denominator or 1)),
        worst_added=max(sent) - min(sent),
    )


def _epsilon(law: LengthLaw, delta: Fraction) -> float:
    """The logarithm of the largest ratio, rounded up; fractions are compared without reducing."""
    total = law.channel.denominator or 1
    best = 1, 1
    for first, second in permutations(law.laws, 2):
        for p, q in _prefixes(first, second):
            excess = delta.denominator * p - delta.numerator * total
            if excess * best[1] > best[0] * delta.denominator * q:
                if q == 0:
                    return math.inf
                best = excess, delta.denominator * q
    return log_above(Fraction(*best))


def _prefixes(first: list[int], second: list[int]) -> Iterator[tuple[int, int]]:
    """Sums over the lengths with the largest ratios first : second, one length more at a time."""

    def by_ratio(one: tuple[int, int], two: tuple[int, int]) -> int:
        return two[0] * one[1] - one[0] * two[1]

    possible = [(p, q) for p, q in zip(first, second, strict=True) if p or q]
    ordered = sorted(possible, key=cmp_to_key(by_ratio))
    return accumulate(ordered, lambda sums, entry: (sums[0] + entry[0], sums[1] + entry[1]))
