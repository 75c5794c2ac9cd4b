"""The chances of honest reports to be counted are the least and the largest over all values."""

from fractions import Fraction

import numpy as np
import pytest

from croupier.model import Grid
from croupier.randomizers import (
    DiscreteLaplace,
    Distribution,
    HadamardResponse,
    KaryRandomizedResponse,
    LocalHashing,
    MatrixRandomizer,
    OneBitMean,
    OptimizedUnaryEncoding,
    ParallelRandomizer,
    Plain,
    Rappor,
    SampledSign,
    SubsetSelection,
    SymmetricUnaryEncoding,
    Text,
    TogetherRandomizer,
)

SMALL = [
    KaryRandomizedResponse(k=4, max_epsilon_local=2.0, denominator=256),
    SymmetricUnaryEncoding(k=3, max_epsilon_local=2.0, denominator=16),
    OptimizedUnaryEncoding(k=4, max_epsilon_local=2.0, denominator=16),
    Rappor(k=3, max_epsilon_local=6.0, denominator=6, bits=6),
    LocalHashing(k=3, max_epsilon_local=0.9, denominator=13, prime=5),
    HadamardResponse(k=5, max_epsilon_local=1.0, denominator=32),
    SubsetSelection(k=5, max_epsilon_local=1.0, denominator=16, subset_size=2),
    DiscreteLaplace(grid=Grid(0, 4, 1), max_epsilon_local=2.0, denominator=999),
    OneBitMean(grid=Grid(0, 1, 0.25), max_epsilon_local=1.0, denominator=256),
    SampledSign(dimension=3, max_epsilon_local=1.0, denominator=64),
    MatrixRandomizer(matrix=((5, 3, 2, 0), (1, 8, 1, 0), (0, 0, 10, 0))),
    Text(
        longest=2, alphabet="ab", max_epsilon_local=1.0, denominator=16, functions=2, buckets=3
    ).in_batches((b"",)),
    Distribution(grid=Grid(0, 5, 1), max_epsilon_local=1.5, denominator=32, fanout=2),
    ParallelRandomizer(
        queries=(
            KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=16),
            SymmetricUnaryEncoding(k=3, max_epsilon_local=2.0, denominator=16),
        ),
        weights=(1, 3),
    ),
    TogetherRandomizer(
        queries=(
            KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=16),
            SymmetricUnaryEncoding(k=3, max_epsilon_local=2.0, denominator=16),
        ),
    ),
]


def groups_of(randomizer, report):
    """The groups of a batch of one report, whose counts are 0 or 1."""
    form = randomizer.report_format
    one = np.array([report], dtype=form.dtype).reshape(form.empty(1).shape)
    return randomizer.honest_chances(randomizer.tally(one), randomizer.traits(one), 1)


@pytest.mark.parametrize("randomizer", SMALL, ids=repr)
def test_chances_are_the_extremes_over_all_values(randomizer):
    """By enumeration: no value leaves the limits, and some value comes to each of them."""
    channel = randomizer.channel()
    listed = [groups_of(randomizer, report) for report in channel.outputs]
    law = channel.weights.astype(object)
    for place, group in enumerate(listed[0]):
        own = [groups[place] for groups in listed]
        counted = np.array([each.counts for each in own], dtype=object)
        among = law @ np.array([each.n for each in own], dtype=object)
        assert among.min() > 0
        chances = [
            [Fraction(int(e), int(total)) for e in row]
            for row, total in zip(law @ counted, among, strict=True)
        ]
        for entry, column in enumerate(zip(*chances, strict=True)):
            assert group.least[entry] <= min(column) <= group.least[entry] + 1e-8
            assert group.most[entry] - 1e-8 <= max(column) <= group.most[entry]
            assert group.name(entry)


def test_traits_of_two_parts_add():
    for randomizer in SMALL:
        reports = randomizer.respond(
            *(
                np.concatenate([np.zeros_like(a), a])
                for a in some_draws(randomizer, np.random.default_rng(3))
            )
        )
        parts = randomizer.traits(reports[:7]) + randomizer.traits(reports[7:])
        assert np.array_equal(parts, randomizer.traits(reports))
        assert len(parts) == randomizer.trait_count


def some_draws(randomizer, rng):
    """One value for ten people, and their draws."""
    value = randomizer.domain.encode_one(example(randomizer))
    values = np.array([value] * 10)
    draws = [rng.integers(bound, size=10, dtype=np.uint64) for bound in randomizer.draw_bounds]
    return values, np.stack(draws, axis=1)


def example(randomizer):
    """Some value of the mechanism's domain."""
    if isinstance(randomizer, (ParallelRandomizer, TogetherRandomizer)):
        return [example(query) for query in randomizer.queries]
    return {"text": "ab", "sampled-sign": [1, -1, 1]}.get(randomizer.mechanism, 1)


def test_a_value_that_is_shown_says_nothing_about_liars():
    assert not groups_of(Plain(k=4), 2)
