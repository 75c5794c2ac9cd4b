"""Noise and shuffling of a whole dataset as channels, for a handful of people."""

import math
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.compositions import composition_count, compositions
from croupier.model.channel import Channel
from croupier.model.whole import whole_number

__all__ = [
    "datasets",
    "histogram_channel",
    "histogram_noise_channel",
    "noise_channel",
    "shuffle_channel",
    "target_gain",
]

Dataset = tuple[Hashable, ...]

_MOST_ENTRIES = 1 << 22


def datasets(values: Sequence[Hashable], n: int) -> list[Dataset]:
    """Every dataset of n people who hold one of `values` each, in lexicographic order.

    >>> datasets("ab", 2)
    [('a', 'a'), ('a', 'b'), ('b', 'a'), ('b', 'b')]
    """
    n = whole_number("n", n, least=1)
    _require_few("the list of datasets", len(values) ** n)
    return list(product(values, repeat=n))


def noise_channel(randomizers: Channel | Sequence[Channel], n: int | None = None) -> Channel:
    """N: everybody randomizes on their own; datasets in, datasets out, order kept.

    where `randomizers` is one channel for all `n` people, or a channel a person.

    Direction: exact where the channels are.
    Reference: jurado2023, Definition 10, for any channel.

    >>> noise_channel(Channel.from_weights([[3, 1], [1, 3]], 4), 2).weights[0].tolist()
    [9, 3, 3, 1]
    """
    people = _one_each(randomizers, n)
    entries = math.prod(channel.shape[0] * channel.shape[1] for channel in people)
    _require_few("the channel of all datasets", entries)
    inputs = list(product(*(channel.inputs for channel in people)))
    outputs = list(product(*(channel.outputs for channel in people)))
    if all(channel.exact for channel in people):
        weights = _product([channel.weights.astype(object) for channel in people])
        scale = math.prod(channel.denominator or 1 for channel in people)
        return Channel.from_weights(weights, scale, inputs=inputs, outputs=outputs)
    chances = _product([channel.probabilities for channel in people])
    return Channel.from_probabilities(chances, inputs=inputs, outputs=outputs)


def shuffle_channel(values: Sequence[Hashable], n: int) -> Channel:
    """S: a uniformly random order; datasets in, datasets out.

    A dataset goes to each of the #h datasets with its histogram with chance 1/#h.

    Direction: exact.
    Reference: jurado2023, Definition 7.

    >>> shuffle_channel("ab", 2).weights.tolist()
    [[2, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 2]]
    """
    strings = datasets(values, n)
    _require_few("the channel of all datasets", len(strings) ** 2)
    histograms = _histograms(strings, values)
    same = (histograms[:, None, :] == histograms[None, :, :]).all(axis=2)
    sizes = same.sum(axis=1).tolist()
    scale = math.lcm(*sizes)
    weights = same.astype(object) * np.array([scale // size for size in sizes], dtype=object)
    return Channel.from_weights(weights, scale, inputs=strings, outputs=strings)


def histogram_channel(values: Sequence[Hashable], n: int) -> Channel:
    """S^r: all that is left after a shuffle; datasets in, histograms out.

    A histogram is labelled by its counts in the order of `values`.

    Direction: exact.
    Reference: jurado2023, Definition 8.

    >>> histogram_channel("ab", 2).outputs
    ((2, 0), (1, 1), (0, 2))
    """
    strings = datasets(values, n)
    _require_few("the channel", len(strings) * composition_count(n, len(values)))
    labels = _labels(n, len(values))
    histograms = _histograms(strings, values)
    weights = (histograms[:, None, :] == np.array(labels)[None, :, :]).all(axis=2)
    return Channel.from_weights(weights.astype(object) * 1, 1, inputs=strings, outputs=labels)


def histogram_noise_channel(randomizer: Channel, n: int) -> Channel:
    """N^r: what a common randomizer does to the histogram; histograms in, histograms out.

    Row z is the law of the sum of independent reports, z_x of them of somebody who holds x.

    Direction: exact where the randomizer is.
    Reference: jurado2023, Definition 23, for any channel. Rows 2 and 3 of its Table IV carry a
    spurious factor 1/3.

    >>> histogram_noise_channel(Channel.from_weights([[3, 1], [1, 3]], 4), 3).weights[1].tolist()
    [9, 33, 19, 3]
    """
    n = whole_number("n", n, least=1)
    inputs, outputs = (_labels(n, size) for size in randomizer.shape)
    _require_few("the channel of all histograms", len(inputs) * len(outputs))
    exact = randomizer.denominator is not None
    entries = randomizer.weights.tolist() if exact else randomizer.probabilities.tolist()
    rows = []
    for histogram in inputs:
        law: dict[tuple[int, ...], float] = {(0,) * randomizer.shape[1]: 1}
        for value, count in enumerate(histogram):
            for _ in range(count):
                law = _one_more(law, entries[value])
        rows.append([law.get(label, 0) for label in outputs])
    if randomizer.denominator is not None:
        scale = randomizer.denominator**n
        return Channel.from_weights(rows, scale, inputs=inputs, outputs=outputs)
    return Channel.from_probabilities(rows, inputs=inputs, outputs=outputs)


def target_gain(
    strings: Sequence[Dataset], values: Sequence[Hashable], *, target: int = 0
) -> NDArray[np.int64]:
    """The gain of an adversary who guesses one person's value: a row a guess, a column a dataset.

    Reference: jurado2023, Definition 13.

    >>> target_gain(datasets("ab", 2), "ab").tolist()
    [[1, 1, 0, 0], [0, 0, 1, 1]]
    """
    whole_number("target", target, least=0, most=len(strings[0]) - 1)
    return np.array([[int(string[target] == value) for string in strings] for value in values])


def _one_each(randomizers: Channel | Sequence[Channel], n: int | None) -> list[Channel]:
    if isinstance(randomizers, Channel):
        return [randomizers] * whole_number("n", 0 if n is None else n, least=1, most=64)
    people = list(randomizers)
    if not people or n not in (None, len(people)):
        raise ParameterError("randomizers", must="be one a person", got=f"{len(people)} channels")
    return people


def _product(matrices: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The Kronecker product."""
    result = matrices[0]
    for matrix in matrices[1:]:
        result = np.kron(result, matrix)
    return result


def _labels(n: int, categories: int) -> list[tuple[int, ...]]:
    return [tuple(row) for row in compositions(n, categories, most=_MOST_ENTRIES).tolist()]


def _histograms(strings: Sequence[Dataset], values: Sequence[Hashable]) -> NDArray[np.int64]:
    return np.array([[string.count(value) for value in values] for string in strings])


def _one_more(
    law: dict[tuple[int, ...], float], row: Sequence[float]
) -> dict[tuple[int, ...], float]:
    """The law of a histogram after one more report; integers stay integers."""
    following: dict[tuple[int, ...], float] = {}
    for histogram, weight in law.items():
        for output, chance in enumerate(row):
            if chance:
                raised = (*histogram[:output], histogram[output] + 1, *histogram[output + 1 :])
                following[raised] = following.get(raised, 0) + weight * chance
    return following


def _require_few(what: str, entries: int) -> None:
    if entries > _MOST_ENTRIES:
        raise TooLargeError(
            what,
            entries=entries,
            limit=_MOST_ENTRIES,
            hint="Ask single_target or strong_adversary, which need no matrix.",
        )
