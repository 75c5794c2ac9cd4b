"""Bins of rounds: people choose a bin and draw one of its rounds by lot."""

from dataclasses import dataclass
from fractions import Fraction

from croupier.errors import ParameterError
from croupier.model.participation.crowd import Crowd, equal_groups
from croupier.model.participation.rectifiable import Rectifiable, checked_weights, shares

__all__ = ["Bins"]


@dataclass(frozen=True, kw_only=True)
class Bins(Rectifiable):
    """People choose a bin of rounds, independently of their value, and draw one of its rounds.

    Attributes:
        bins: The integer weights of the rounds of each bin. The bins are assumed to be chosen by
            nearly equal numbers of people.
        rectified: True if nulls fill the other rounds of the bin, and all messages have one length.
    """

    plain = "bins"
    adaptive = True
    grouping = "chosen"

    bins: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.bins:
            raise ParameterError("bins", must="be at least one")
        object.__setattr__(self, "bins", tuple(checked_weights(weights) for weights in self.bins))

    @property
    def lots(self) -> tuple[tuple[int, ...], ...]:
        """The weights of each bin."""
        return self.bins

    @property
    def rounds(self) -> int:
        """The rounds of all bins together."""
        return sum(map(len, self.bins))

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody in the bin, or in the same round if rounds are seen and not filled."""
        groups = equal_groups(n, len(self.bins))
        if not rounds_seen or self.rectified:
            return groups
        return tuple(
            Crowd(share, own.people, share, own.group)
            for own, weights in zip(groups, self.bins, strict=True)
            for share in shares(weights)
        )

    @property
    def batches(self) -> int:
        """The number of rounds of the largest bin, any of which a person may draw."""
        return max(map(len, self.bins))

    def messages(self, n: int) -> tuple[Fraction, int]:
        """One message, or one per round of the bin if rectified."""
        if not self.rectified:
            return Fraction(1), 1
        sizes = [len(weights) for weights in self.bins]
        groups = zip(equal_groups(n, len(self.bins)), sizes, strict=True)
        return sum((Fraction(own.people * size, n) for own, size in groups), Fraction(0)), max(
            sizes
        )

    def answering(self, round_number: int) -> Fraction:
        """Everybody who sends, or those of the bin who drew the round if nulls fill it."""
        if not self.rectified:
            return Fraction(1)
        chances = [share for weights in self.bins for share in shares(weights)]
        return chances[round_number % self.rounds]
