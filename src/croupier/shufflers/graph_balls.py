"""Balls in a graph: everybody at most so many steps away, for each person."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.shufflers.members import PIECE, narrowest, require_fitting, starts_of

__all__ = ["balls_in_graph"]

_HINT = "Take fewer steps."
_PROBED = 32
"""People whose balls are counted first, to learn whether all of them fit."""
_SURELY = 2
"""The factor by which a probe must exceed the limit."""


def balls_in_graph(adjacency: Any, steps: int) -> tuple[int, NDArray[np.int64], NDArray[Any]]:
    """Search breadth-first from everybody; return the people, and the starts and members of balls.

    Only the last two layers of a search are looked at: a neighbour of a layer is in that layer, the
    one before or the next. So a search costs as much as the edges in its ball, however many steps
    it takes. People are searched from in pieces, and a piece that grows too large is cut in two.

    Args:
        adjacency: A square scipy sparse array; a stored non-zero entry is an edge, which is walked
            both ways.
        steps: The largest number of edges to anybody in the ball.
    """
    from scipy.sparse import issparse  # noqa: PLC0415 - slow to load, and seldom needed

    shape: tuple[int, ...] = getattr(adjacency, "shape", ())
    if not issparse(adjacency) or len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ParameterError("adjacency", must="be a square scipy sparse array")
    n = shape[0]
    edges = _both_ways(adjacency)
    probed = np.unique(np.linspace(0, n - 1, min(n, _PROBED)).astype(np.int64))
    searched = [_balls(edges, np.array([one]), steps) for one in probed.tolist()]
    mean = sum(len(one[1]) for one in searched if one is not None) / len(probed)
    if mean * n > _SURELY * (2**31):
        require_fitting(int(mean * n), _HINT)
    sizes: list[NDArray[np.int64]] = []
    members: list[NDArray[Any]] = []
    total = first = 0
    while first < n:
        rows = max(1, int(PIECE / (mean or 1)))
        found = None
        while found is None:
            some = np.arange(first, min(first + rows, n))
            found = _balls(edges, some, steps)
            rows = max(1, rows // 2)
        counts, people = found
        total += len(people)
        require_fitting(total, _HINT)
        sizes.append(counts)
        members.append(people.astype(narrowest(n), copy=False))
        first += len(some)
    return n, starts_of(np.concatenate(sizes)), np.concatenate(members)


def _balls(
    edges: Any, people: NDArray[np.int64], steps: int
) -> tuple[NDArray[np.int64], NDArray[Any]] | None:
    """The sizes and members of the balls of some people; None if several need too much memory."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load, and seldom needed

    n, rows = edges.shape[0], len(people)
    degrees = np.diff(edges.indptr)
    entries: Any = np.ones(rows, dtype=np.bool_)
    before: Any = csr_array((rows, n), dtype=np.bool_)
    layer: Any = csr_array((entries, people, np.arange(rows + 1)), shape=(rows, n))
    layers, total = [layer], rows
    for _ in range(steps):
        most = min(int(degrees[layer.indices].sum()), rows * n)
        if rows > 1 and total + most > 4 * PIECE:
            return None
        beyond = (layer @ edges) > (layer + before)
        beyond.eliminate_zeros()
        if not beyond.nnz:
            break
        before, layer = layer, beyond
        layers.append(layer)
        total += layer.nnz
    counts = sum(np.diff(one.indptr).astype(np.int64) for one in layers)
    owners = np.concatenate([np.repeat(np.arange(rows), np.diff(one.indptr)) for one in layers])
    reached = np.concatenate([one.indices for one in layers]).astype(np.int64)
    keys = owners * n + reached
    keys.sort()
    return counts, keys % n


def _both_ways(adjacency: Any) -> Any:
    """The graph as a symmetric array of booleans, nobody next to themselves."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load, and seldom needed

    entries = adjacency.tocoo()
    # Each entry by itself: entries of parallel edges may add up to zero.
    edge = (entries.data != 0) & (entries.row != entries.col)
    first, second = (np.asarray(ends)[edge] for ends in (entries.row, entries.col))
    shape = adjacency.shape
    edges: Any = csr_array((np.ones(len(first), np.bool_), (first, second)), shape=shape)
    edges.sum_duplicates()
    return csr_array(edges + edges.T)
