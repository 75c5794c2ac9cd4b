"""Length laws: reference values, enumeration in fractions, refusal, padding, blur."""

import json
import math
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest

from croupier.accounting.amplify import amplify
from croupier.errors import ParameterError, TooLargeError
from croupier.model import Channel, Direction, View
from croupier.numerics.rounding import exp_enclosure
from croupier.randomizers import (
    KaryRandomizedResponse,
    OptimizedUnaryEncoding,
    Rappor,
    SymmetricUnaryEncoding,
)
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.sidechannels.length import LengthLaw
from croupier.sidechannels.length_loss import (
    local_epsilon,
    local_loss,
    padding,
    require_independent,
)

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "length.json").read_text())


def _random_law(rng, *, zeros=True):
    values, columns = rng.integers(1, 5), rng.integers(1, 7)
    total = int(rng.integers(columns, 40))
    least = 0 if zeros else 1
    rows = rng.multinomial(total - least * columns, rng.dirichlet(np.ones(columns)), size=values)
    lengths = rng.choice(100, size=columns, replace=False).tolist()
    return LengthLaw(Channel.from_weights(rows + least, total, outputs=lengths))


def _rows(law):
    rows, columns = law.channel.shape
    return [[law.channel.probability(x, y) for y in range(columns)] for x in range(rows)]


def _by_subsets(first, second, odds):
    """The hockey-stick as the best set of lengths, over all sets."""
    places = range(len(first))
    sets = (chosen for size in range(len(first) + 1) for chosen in combinations(places, size))
    return max(sum(first[y] - odds * second[y] for y in chosen) for chosen in sets)


def _set_bits(bits):
    """A report as the list of its set bits, one byte each."""
    return bytes(place for place, bit in enumerate(bits) if bit)


@pytest.mark.parametrize("golden", GOLDEN["listed_bits"], ids=lambda golden: golden["name"])
def test_listed_bits_reproduce_the_reference(golden):
    inputs, value = golden["inputs"], golden["value"]
    hashes, flip = inputs["hashes"], Fraction(inputs["flip"])
    law = LengthLaw.of_set_bits(bits=inputs["bits"], set_bits=(1, hashes), flip=flip)
    pure, at_delta = local_epsilon(law), local_epsilon(law, delta=value["delta"])
    assert pure.value == pytest.approx(value["pure_epsilon"], abs=golden["tolerance"])
    assert pure.value == pytest.approx((hashes - 1) * math.log((1 - flip) / flip), rel=1e-15)
    assert at_delta.value == pytest.approx(value["epsilon"], abs=golden["tolerance"])
    loss = local_loss(law, epsilon=at_delta.value)
    assert loss <= value["delta"] < local_loss(law, epsilon=at_delta.value - 1e-9)


def test_values_in_between_lose_no_more_than_the_extremes():
    few = LengthLaw.of_set_bits(bits=32, set_bits=(1, 4), flip=Fraction(3, 10))
    all_sizes = LengthLaw.of_set_bits(bits=32, set_bits=(1, 2, 3, 4), flip=Fraction(3, 10))
    for delta in (0.0, 1e-6, 1e-3):
        assert local_epsilon(all_sizes, delta=delta) == local_epsilon(few, delta=delta)


@pytest.mark.parametrize("golden", GOLDEN["hierarchy"], ids=lambda golden: golden["name"])
def test_a_level_that_shows_leaves_the_people_of_that_level(golden):
    inputs = golden["inputs"]
    shares = require_independent(LengthLaw.of_hierarchy(inputs["periods"]))
    (share,) = set(shares.values())
    bound = amplify(
        epsilon_local=inputs["epsilon_local"],
        n=inputs["n"],
        delta=inputs["delta"],
        report_probability=float(share),
    )
    assert bound.value == pytest.approx(golden["value"], abs=golden["tolerance"])


def test_sixty_four_periods_have_seven_equal_lengths():
    law = LengthLaw.of_hierarchy(64)
    assert require_independent(law) == {1 << level: Fraction(1, 7) for level in range(7)}
    # Whole bytes hide the four lowest levels from each other.
    assert require_independent(law.rounded_up(8)) == {
        8: Fraction(4, 7),
        16: Fraction(1, 7),
        32: Fraction(1, 7),
        64: Fraction(1, 7),
    }
    assert local_epsilon(law).value == 0
    assert local_loss(law, epsilon=0.0) == 0


@pytest.mark.parametrize("periods", [0, 3, 63, 2.0, -4])
def test_periods_are_a_power_of_two(periods):
    with pytest.raises(ParameterError, match="periods"):
        LengthLaw.of_hierarchy(periods)


def test_loss_is_the_best_set_of_lengths_in_random_laws():
    rng = np.random.default_rng(41)
    for _ in range(300):
        law = _random_law(rng)
        epsilon = float(rng.choice([0.0, rng.uniform(0, 2)]))
        odds = Fraction(1) if epsilon == 0 else exp_enclosure(epsilon)[0]
        pairs = permutations(_rows(law), 2)
        exact = max((_by_subsets(*pair, odds) for pair in pairs), default=Fraction(0))
        found = Fraction(local_loss(law, epsilon=epsilon))
        assert exact <= found <= exact * (1 + Fraction(1, 10**15))


