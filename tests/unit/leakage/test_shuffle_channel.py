"""Noise and shuffling as full channels: the tables of the paper, corrected."""

import json
import math
import time
import tracemalloc
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.gain import blind_gain
from croupier.leakage.gain import gain as gained
from croupier.leakage.shuffle_channel import (
    datasets,
    histogram_channel,
    histogram_noise_channel,
    noise_channel,
    shuffle_channel,
    target_gain,
)
from croupier.leakage.uninformed import uninformed_vulnerability
from croupier.model import Channel
from croupier.research.refinement import equivalent

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "vulnerability.json").read_text())
VALUES = {case["name"]: case["value"] for case in GOLDEN["values"]}
WRONG = {case["name"]: case["value"] for case in GOLDEN["printed_but_wrong"]}


def _fractions(text):
    return [Fraction(part) for part in text.split(", ")]


def _response(truth, k=2, values=None):
    """k-ary randomized response with labels as inputs and outputs."""
    chance = Fraction(truth)
    other = (1 - chance) / (k - 1)
    scale = math.lcm(chance.denominator, other.denominator)
    labels = list(range(k)) if values is None else list(values)
    weights = [[int((chance if x == y else other) * scale) for y in labels] for x in labels]
    return Channel.from_weights(weights, scale, inputs=labels, outputs=labels)


def _row(channel, label):
    row = channel.inputs.index(label)
    return [channel.probability(row, column) for column in range(channel.shape[1])]


THREE_QUARTERS = _response("3/4", values="ab")


def test_the_tables_of_three_people():
    p, q = Fraction(3, 4), Fraction(1, 4)
    noise = noise_channel(THREE_QUARTERS, 3)
    assert len(noise.inputs) == 2**3
    for x, row in zip(noise.inputs, noise.weights, strict=True):
        for y, weight in zip(noise.outputs, row, strict=True):
            kept = sum(one == two for one, two in zip(x, y, strict=True))
            assert Fraction(int(weight), 64) == p**kept * q ** (3 - kept)
    shuffle = shuffle_channel("ab", 3)
    assert _row(shuffle, tuple("aab"))[1] == Fraction(1, 3)
    reduced = histogram_channel("ab", 3)
    assert reduced.outputs == ((3, 0), (2, 1), (1, 2), (0, 3))
    assert _row(reduced, tuple("aba")) == [0, 1, 0, 0]
    both = noise @ reduced
    assert _row(both, tuple("aab")) == [
        p * p * q,
        p**3 + 2 * p * q * q,
        2 * p * p * q + q**3,
        p * q * q,
    ]
    assert _row(both, tuple("bbb")) == _fractions(VALUES["jurado NS^r row bbb (p=3/4)"])
    assert _row(both, tuple("bbb")) != _fractions(WRONG["jurado Table III, row bbb, p = 3/4"])
    histograms = histogram_noise_channel(THREE_QUARTERS, 3)
    found = _row(histograms, (2, 1))
    assert found == _fractions(VALUES["jurado N^r row (a:2,b:1) p=3/4"])
    printed = _fractions(WRONG["jurado Table IV, row (a:2,b:1), p = 3/4"])
    assert found != printed
    assert sum(found) == 1 != sum(printed)
    assert len(datasets("ab", 3)) != int(WRONG["jurado Section V, number of datasets"])


@pytest.mark.parametrize(("k", "n"), [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2)])
def test_noise_and_shuffling_commute(k, n):
    response = _response("7/10", k)
    noise, shuffle = noise_channel(response, n), shuffle_channel(range(k), n)
    reduced = histogram_channel(range(k), n)
    assert noise @ shuffle == shuffle @ noise
    assert noise @ reduced == reduced @ histogram_noise_channel(response, n)
    merged, histograms = shuffle.reduced(), reduced.reduced()
    assert merged.shape == histograms.shape
    assert sorted(map(tuple, merged.probabilities.T.tolist())) == sorted(
        map(tuple, histograms.probabilities.T.tolist())
    )


def test_full_and_reduced_shuffling_are_equivalent():
    assert equivalent(shuffle_channel("ab", 3), histogram_channel("ab", 3))
    noise = noise_channel(THREE_QUARTERS, 3)
    assert equivalent(noise @ shuffle_channel("ab", 3), noise @ histogram_channel("ab", 3))
    assert not equivalent(noise, noise @ shuffle_channel("ab", 3))


def test_shuffling_is_the_average_over_all_orders():
    strings = datasets("abc", 3)
    shuffle = shuffle_channel("abc", 3)
    for row, string in enumerate(strings):
        law = dict.fromkeys(strings, Fraction(0))
        for order in permutations(range(3)):
            law[tuple(string[place] for place in order)] += Fraction(1, 6)
        assert [shuffle.probability(row, y) for y in range(27)] == list(law.values())


def test_different_randomizers_do_not_commute_with_shuffling():
    people = [_response(truth) for truth in ("9/10", "6/10", "7/10")]
    noise, shuffle = noise_channel(people), shuffle_channel(range(2), 3)
    gain = target_gain(datasets(range(2), 3), range(2))
    found = [gained(c, gain=gain) for c in (noise @ shuffle, shuffle @ noise)]
    name = "jurado heterogeneous p_i=(.9,.6,.7), n=3: V[NS], V[SN], target=user 0"
    assert found == [float(value) for value in _fractions(VALUES[name])]


