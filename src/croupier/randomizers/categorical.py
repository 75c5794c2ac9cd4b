"""Randomizers of one answer out of k."""

from dataclasses import dataclass, field
from functools import cached_property

from croupier.errors import TooLargeError
from croupier.model.domain import Categories
from croupier.model.randomizer import Randomizer
from croupier.randomizers.calibrated import CalibratedRandomizer
from croupier.randomizers.parameter import CATEGORIES, LABELS, declares

__all__ = ["Categorical", "CategoricalRandomizer"]

_MOST_ENTRIES = 1 << 24


@dataclass(frozen=True, kw_only=True)
class Categorical(Randomizer):
    """A mechanism for values 0, …, k - 1 or for given labels.

    Attributes:
        k: The number of categories.
        labels: Their names, instead of `k`.
    """

    k: int | None = field(
        default=None, metadata=declares(CATEGORIES, "number of categories; or labels")
    )
    labels: tuple[str | int, ...] | None = field(
        default=None, metadata=declares(LABELS, "the categories; or k")
    )

    def __post_init__(self) -> None:
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(self.labels))
        _ = self.domain  # refuses what is no list of categories

    @cached_property
    def domain(self) -> Categories:
        """The categories."""
        return Categories.of(k=self.k, labels=self.labels)

    @property
    def size(self) -> int:
        """The number of categories."""
        return self.domain.size

    def require_few(self, reports: int) -> None:
        """Refuse to list a channel with this many reports if it would not fit in memory."""
        entries = reports * self.size
        if entries > _MOST_ENTRIES:
            raise TooLargeError(
                f"The channel of {self.mechanism}",
                entries=entries,
                limit=_MOST_ENTRIES,
                hint="Use likelihood_classes, which does not list the reports.",
            )


@dataclass(frozen=True, kw_only=True)
class CategoricalRandomizer(Categorical, CalibratedRandomizer):
    """A mechanism for categories that chooses its integers to stay below a requested epsilon."""

    def __post_init__(self) -> None:
        Categorical.__post_init__(self)
        CalibratedRandomizer.__post_init__(self)
