"""The synthetic communities by name, and the scales at which they are studied."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from croupier.datasets.census import census
from croupier.datasets.community import Community
from croupier.datasets.friendship import friendship
from croupier.datasets.granularity import granularity
from croupier.datasets.hospital import hospital
from croupier.errors import ParameterError

__all__ = ["DATASETS", "Dataset", "Maker", "Scales", "dataset"]


class Maker(Protocol):
    """A function that generates people; the same people from the same seed."""

    def __call__(self, *, n: int, seed: int) -> Community:
        """Generate this number of people."""


@dataclass(frozen=True, kw_only=True)
class Scales:
    """The distances at which a community is studied.

    Attributes:
        near: The distance from a person within which the attacker looks; in contacts if there are
            any.
        length: The distance up to which people are alike.
        radii: Distances within which groups are shuffled, ascending.
        sizes: Sizes of groups instead, if distances say little.
        unit: The unit of distances.
    """

    near: float
    length: float
    radii: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A synthetic community and its scales.

    Attributes:
        make: The function that generates the people.
        people: The number of people, as in the paper.
        about: A description in one line.
        scales: The distances at which to look.
    """

    make: Maker
    people: int
    about: str
    scales: Scales


DATASETS: Mapping[str, Dataset] = MappingProxyType(
    {
        "hospital": Dataset(
            make=hospital,
            people=29_000,
            about="how patients of 400 hospitals in 60 towns pay",
            scales=Scales(
                near=10.0,
                length=20.0,
                radii=(0.0, 5.0, 10.0, 25.0, 50.0, 100.0, 200.0),
                unit="km",
            ),
        ),
        "friendship": Dataset(
            make=friendship,
            people=9_000,
            about="a yes or no among friends",
            scales=Scales(near=1.0, length=0.2, sizes=(5, 10, 20, 40, 80, 160)),
        ),
        "granularity": Dataset(
            make=granularity,
            people=20_000,
            about="eight colours in two clusters of two crescents",
            scales=Scales(near=0.1, length=0.2, radii=(0.0, 0.02, 0.04, 0.06, 0.1, 0.25, 0.5)),
        ),
        "census": Dataset(
            make=census,
            people=33_000,
            about="who of adults aged 17 to 90 earns more than half of them",
            scales=Scales(
                near=1.0, length=5.0, radii=(0.02, 0.05, 0.1, 0.2, 0.5, 1.0), unit="years"
            ),
        ),
    }
)
"""All of them synthetic."""


def dataset(name: str) -> Dataset:
    """Return one of `DATASETS` by name.

    >>> dataset("census").people
    33000
    """
    if name not in DATASETS:
        raise ParameterError("dataset", must=f"be one of {', '.join(DATASETS)}", got=name)
    return DATASETS[name]
