"""A tree over the numbers of a grid: each level divides them into longer or shorter runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["NumberTree"]


@dataclass(frozen=True)
class NumberTree:
    """The runs of consecutive numbers of every level.

    The last level has every number by itself. Each level before has runs of `fanout` nodes of the
    next one, the last of which may be shorter, down to a first level of at most 2 `fanout` nodes.

    Attributes:
        size: The number of numbers.
        fanout: The number of nodes that a node has at the next level.

    Example:
        >>> tree = NumberTree(101, fanout=4)
        >>> tree.sizes, tree.widths
        ((7, 26, 101), (16, 4, 1))
    """

    size: int
    fanout: int

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of nodes of each level, the coarsest first."""
        sizes = [self.size]
        while sizes[-1] > 2 * self.fanout:
            sizes.append(-(-sizes[-1] // self.fanout))
        return tuple(reversed(sizes))

    @property
    def widths(self) -> tuple[int, ...]:
        """The numbers in a node of each level; the last node may have fewer."""
        depth = len(self.sizes)
        return tuple(self.fanout ** (depth - level) for level in range(1, depth + 1))

    def nodes(self, index: Any) -> Iterator[Any]:
        """Yield the node of a number, or of each number of an array, at each level."""
        return (index // width for width in self.widths)
