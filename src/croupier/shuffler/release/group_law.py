"""The law of the released order for plans that mix by groups of a public file.

The plan names the file by its digest, so that everybody can check who is grouped with whom. What
is derived from the file here is checked against the plan before anything is opened.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.plan.sections import ShufflingSection
from croupier.shufflers.groups import Groups
from croupier.shufflers.mallows import MallowsShuffler
from croupier.shufflers.order_crowd import order_crowds
from croupier.shufflers.ordering import place_of
from croupier.shufflers.sensitivity import connected_components, group_sensitivities
from croupier.shufflers.theta import theta_for

__all__ = ["GroupLaw"]


@dataclass(frozen=True, eq=False)
class GroupLaw:
    """The law that moves the reports of a public file's people, and the sizes of their crowds.

    Attributes:
        people: The number of people in the file, each with a place.
        shuffler: Moves reports from place to place.
        crowds: For each person the number of the crowd that the plan's minimum counts.
        minimum_crowd: The least crowd near everybody present in a Mallows order, if the plan asks
            for one.
    """

    people: int
    shuffler: MallowsShuffler
    crowds: NDArray[np.int64]
    minimum_crowd: int | None = None

    @classmethod
    def of(cls, plan: Plan, groups: Groups, *, file_digest: str, reference: ArrayLike) -> Self:
        """Return the law of a plan, if the public file and the groups are the plan's.

        A Mallows order has one theta, alpha over the plan's sensitivity, around the reference: the
        law that the plan was assessed for. With a uniform order each group is mixed by itself.

        Args:
            plan: The plan of the collection.
            groups: The groups within which people must be indistinguishable.
            file_digest: SHA-256 of the file that they come from.
            reference: The people in an order in which groups lie close together.

        Raises:
            ParameterError: The file is another one, or the groups are not those of the plan.
        """
        shuffling = plan.shuffling
        if shuffling.groups is None:
            raise ParameterError("shuffling.groups", must="be in a plan that mixes by groups")
        if file_digest != shuffling.groups.sha256:
            raise ParameterError(
                "--public",
                must=f"be the file with SHA-256 {shuffling.groups.sha256[:8]}…, as in the plan",
                got=f"{file_digest[:8]}…",
                hint="Get the very file that the plan was written for.",
            )
        if shuffling.order == "uniform":
            return cls._disjoint(groups)
        law = cls._mallows(shuffling, groups, reference)
        return replace(law, minimum_crowd=plan.protections.minimum_crowd)

    @classmethod
    def _disjoint(cls, groups: Groups) -> Self:
        if not groups.is_partition:
            raise ParameterError(
                "groups",
                must="not overlap where each is mixed uniformly",
                hint="Take groups that do not, or a Mallows order.",
            )
        labels = connected_components(groups)
        return cls(groups.n, MallowsShuffler(theta=0.0, components=labels), labels)

    @classmethod
    def _mallows(cls, shuffling: ShufflingSection, groups: Groups, reference: ArrayLike) -> Self:
        order = np.asarray(reference)
        found = int(group_sensitivities(groups, place_of(order)).max())
        stated = shuffling.groups.sensitivity if shuffling.groups else None
        if found != stated or shuffling.alpha is None:
            raise ParameterError(
                "shuffling.groups.sensitivity",
                must=f"be that of these groups, {found:,}",
                got=stated,
                hint="Give the options with which `croupier mallows order` printed it.",
            )
        theta = theta_for(shuffling.alpha, found)
        shuffler = MallowsShuffler(theta=theta, reference=order)
        return cls(groups.n, shuffler, np.zeros(groups.n, dtype=np.int64))

    def fewest(self, owners: NDArray[np.int64]) -> int:
        """Count these people in the smallest crowd that has any of them; 0 if there is nobody."""
        counts = np.bincount(self.crowds[owners])
        return int(counts[counts > 0].min(initial=len(owners)))

    def least_crowd(self, owners: NDArray[np.int64]) -> int | None:
        """Return the smallest crowd near one of these people, rounded down; None if not needed."""
        if self.minimum_crowd is None:
            return None
        places = self.shuffler.position(self.people)[owners]
        theta = float(np.asarray(self.shuffler.theta))
        crowds = order_crowds(places, theta=theta, people=self.people)
        return math.floor(float(crowds.min(initial=len(owners))))
