"""Refinement: a test of whether one channel is a post-processing of another."""

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError, TooLargeError
from croupier.model.channel import Channel

__all__ = ["equivalent", "refinement"]

Matrix = NDArray[np.float64]

_MOST_ENTRIES = 1 << 23
"""The largest table of constraints."""

_TOLERANCE = 1e-9
"""The largest entry of A - B X that counts as zero."""


def refinement(
    channel: Channel, source: Channel, *, tolerance: float = _TOLERANCE
) -> Channel | None:
    """A channel X with channel = source X up to `tolerance`, if there is one.

    Up to that tolerance, `channel` then never leaks more than `source`, whatever the prior and the
    gain. A linear program finds a row-stochastic X that minimises the largest entry of |A - B X|.

    Holds when both channels have the same inputs.
    Direction: the program runs in doubles. A returned X satisfies |A - B X| <= `tolerance` in every
    entry, which was checked after its rows were normalised: a proof up to that tolerance. None
    means that the solver found no X that close: for channels that are that close to refining each
    other, either answer may be given.
    Reference: jurado2023, Theorem 4 (data processing).

    >>> noisy = Channel.from_weights([[3, 1], [1, 3]], 4)
    >>> refinement(noisy @ noisy, noisy) is not None, refinement(noisy, noisy @ noisy) is None
    (True, True)
    """
    if not 0 <= tolerance <= 1:
        raise ParameterError("tolerance", must="be in [0, 1]", got=tolerance, hint="Try 1e-9.")
    if channel.inputs != source.inputs:
        raise ParameterError("source", must="have the inputs of the channel, in that order")
    entries = 2 * channel.shape[0] * channel.shape[1] ** 2 * source.shape[1]
    if entries > _MOST_ENTRIES:
        raise TooLargeError(
            "the linear program",
            entries=entries,
            limit=_MOST_ENTRIES,
            hint="Compare `reduced()` channels.",
        )
    matrix = _solve(channel.probabilities, source.probabilities)
    if np.abs(channel.probabilities - source.probabilities @ matrix).max() > tolerance:
        return None
    return Channel.from_probabilities(matrix, inputs=source.outputs, outputs=channel.outputs)


def equivalent(first: Channel, second: Channel, *, tolerance: float = _TOLERANCE) -> bool:
    """Tell whether each is a post-processing of the other, up to `tolerance`.

    No prior and no gain then tells them apart by more than that; the caution in `refinement`
    applies.

    >>> noisy = Channel.from_weights([[3, 1], [1, 3]], 4)
    >>> equivalent(noisy, Channel.from_weights([[3, 3, 2], [1, 1, 6]], 8))
    True
    """
    return (
        refinement(first, second, tolerance=tolerance) is not None
        and refinement(second, first, tolerance=tolerance) is not None
    )


def _solve(goal: Matrix, given: Matrix) -> Matrix:
    """The row-stochastic X that minimises the largest entry of |goal - given X|."""
    from scipy.optimize import linprog  # noqa: PLC0415 - slow to import, and for this only

    outputs, columns = given.shape[1], goal.shape[1]
    product = np.kron(given, np.eye(columns))
    slack = np.ones((goal.size, 1))
    cost = np.zeros(outputs * columns + 1)
    cost[-1] = 1.0
    found = linprog(
        cost,
        A_ub=np.block([[product, -slack], [-product, -slack]]),
        b_ub=np.concatenate([goal.ravel(), -goal.ravel()]),
        A_eq=np.hstack([np.kron(np.eye(outputs), np.ones((1, columns))), np.zeros((outputs, 1))]),
        b_eq=np.ones(outputs),
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        # An optimal X always exists, so the solver has given up: no proof either way.
        return np.full((outputs, columns), 1 / columns)
    matrix = np.clip(found.x[:-1].reshape(outputs, columns), 0.0, None)
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))
