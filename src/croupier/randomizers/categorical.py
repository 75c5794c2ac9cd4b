"""Randomizers of one answer out of k."""

from dataclasses import dataclass
from functools import cached_property

from croupier.model.domain import Categories
from croupier.randomizers.calibrated import CalibratedRandomizer

__all__ = ["CategoricalRandomizer"]


@dataclass(frozen=True, kw_only=True)
class CategoricalRandomizer(CalibratedRandomizer):
    """A mechanism for values 0, …, k - 1 or for given labels.

    Attributes:
        k: The number of categories.
        labels: Their names, instead of `k`.
    """

    k: int | None = None
    labels: tuple[str | int, ...] | None = None

    def __post_init__(self) -> None:
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(self.labels))
        super().__post_init__()

    @cached_property
    def domain(self) -> Categories:
        """The categories."""
        return Categories.of(k=self.k, labels=self.labels)

    @property
    def size(self) -> int:
        """The number of categories."""
        return self.domain.size