def test_epsilon_at_delta_is_where_the_loss_crosses_delta_in_random_laws():
    rng = np.random.default_rng(42)
    positive = 0
    for _ in range(300):
        law = _random_law(rng, zeros=bool(rng.integers(2)))
        delta = float(rng.choice([0.0, rng.uniform(0, 0.4)]))
        epsilon = local_epsilon(law, delta=delta).value
        pairs = list(permutations(_rows(law), 2))
        if math.isinf(epsilon):
            excluded = max(sum(p for p, q in zip(*pair, strict=True) if q == 0) for pair in pairs)
            assert excluded > delta
            continue
        low, high = exp_enclosure(epsilon)
        assert all(_by_subsets(*pair, high) <= Fraction(delta) for pair in pairs)
        if epsilon > 0:
            positive += 1
            below = low * (1 - Fraction(1, 10**13))
            assert max(_by_subsets(*pair, below) for pair in pairs) > Fraction(delta)
    assert positive > 80


def test_pure_epsilon_is_that_of_the_channel_in_random_laws():
    rng = np.random.default_rng(43)
    for _ in range(300):
        law = _random_law(rng)
        assert local_epsilon(law).value == law.channel.epsilon


@pytest.mark.parametrize(
    "randomizer",
    [
        Rappor(k=3, max_epsilon_local=6.0, denominator=16, bits=7, hashes=3),
        Rappor(k=4, max_epsilon_local=4.0, denominator=16, bits=10),
        SymmetricUnaryEncoding(k=5, max_epsilon_local=2.0, denominator=16),
        OptimizedUnaryEncoding(k=4, max_epsilon_local=1.0, denominator=17),
    ],
    ids=lambda randomizer: f"{randomizer.mechanism}-{randomizer.domain.size}",
)
def test_listed_bits_without_listing_reports_are_those_of_the_channel(randomizer):
    listed = LengthLaw.of_encoding(randomizer, _set_bits)
    direct = LengthLaw.of_listed_bits(randomizer)
    patterns = getattr(randomizer, "patterns", np.eye(randomizer.size, dtype=int))
    by_size = dict(zip(direct.channel.inputs, _rows(direct), strict=True))
    for row, size in zip(_rows(listed), patterns.sum(axis=1).tolist(), strict=True):
        assert row == by_size[size]


def test_lists_of_unary_bits_tell_nothing_but_those_of_filters_do():
    unary = LengthLaw.of_listed_bits(OptimizedUnaryEncoding(k=100, max_epsilon_local=1.0))
    assert unary.independent
    assert sum(require_independent(unary).values()) == 1
    # Ten values of which some have both hashes on one bit, at full denominators.
    filtered = Rappor(k=10, max_epsilon_local=4.0)
    law = LengthLaw.of_listed_bits(filtered)
    assert law.channel.inputs == (1, 2)
    keep = Fraction(filtered.denominator - filtered.flip_weight, filtered.flip_weight)
    assert local_epsilon(law).value == pytest.approx(math.log(keep), rel=1e-15)


def test_lists_with_too_many_digits_are_refused():
    with pytest.raises(TooLargeError, match="Pad"):
        LengthLaw.of_listed_bits(OptimizedUnaryEncoding(k=1025, max_epsilon_local=1.0))


def test_only_noisy_bits_can_be_listed():
    with pytest.raises(ParameterError, match="noisy bits"):
        LengthLaw.of_listed_bits(KaryRandomizedResponse(k=4, max_epsilon_local=1.0))


def test_lengths_that_depend_on_the_value_are_refused_with_the_size_to_pad_to():
    law = LengthLaw.of_set_bits(bits=32, set_bits=(1, 4), flip=Fraction(3, 10))
    with pytest.raises(ParameterError, match=r"epsilon 2\.55 .* Pad every message to 20 bytes"):
        require_independent(law)
    assert require_independent(law.padded()) == {160: 1}
    assert local_epsilon(law.padded()).value == 0


def test_dependence_on_the_value_is_found_in_random_laws():
    rng = np.random.default_rng(44)
    refused = 0
    for _ in range(300):
        law = _random_law(rng)
        rows = _rows(law)
        if any(row != rows[0] for row in rows):
            refused += 1
            with pytest.raises(ParameterError, match="same law"):
                require_independent(law)
        else:
            shares = require_independent(law)
            assert sum(shares.values()) == 1
            assert all(shares.values())
    assert 50 < refused < 300


def test_padding_costs_what_the_shorter_messages_lack():
    channel = Channel.from_weights([[3, 1, 0], [0, 4, 0]], 4, outputs=(3, 17, 800))
    cost = padding(LengthLaw(channel))
    # Nobody sends 800 bits: one byte or three, so two bytes are added to the shorter, at 3/4.
    assert (cost.size, cost.mean_added, cost.worst_added) == (3, 1.5, 2)
    assert require_independent(LengthLaw(channel).padded()) == {24: 1}


