"""Noise and shuffling of a whole dataset as channels, for a handful of people."""

import math
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.source import probability_rows
from croupier.model.channel import Channel
from croupier.numerics.compositions import composition_count, compositions
from croupier.numerics.validate import number_of_people, whole_number

__all__ = [
    "datasets",
    "histogram_channel",
    "histogram_noise_channel",
    "noise_channel",
    "shuffle_channel",
    "target_gain",
]

Dataset = tuple[Hashable, ...]
Histogram = tuple[int, ...]

_MOST_ENTRIES = 1 << 22

_MOST_STEPS = 1 << 24
"""Entries of all the tables from one person to n: a second or two."""

_MOST_PEOPLE = 64
"""The number of people at which two values give 1e19 datasets."""


def datasets(values: Sequence[Hashable], n: int) -> list[Dataset]:
    """Every dataset of n people who hold one of `values` each, in lexicographic order.

    >>> datasets("ab", 2)
    [('a', 'a'), ('a', 'b'), ('b', 'a'), ('b', 'b')]
    """
    n = number_of_people("n", n, least=1)
    people = min(n, _MOST_PEOPLE)
    alone = "" if people == n else f" of {people} people alone"
    _require_few(f"the list of datasets{alone}", len(values) ** people)
    _require_few("the list of datasets", len(values) ** people * n)
    _require_distinct(values)
    return list(product(values, repeat=n))


def noise_channel(randomizers: Channel | Sequence[Channel], n: int | None = None) -> Channel:
    """N: everybody randomizes on their own; datasets in, datasets out, order kept.

    Here `randomizers` is one channel for all `n` people, or one channel per person.

    Direction: exact if the channels are.
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
    chances = _product([probability_rows(channel) for channel in people])
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
    labels = _histograms(strings, values)
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    group = np.array([numbers[label] for label in labels])
    sizes = np.bincount(group)[group]
    # At most eleven people fit, unless there is one value: the least common multiple is small.
    scale = math.lcm(*sizes.tolist())
    weights = np.where(group[:, None] == group[None, :], scale // sizes, 0)
    return Channel.from_weights(weights, scale, inputs=strings, outputs=strings)


def histogram_channel(values: Sequence[Hashable], n: int) -> Channel:
    """S^r: the histogram that remains after a shuffle; datasets in, histograms out.

    A histogram is labelled by its counts in the order of `values`.

    Direction: exact.
    Reference: jurado2023, Definition 8.

    >>> histogram_channel("ab", 2).outputs
    ((2, 0), (1, 1), (0, 2))
    """
    strings = datasets(values, n)
    _require_few("the channel", len(strings) * composition_count(n, len(values)))
    labels = _labels(n, len(values))
    columns = {label: column for column, label in enumerate(labels)}
    weights = np.zeros((len(strings), len(labels)), dtype=np.int64)
    for row, label in enumerate(_histograms(strings, values)):
        weights[row, columns[label]] = 1
    return Channel.from_weights(weights, 1, inputs=strings, outputs=labels)


def histogram_noise_channel(randomizer: Channel, n: int) -> Channel:
    """N^r: the effect of a common randomizer on the histogram; histograms in, histograms out.

    Row z is the law of the sum of independent reports, z_x of them from people who hold x.

    Direction: exact if the randomizer is.
    Reference: jurado2023, Definition 23, for any channel. Rows 2 and 3 of its Table IV carry a
    spurious factor 1/3.

    >>> histogram_noise_channel(Channel.from_weights([[3, 1], [1, 3]], 4), 3).weights[1].tolist()
    [9, 33, 19, 3]
    """
    n = number_of_people("n", n, least=1)
    counts = [composition_count(n, size) for size in randomizer.shape]
    _require_few("the channel of all histograms", math.prod(counts))
    # A label costs as much as several entries, a step as much as a thousand; long integers more.
    digits = n * (randomizer.denominator or 1).bit_length()
    steps = n * (math.prod(counts) + 8 * sum(counts) + 1000) * (1000 + digits) // 1000
    _require_few("the channels of all histograms up to n", steps, limit=_MOST_STEPS)
    exact = randomizer.denominator is not None
    rows = randomizer.weights.astype(object) if exact else probability_rows(randomizer)
    table = np.ones((1, 1), dtype=rows.dtype)
    inputs, outputs = (_labels(0, size) for size in randomizer.shape)
    for people in range(1, n + 1):
        more_inputs, more_outputs = (_labels(people, size) for size in randomizer.shape)
        table = _one_more(
            table, rows, came_from=(inputs, more_inputs), goes_to=(outputs, more_outputs)
        )
        inputs, outputs = more_inputs, more_outputs
    if randomizer.denominator is not None:
        scale = randomizer.denominator**n
        return Channel.from_weights(table, scale, inputs=inputs, outputs=outputs)
    return Channel.from_probabilities(table, inputs=inputs, outputs=outputs)


def target_gain(
    strings: Sequence[Dataset], values: Sequence[Hashable], *, target: int = 0
) -> NDArray[np.int64]:
    """The gain of guessing one person's value: one row per guess, one column per dataset.

    Reference: jurado2023, Definition 13.

    >>> target_gain(datasets("ab", 2), "ab").tolist()
    [[1, 1, 0, 0], [0, 0, 1, 1]]
    """
    if not len(strings):
        raise ParameterError("strings", must="not be empty")
    _require_distinct(values)
    whole_number("target", target, least=0, most=len(strings[0]) - 1)
    return np.array([[int(string[target] == value) for string in strings] for value in values])


def _one_each(randomizers: Channel | Sequence[Channel], n: int | None) -> list[Channel]:
    if isinstance(randomizers, Channel):
        if n is None:
            raise ParameterError(
                "n", must="be given with a single channel", hint="Say how many people use it."
            )
        return [randomizers] * number_of_people("n", n, least=1, most=_MOST_PEOPLE)
    people = list(randomizers)
    if not people or n not in (None, len(people)):
        raise ParameterError("randomizers", must="be one per person", got=f"{len(people)} channels")
    return people


def _product(matrices: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The Kronecker product."""
    result = matrices[0]
    for matrix in matrices[1:]:
        result = np.kron(result, matrix)
    return result


