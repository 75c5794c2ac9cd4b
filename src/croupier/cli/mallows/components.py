"""The components that a Mallows shuffle mixes, described in one way by all commands."""

from dataclasses import dataclass

import numpy as np

from croupier.cli.output.terminal import out
from croupier.shufflers.mallows import MallowsShuffler

__all__ = ["Components"]


@dataclass(frozen=True)
class Components:
    """The number of components that are mixed, and of people who are in none.

    Attributes:
        people: The number of people.
        mixed: The number of components of at least two people; each is mixed by itself.
        alone: The number of people who share a group with nobody; they are not moved.
    """

    people: int
    mixed: int
    alone: int

    @classmethod
    def of(cls, shuffler: MallowsShuffler) -> "Components":
        """Count those of a shuffler that was made for groups."""
        sizes = np.bincount(np.asarray(shuffler.components))
        return cls(int(sizes.sum()), int((sizes > 1).sum()), int((sizes == 1).sum()))

    def print(self) -> None:
        """Print them."""
        out.print(f"  {_plural(self.mixed)}, each mixed separately")
        if self.alone:
            out.print(f"  {self.alone:,} of {self.people:,} people share no group: not moved")


def _plural(components: int) -> str:
    return "1 component" if components == 1 else f"{components:,} components"
