"""Multinomial participation: one round by lot."""

from dataclasses import dataclass
from fractions import Fraction

from croupier.model.participation.crowd import Crowd, everybody
from croupier.model.participation.rectifiable import Weighted, shares

__all__ = ["Multinomial"]


@dataclass(frozen=True, kw_only=True)
class Multinomial(Weighted):
    """Each person draws one round by lot and answers in it; rectified, sends nulls in all others.

    Attributes:
        weights: The weight of each round, as integers.
        rectified: True if nulls fill all other rounds, and all messages have one length.
    """

    plain = "multinomial"
    adaptive = True

    @property
    def everybody_sends(self) -> bool:
        """True if nulls fill the rounds."""
        return self.rectified

    @property
    def lots(self) -> tuple[tuple[int, ...], ...]:
        """The weights, for everybody."""
        return (self.weights,)

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody, or everybody in the same round if rounds are seen and not filled."""
        if not rounds_seen or self.rectified:
            return everybody(n)
        return tuple(Crowd(share, n, share) for share in shares(self.weights))

    @property
    def batches(self) -> int:
        """Every round, whether or not nulls fill the others."""
        return self.rounds

    def messages(self, n: int) -> tuple[Fraction, int]:
        """One message, or one per round if rectified."""
        del n
        count = self.rounds if self.rectified else 1
        return Fraction(count), count

    def answering(self, round_number: int) -> Fraction:
        """Everybody who sends, or those who drew the round if nulls fill it."""
        return shares(self.weights)[round_number % self.rounds] if self.rectified else Fraction(1)