def _labels(n: int, categories: int) -> list[Histogram]:
    return [tuple(row) for row in compositions(n, categories, most=_MOST_ENTRIES).tolist()]


def _histograms(strings: Sequence[Dataset], values: Sequence[Hashable]) -> list[Histogram]:
    """The counts of every dataset, in the order of `values`."""
    index = {value: number for number, value in enumerate(values)}
    counts = []
    for string in strings:
        count = [0] * len(values)
        for value in string:
            count[index[value]] += 1
        counts.append(tuple(count))
    return counts


def _one_more(
    table: NDArray[Any],
    rows: NDArray[Any],
    *,
    came_from: tuple[list[Histogram], list[Histogram]],
    goes_to: tuple[list[Histogram], list[Histogram]],
) -> NDArray[Any]:
    """The table for one more person: each row from the row with one less of its first value."""
    index = {label: number for number, label in enumerate(came_from[0])}
    value = [next(x for x, count in enumerate(label) if count) for label in came_from[1]]
    parent = [index[_raised(label, x, -1)] for label, x in zip(came_from[1], value, strict=True)]
    column = {label: number for number, label in enumerate(goes_to[1])}
    following = np.zeros((len(came_from[1]), len(goes_to[1])), dtype=table.dtype)
    for report in range(rows.shape[1]):
        reached = [column[_raised(label, report, 1)] for label in goes_to[0]]
        following[:, reached] += table[parent] * rows[value, report][:, None]
    return following


def _raised(label: Histogram, index: int, change: int) -> Histogram:
    return (*label[:index], label[index] + change, *label[index + 1 :])


def _require_distinct(values: Sequence[Hashable]) -> None:
    if not len(values) or len(set(values)) != len(values):
        raise ParameterError("values", must="be distinct, and at least one")


def _require_few(what: str, entries: int, *, limit: int = _MOST_ENTRIES) -> None:
    if entries > limit:
        raise TooLargeError(
            what,
            entries=entries,
            limit=limit,
            hint="Ask single_target or strong_adversary, which need no matrix.",
        )
