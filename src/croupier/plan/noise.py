"""The noise that shufflers add to a count."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from croupier.model.randomizer import Randomizer
from croupier.plan.sections import ShufflerSection

__all__ = ["CountNoise"]


@dataclass(frozen=True)
class CountNoise:
    """The law of one count after all shufflers, as far as an error needs it.

    Each shuffler keeps every row with its own chance, also the dummies of the one before, and then
    adds dummies. Of N reports of one kind a count with the mean ``kept N + mean`` is left, so that
    the analyzer takes (count - mean)/kept for N.

    Attributes:
        kept: The chance that a report passes all shufflers, the product K of their chances.
        mean: The expected dummies in a count: M <- keep M + E[D], shuffler by shuffler.
        variance: The variance of the dummies in a count: V <- keep^2 V + keep (1 - keep) M + Var[D]
            with the M of the shuffler before.
    """

    kept: Fraction
    mean: Fraction
    variance: Fraction

    @classmethod
    def of(cls, shufflers: Iterable[ShufflerSection]) -> "CountNoise":
        """Follow a count from one shuffler to the next."""
        kept, mean, variance = Fraction(1), Fraction(0), Fraction(0)
        for each in shufflers:
            keep = each.kept
            kept *= keep
            variance = keep**2 * variance + keep * (1 - keep) * mean
            mean *= keep
            if each.dummies is not None:
                mean += each.dummies.table.mean
                variance += each.dummies.table.variance
        return cls(kept, mean, variance)

    def rms_error(self, mechanism: Randomizer, n: int) -> float:
        """The root mean square standard error of shares from `n` answers, over the k categories.

        The share of a value is estimated as ((count - M)/(K n) - q)/(p - q), where a report says
        its own value with chance p and any one other with chance q. Each person adds to a count a
        coin of chance K x, x = p or q, with the variance

            K x (1 - K x) = K^2 x (1 - x) + K (1 - K) x.

        A report names one category, so that the chances x of the k counts add up to 1. On average
        over the counts, whatever the answers,

            rms^2 = local^2 + [n K (1 - K)/k + V] / (n K (p - q))^2,

        where `local` is the mechanism's own error at n answers. With keep = 1 everywhere this is
        local^2 + V/(n (p - q))^2. Where an estimate combines counts, the second term is as many
        times as large as `Randomizer.count_weight` says.

        Holds when the analyzer divides by the number `n` of people, which is public.
        """
        own, other = mechanism.require_answer_chances()
        sampled = n * self.kept * (1 - self.kept) / (mechanism.alphabet_size or 1)
        one = (sampled + self.variance) / (n * self.kept * (own - other)) ** 2
        added = mechanism.count_weight * one
        return math.sqrt(mechanism.rms_error(n) ** 2 + float(added))
