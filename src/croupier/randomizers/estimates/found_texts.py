"""Estimated shares of texts that stand out among very many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from croupier.errors import ParameterError
from croupier.model.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.numerics.arrays import np

__all__ = ["FoundTexts"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoundTexts(Estimate):
    """The texts whose share is above zero beyond doubt, the most frequent first.

    All intervals hold together, with the stated confidence, also for the texts that were tested and
    are not shown. If everybody is honest, the chance that any text is shown that nobody sent is at
    most 1 minus the confidence; listed texts that somebody searched for, in up to 2^40 tries,
    because they share buckets with others are included.

    Attributes:
        candidates: The number of texts that were tested.
        answered: The number of people who answered each level.
        moved_by_one: The most by which one dishonest person moves each share, given which texts are
            frequent.
    """

    candidates: int
    answered: Sequence[int]
    moved_by_one: NDArray[np.float64]

    @property
    def holds_together(self) -> bool:
        """True: see above."""
        return True

    def simultaneous(self, statements: int | None = None) -> Self:  # noqa: ARG002 - as the base
        """The same estimate: its intervals hold together."""
        return self

    def projected(self) -> Self:
        """Refuse: the shares of some texts do not add up to one."""
        raise ParameterError("project", must="be left out for text: other texts have shares too")

    def doubtful(self, liars: int) -> Sequence[bool]:
        """Tell of each text whether so many dishonest people could have made it up."""
        return (self.lower <= liars * self.moved_by_one).tolist()  # type: ignore[no-any-return]
