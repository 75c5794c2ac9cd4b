"""A community: people's values, and what is publicly known about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Community"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Community:
    """People with one value each, public places, and what a privileged attacker also knows.

    Attributes:
        labels: The names of the values.
        values: Each person's value, as a number below the number of labels.
        places: Public: one number or one row of numbers per person. Groups are made from it.
        privileged: What the attacker also knows of each person and the shuffler does not use:
            numbers, which may be near each other, or labels, which agree or not.
        contacts: Public: who knows whom, as a symmetric sparse array. If given, two people are near
            if few contacts lie between them.
        levels: Coarser views of the values: for each view, what each label becomes.
        synthetic: True if the people are invented.

    Example:
        >>> shop = Community(
        ...     labels=("card", "cash"), values=np.array([0, 1, 1]), synthetic=True,
        ...     places=np.array([7.0, 2.0, 7.0]),
        ... )
        >>> shop.sites.tolist(), shop.site.tolist()
        ([[2.0], [7.0]], [1, 0, 1])
    """

    labels: tuple[str, ...]
    values: NDArray[np.int64]
    places: NDArray[np.float64]
    synthetic: bool
    privileged: NDArray[Any] | None = None
    contacts: "csr_array[Any, tuple[int, int]] | None" = None
    levels: Sequence[Sequence[int]] = ()

    def __post_init__(self) -> None:
        values, places = np.asarray(self.values), np.asarray(self.places)
        if values.ndim != 1 or not len(values) or values.dtype.kind not in "iu":
            raise ParameterError("values", must="be one whole number per person")
        if len(self.labels) < 2 or not 0 <= values.min() <= values.max() < len(self.labels):
            raise ParameterError("values", must="be numbers of at least two labels")
        places = places[:, None] if places.ndim == 1 else places
        if places.shape[:1] != values.shape or places.ndim != 2 or places.dtype.kind not in "iuf":
            raise ParameterError("places", must="be one number or row of numbers per person")
        if self.privileged is not None and np.shape(self.privileged) != values.shape:
            raise ParameterError("privileged", must="be one entry per person")
        if self.contacts is not None and self.contacts.shape != 2 * values.shape:
            raise ParameterError("contacts", must="have one row and one column per person")
        if any(len(level) != len(self.labels) for level in self.levels):
            raise ParameterError("levels", must="say what each label becomes")
        object.__setattr__(self, "values", values.astype(np.int64))
        object.__setattr__(self, "places", places.astype(np.float64))

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def sites(self) -> NDArray[np.float64]:
        """The different places, one row each; with contacts, the place of everybody."""
        return self._by_place[0]

    @cached_property
    def site(self) -> NDArray[np.int64]:
        """The number of each person's place."""
        return self._by_place[1]

    @cached_property
    def _by_place(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        if self.contacts is not None:
            return self.places, np.arange(len(self))
        sites, site = np.unique(self.places, axis=0, return_inverse=True)
        return sites, site.ravel().astype(np.int64)