def test_unpadded_queries_show_which_was_drawn():
    queries = (
        KaryRandomizedResponse(k=10, max_epsilon_local=1.0),
        OptimizedUnaryEncoding(k=100, max_epsilon_local=1.0),
        KaryRandomizedResponse(k=12, max_epsilon_local=1.0),
    )
    parallel = ParallelRandomizer(queries=queries, weights=(1, 2, 4))
    law = LengthLaw.of_queries(parallel)
    assert require_independent(law) == {8: Fraction(5, 7), 104: Fraction(2, 7)}
    padded = LengthLaw.of_encoding(
        ParallelRandomizer(queries=queries[:1] + queries[2:]),
        lambda report: bytes(1 if report[0] == 0 else 2),
    )
    assert require_independent(padded) == {8: Fraction(1, 2), 16: Fraction(1, 2)}


def test_blur_is_the_cascade_in_random_laws_and_never_tells_more():
    rng = np.random.default_rng(45)
    smaller = 0
    for _ in range(300):
        law = _random_law(rng)
        lengths = [*law.lengths, 1000]
        rng.shuffle(lengths)
        rows = rng.multinomial(12, [0.5, 0.3, 0.2], size=len(lengths))
        blur = Channel.from_weights(rows, 12, inputs=lengths, outputs=("short", "middle", "long"))
        seen = law.blurred(blur)
        expected = [
            [
                sum(
                    row[place] * blur.probability(lengths.index(length), column)
                    for place, length in enumerate(law.lengths)
                )
                for column in range(3)
            ]
            for row in _rows(law)
        ]
        assert _rows(seen) == expected
        delta = float(rng.uniform(0, 0.1))
        before, after = local_epsilon(law, delta=delta), local_epsilon(seen, delta=delta)
        assert after.value <= before.value
        smaller += after.value < before.value
    assert smaller > 100


def test_a_joint_blur_is_bounded_by_the_law_without_blur():
    """Enumerated: the observer sees only the sorted lengths of the person and of another."""
    law = LengthLaw(Channel.from_weights([[5, 2, 1], [1, 3, 4]], 8, outputs=(8, 16, 24)))
    other = [Fraction(1, 3)] * 3
    seen = []
    for row in _rows(law):
        sums = {}
        for (y, chance), z in product(enumerate(row), range(3)):
            key = tuple(sorted((y, z)))
            sums[key] = sums.get(key, 0) + chance * other[z]
        seen.append([sums[key] for key in sorted(sums)])
    for delta in (0.0, 0.05):
        bound = local_epsilon(law, delta=delta, joint_blur=True)
        assert bound.direction is Direction.UPPER
        odds = exp_enclosure(bound.value)[1]
        assert _by_subsets(*seen, odds) <= Fraction(delta)


def test_the_claim_says_who_sees_what():
    claim = local_epsilon(LengthLaw.of_hierarchy(8), delta=1e-6)
    assert claim.direction is Direction.EXACT
    assert claim.adversary.sees == {View.LENGTHS}
    assert claim.delta == 1e-6
    counts = local_epsilon(LengthLaw.of_hierarchy(8), seen=View.COUNTS)
    assert counts.adversary.sees == {View.COUNTS}


def test_what_was_blurred_has_no_padding():
    law = LengthLaw(Channel.from_weights([[1, 1], [2, 0]], 2, outputs=(8, 16)))
    blur = Channel.from_weights([[1, 0], [0, 1]], 1, inputs=(8, 16), outputs=("short", "long"))
    with pytest.raises(ParameterError, match="Pad every message to one size"):
        require_independent(law.blurred(blur))
    with pytest.raises(ParameterError, match="before the observation is blurred"):
        padding(law.blurred(blur))


def test_blurs_that_miss_a_length_or_are_floats_are_refused():
    law = LengthLaw(Channel.from_weights([[1, 1]], 2, outputs=(8, 16)))
    with pytest.raises(ParameterError, match="1 missing"):
        law.blurred(Channel.from_weights([[1]], 1, inputs=(8,)))
    with pytest.raises(ParameterError, match="exact"):
        law.blurred(Channel.from_probabilities([[0.5, 0.5]] * 2, inputs=(8, 16)))
    with pytest.raises(ParameterError, match="exact"):
        LengthLaw(Channel.from_probabilities([[0.5, 0.5]]))


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
def test_impossible_epsilons_are_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        local_loss(LengthLaw.of_hierarchy(4), epsilon=epsilon)


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_impossible_deltas_are_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        local_epsilon(LengthLaw.of_hierarchy(4), delta=delta)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"bits": 0}, "bits"),
        ({"set_bits": (1, 17)}, "set_bits"),
        ({"flip": Fraction(0)}, "flip"),
        ({"flip": Fraction(2, 3)}, "flip"),
    ],
)
def test_impossible_filters_are_named(given, named):
    filter_ = {"bits": 16, "set_bits": (1, 2), "flip": Fraction(1, 4)}
    with pytest.raises(ParameterError) as refusal:
        LengthLaw.of_set_bits(**(filter_ | given))
    assert refusal.value.parameter == named
