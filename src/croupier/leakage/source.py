"""The source of a report: a randomizer or its channel."""

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.model.channel import Channel
from croupier.model.randomizer import Randomizer

__all__ = ["channel_of", "probability_rows"]


def channel_of(source: Randomizer | Channel) -> Channel:
    """The law of one report given the value.

    Raises:
        TooLargeError: The matrix of the randomizer would not fit.

    >>> channel_of(Channel.from_weights([[3, 1], [1, 3]], 4)).shape
    (2, 2)
    """
    if isinstance(source, Randomizer):
        return source.channel()
    if isinstance(source, Channel):
        return source
    raise ParameterError("source", must="be a Randomizer or a Channel", got=type(source).__name__)


def probability_rows(channel: Channel) -> NDArray[np.float64]:
    """The probabilities, scaled so that every row of a float channel adds up to one.

    A row of a float channel may be short by 1e-9, an error that grows with the number of people.

    >>> float(probability_rows(Channel.from_probabilities([[0.75, 0.2499999999]])).sum())
    1.0
    """
    rows = channel.probabilities
    return rows if channel.exact else rows / rows.sum(axis=1, keepdims=True)
