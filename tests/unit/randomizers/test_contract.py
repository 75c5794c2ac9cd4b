"""Every shipped mechanism keeps the contract, its law checked draw by draw."""

import pytest

from croupier.model import Grid
from croupier.randomizers import (
    MECHANISMS,
    Dictionary,
    DiscreteGaussian,
    DiscreteLaplace,
    Distribution,
    HadamardResponse,
    KaryRandomizedResponse,
    LocalHashing,
    MatrixRandomizer,
    MemoisedResponse,
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
from croupier.testing import check_randomizer

SMALL = [
    KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=101),
    KaryRandomizedResponse(k=5, max_epsilon_local=2.0, denominator=256),
    MemoisedResponse(k=2, max_epsilon_local=1.0, max_epsilon_permanent=2.0, denominator=64),
    MemoisedResponse(k=5, max_epsilon_local=2.0, max_epsilon_permanent=4.0, denominator=128),
    SymmetricUnaryEncoding(k=3, max_epsilon_local=2.0, denominator=16),
    SymmetricUnaryEncoding(k=2, max_epsilon_local=1.5, denominator=61),
    OptimizedUnaryEncoding(k=3, max_epsilon_local=1.0, denominator=17),
    OptimizedUnaryEncoding(k=4, max_epsilon_local=2.0, denominator=16),
    Rappor(k=3, max_epsilon_local=6.0, denominator=6, bits=6),
    Rappor(labels=("a", "b"), max_epsilon_local=4.0, denominator=8, bits=5, hashes=1),
    LocalHashing(k=4, max_epsilon_local=1.0, denominator=16, prime=5, buckets=3),
    LocalHashing(k=3, max_epsilon_local=0.9, denominator=13, prime=7),
    Dictionary(k=4, max_epsilon_local=1.0, denominator=16, functions=3, buckets=3),
    Dictionary(labels=("a", "b"), max_epsilon_local=2.0, denominator=13, functions=5, buckets=2),
    Text(longest=2, alphabet="ab", max_epsilon_local=1.0, denominator=16, functions=2, buckets=3),
    Distribution(grid=Grid(0, 5, 1), max_epsilon_local=1.5, denominator=32, fanout=2),
    Distribution(grid=Grid(-1, 1, 0.5)),
    HadamardResponse(k=5, max_epsilon_local=1.0, denominator=32),
    HadamardResponse(k=3, max_epsilon_local=2.0, denominator=45),
    SubsetSelection(k=5, max_epsilon_local=1.0, denominator=16, subset_size=2),
    SubsetSelection(k=6, max_epsilon_local=1.0, denominator=9, subset_size=3),
    SubsetSelection(k=4, max_epsilon_local=3.0, denominator=128),
    DiscreteLaplace(grid=Grid(0, 4, 1), max_epsilon_local=2.0, denominator=999),
    DiscreteLaplace(grid=Grid(-1, 1, 2), max_epsilon_local=2.0, denominator=64),
    DiscreteGaussian(grid=Grid(0, 3, 1), max_epsilon_local=2.0, denominator=1 << 14),
    OneBitMean(grid=Grid(0, 1, 0.25), max_epsilon_local=1.0, denominator=256),
    SampledSign(dimension=3, max_epsilon_local=1.0, denominator=64),
    MatrixRandomizer(matrix=((5, 3, 2), (1, 8, 1), (0, 0, 10))),
    ParallelRandomizer(
        queries=(
            KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=16),
            SymmetricUnaryEncoding(k=3, max_epsilon_local=2.0, denominator=16),
        ),
        weights=(1, 3),
    ),
    ParallelRandomizer(
        queries=(
            Text(longest=2, alphabet="a", max_epsilon_local=1.0, denominator=16, functions=2),
            Dictionary(k=3, max_epsilon_local=1.0, denominator=16, functions=2, buckets=3),
        ),
        weights=(1, 2),
    ),
    TogetherRandomizer(
        queries=(
            KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=5),
            SubsetSelection(k=4, max_epsilon_local=1.0, denominator=8, subset_size=2),
            OneBitMean(grid=Grid(0, 1, 0.5), max_epsilon_local=1.0, denominator=16),
        ),
    ),
    TogetherRandomizer(
        queries=(
            Dictionary(k=3, max_epsilon_local=1.0, denominator=16, functions=2, buckets=3),
            SymmetricUnaryEncoding(k=2, max_epsilon_local=1.5, denominator=8),
        ),
    ),
    Plain(k=4),
    Plain(labels=("no", "yes")),
]

SHIPPED = [
    KaryRandomizedResponse(k=10, max_epsilon_local=4.0),
    MemoisedResponse(k=10, max_epsilon_local=2.0, max_epsilon_permanent=6.0),
    SymmetricUnaryEncoding(k=5, max_epsilon_local=2.0),
    OptimizedUnaryEncoding(k=5, max_epsilon_local=2.0),
    Rappor(k=3, max_epsilon_local=3.0, bits=8),
    LocalHashing(k=5, max_epsilon_local=1.0, prime=7),
    HadamardResponse(k=20, max_epsilon_local=1.5),
    SubsetSelection(k=8, max_epsilon_local=1.0),
    TogetherRandomizer(
        queries=(
            KaryRandomizedResponse(labels=("no", "yes"), max_epsilon_local=0.5),
            OptimizedUnaryEncoding(k=3, max_epsilon_local=1.0),
        ),
    ),
    DiscreteLaplace(grid=Grid(0, 16, 1), max_epsilon_local=2.0),
    DiscreteLaplace(grid=Grid(18, 90, 0.5), max_epsilon_local=5.0),
    DiscreteGaussian(grid=Grid(0, 16, 1), max_epsilon_local=2.0),
    DiscreteGaussian(grid=Grid(-1, 1, 0.5), max_epsilon_local=8.0, tail=4.0),
    OneBitMean(grid=Grid(-1, 1, 0.01), max_epsilon_local=1.0),
    SampledSign(dimension=5, max_epsilon_local=1.0),
    MatrixRandomizer(matrix=((0.5, 0.3, 0.2), (0.1, 0.8, 0.1), (0.25, 0.25, 0.5))),
]


@pytest.mark.parametrize("randomizer", SHIPPED, ids=repr)
def test_shipped_denominator_keeps_the_contract(randomizer, alarm):
    assert "unbiased" in check_randomizer(randomizer, false_alarm=alarm)


@pytest.mark.parametrize("randomizer", SMALL, ids=repr)
def test_every_draw_gives_the_channel(randomizer, alarm):
    made = check_randomizer(randomizer, false_alarm=alarm)
    assert "every draw" in made


def test_every_mechanism_is_covered():
    assert {randomizer.mechanism for randomizer in SMALL} == set(MECHANISMS)
