"""Post-processing: found where it is, and never leaking more."""

import math
from fractions import Fraction

import numpy as np
import pytest

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.gain import gain as gained
from croupier.model import Channel
from croupier.research.refinement import equivalent, refinement

NOISY = Channel.from_weights([[3, 1], [1, 3]], 4)


def _random_channel(rng, rows, columns, scale=24):
    weights = rng.multinomial(scale, rng.dirichlet(np.ones(columns)), size=rows)
    return Channel.from_weights(weights.astype(object), scale)


def _random_law(rng, size):
    weights = rng.integers(1, 10, size=size).tolist()
    return [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize("seed", range(25))
def test_post_processing_is_found_and_never_leaks_more(seed):
    rng = np.random.default_rng(seed)
    source, step = _random_channel(rng, 3, 4), _random_channel(rng, 4, 3)
    channel = source @ step
    found = refinement(channel, source)
    assert found is not None
    rebuilt = source.probabilities @ found.probabilities
    assert np.abs(rebuilt - channel.probabilities).max() <= 1e-9
    gain, law = rng.uniform(0, 1, (4, 3)), _random_law(rng, 3)
    before = gained(source, law, gain)
    assert gained(channel, law, gain) <= before * (1 + 1e-14)


def test_no_post_processing_is_found_where_some_gain_prefers_the_channel():
    less_noisy = Channel.from_weights([[7, 1], [1, 7]], 8)
    assert refinement(less_noisy, NOISY) is None
    assert refinement(NOISY, less_noisy) is not None
    # Equal in Bayes vulnerability, yet neither refines the other.
    erasing = Channel.from_weights([[2, 2, 0], [0, 2, 2]], 4)
    assert gained(erasing) == gained(NOISY)
    assert refinement(erasing, NOISY) is None
    assert not equivalent(erasing, NOISY)


def test_merging_proportional_columns_changes_nothing():
    channel = Channel.from_weights([[3, 6, 1, 2], [1, 2, 3, 6]], 12)
    assert equivalent(channel, channel.reduced())
    assert gained(channel) == gained(channel.reduced())


def test_refusals():
    with pytest.raises(ParameterError, match="inputs of the channel"):
        refinement(NOISY, Channel.from_weights([[1], [1], [1]], 1))
    wide = Channel.from_probabilities(np.full((2, 400), 1 / 400))
    with pytest.raises(TooLargeError, match="linear program"):
        refinement(wide, wide)
    for tolerance in (-1e-9, math.nan, math.inf):
        with pytest.raises(ParameterError, match="`tolerance` must"):
            refinement(Channel.from_weights([[4, 0], [0, 4]], 4), NOISY, tolerance=tolerance)
        with pytest.raises(ParameterError, match="`tolerance` must"):
            equivalent(NOISY, NOISY, tolerance=tolerance)