@pytest.mark.parametrize("truth", ["1/2", "3/4", "1"])
@pytest.mark.parametrize(("k", "n"), [(2, 1), (2, 3), (2, 5), (3, 3), (4, 2)])
def test_the_closed_form_is_the_vulnerability_of_the_full_channel(truth, k, n):
    response = _response(truth, k)
    full = noise_channel(response, n) @ shuffle_channel(range(k), n)
    gain = target_gain(datasets(range(k), n), range(k), target=n - 1)
    law = [Fraction(1, k**n)] * k**n
    assert blind_gain(law, gain) == float(Fraction(1, k))
    expected = gained(full, gain=gain)
    assert uninformed_vulnerability(response, n=n) == pytest.approx(expected, abs=1e-15)


def test_two_mechanisms_that_only_an_uninformed_adversary_tells_apart():
    # One shows the last bit with noise, the other its sum with the others' bits.
    strings = datasets(range(2), 3)
    plain = [[3, 1] if string[-1] == 0 else [1, 3] for string in strings]
    masked = [[3, 1] if sum(string) % 2 == 0 else [1, 3] for string in strings]
    gain = target_gain(strings, range(2), target=2)
    show, hide = (Channel.from_weights(rows, 4, inputs=strings) for rows in (plain, masked))
    assert gained(show, gain=gain) == 0.75
    assert gained(hide, gain=gain) == 0.5
    for others in datasets(range(2), 2):
        known = [Fraction(int(string[:2] == others), 2) for string in strings]
        assert gained(show, known, gain) == 0.75
        assert gained(hide, known, gain) == 0.75


def test_float_channels():
    response = Channel.from_probabilities([[0.75, 0.25], [0.25, 0.75]])
    assert not noise_channel(response, 3).exact
    np.testing.assert_allclose(
        histogram_noise_channel(response, 3).probabilities,
        histogram_noise_channel(_response("3/4"), 3).probabilities,
        atol=1e-15,
    )


def test_a_channel_with_more_outputs_than_inputs():
    erasing = Channel.from_weights([[1, 1, 0], [0, 1, 1]], 2, outputs=["a", "?", "b"])
    assert noise_channel(erasing, 2).shape == (4, 9)
    assert histogram_noise_channel(erasing, 2).shape == (3, 6)
    full = noise_channel(erasing, 2) @ histogram_channel(["a", "?", "b"], 2)
    assert full == histogram_channel(range(2), 2) @ histogram_noise_channel(erasing, 2)


def test_refusals():
    with pytest.raises(TooLargeError, match="need no matrix"):
        noise_channel(THREE_QUARTERS, 30)
    with pytest.raises(TooLargeError):
        shuffle_channel("ab", 12)
    with pytest.raises(TooLargeError):
        histogram_channel("abc", 14)
    with pytest.raises(TooLargeError):
        histogram_noise_channel(_response("1/2", 4), 40)
    with pytest.raises(TooLargeError):
        datasets("ab", 40)
    with pytest.raises(ParameterError, match="`n` must be given"):
        noise_channel(THREE_QUARTERS)
    with pytest.raises(ParameterError, match="one per person"):
        noise_channel([THREE_QUARTERS], 2)
    with pytest.raises(ParameterError, match="`target` must"):
        target_gain(datasets("ab", 2), "ab", target=2)
    for values in ("", "aab"):
        for ask in (datasets, shuffle_channel, histogram_channel):
            with pytest.raises(ParameterError, match="`values` must be distinct"):
                ask(values, 2)
        with pytest.raises(ParameterError, match="`values` must be distinct"):
            target_gain(datasets("ab", 2), values)
    with pytest.raises(ParameterError, match="`strings` must not be empty"):
        target_gain([], "ab")


@pytest.mark.parametrize(
    "ask",
    [
        lambda: datasets("ab", 10**9),
        lambda: datasets("a", 10**9),
        lambda: datasets(range(10**9), 1),
        lambda: shuffle_channel("ab", 10**9),
        lambda: histogram_noise_channel(_response("1/2", 3), 2600),
        lambda: histogram_noise_channel(THREE_QUARTERS, 2000),
        lambda: histogram_noise_channel(Channel.from_weights([[1]], 1), 100_000),
        lambda: histogram_noise_channel(_response(Fraction(3**40, 4**40)), 200),
        lambda: histogram_noise_channel(_response("1/2", 100), 10**9),
    ],
)
def test_what_is_too_large_is_refused_at_once(ask):
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(TooLargeError, match="need no matrix"):
        ask()
    seconds, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 2
    assert peak < 20 * 10**6


def test_many_values_and_one_person_are_told_apart():
    tracemalloc.start()
    shuffle, histograms = shuffle_channel(range(500), 1), histogram_channel(range(500), 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (shuffle.weights == np.eye(500)).all()
    assert (histograms.weights == np.eye(500)).all()
    # A boolean for all triples would take 125 MB.
    assert peak < 50 * 10**6


def test_the_histograms_of_two_hundred_people_take_a_second():
    start = time.process_time()
    channel = histogram_noise_channel(THREE_QUARTERS, 200)
    assert time.process_time() - start < 6
    for row in (0, 77, 200):
        truthful, other = 200 - row, row
        column = 120
        ways = sum(
            math.comb(truthful, kept)
            * math.comb(other, 80 - kept)
            * 3 ** (kept + other - (80 - kept))
            for kept in range(81)
            if kept <= truthful and 0 <= 80 - kept <= other
        )
        assert channel.weights[row, column] == ways
        assert channel.outputs[column] == (80, 120)


def test_float_rows_that_are_short_do_not_add_up():
    short = Channel.from_probabilities([[0.75, 0.25 - 9e-10], [0.25, 0.75 - 9e-10]])
    assert np.abs(histogram_noise_channel(short, 60).probabilities.sum(axis=1) - 1).max() < 1e-12
    assert np.abs(noise_channel(short, 5).probabilities.sum(axis=1) - 1).max() < 1e-12
