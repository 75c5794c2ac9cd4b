"""The shuffler: a law over orders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from croupier.numerics.columns import column_like, read_column
from croupier.numerics.keystream import Keystream, stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Shuffler"]


class Shuffler(ABC):
    """A shuffler draws an order and applies it.

    A subclass gives its `name` and `order`, whose result is a permutation: entry i of the batch is
    report ``order[i]``.
    """

    name: ClassVar[str]

    @abstractmethod
    def order(
        self, n: int, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> NDArray[np.int64]:
        """Draw the order of `n` reports, from the operating system unless a source is given."""

    def shuffle(
        self, reports: Any, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> Any:
        """The reports in a drawn order, in the same kind of column or array as the input."""
        entries = read_column(reports)
        batch = entries[self.order(len(entries), rng=stream(rng, insecure_seed))]
        return column_like(reports, batch, same_rows=False)
