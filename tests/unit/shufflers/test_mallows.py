import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream
from croupier.research import hamming_mallows
from croupier.research.hamming_mallows import HammingMallowsShuffler
from croupier.shufflers import permutation_code
from croupier.shufflers import truncated_geometric as codes_of
from croupier.shufflers.mallows import MallowsShuffler, around_reference, log_normalizer
from croupier.shufflers.permutation_code import decode
from croupier.shufflers.theta import LEAST_THETA
from croupier.shufflers.truncated_geometric import truncated_geometric
from croupier.testing import check_shuffler

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "mallows.json").read_text())["cases"]


def golden(name):
    [case] = [case for case in GOLDEN if case["name"] == name]
    return case


@dataclass(frozen=True)
class Grouped:
    n: int
    starts: np.ndarray
    members: np.ndarray


def grouped(n, *groups):
    starts = np.cumsum([0, *map(len, groups)])
    return Grouped(n, starts, np.array([person for group in groups for person in group], dtype=int))


class FedStream(Keystream):
    """Gives out chosen words instead of random ones."""

    def __init__(self, fed):
        super().__init__(insecure_seed=0)
        self.fed = list(fed)

    def words(self, size):
        taken, self.fed = self.fed[:size], self.fed[size:]
        return np.array(taken, dtype=np.uint64)


def inversions(order):
    return sum(a > b for a, b in combinations(order, 2))


def moved(order):
    return sum(place != entry for place, entry in enumerate(order))


def mallows_law(n, theta, distance=inversions):
    """The claimed law over all orders, in lexicographic order."""
    weights = np.array([math.exp(-theta * distance(order)) for order in permutations(range(n))])
    return weights / weights.sum()


def chi_square_p_value(counts, law):
    expected = counts.sum() * law
    return float(special.chdtrc(len(law) - 1, ((counts - expected) ** 2 / expected).sum()))


def drawn_counts(n, theta, games, rng):
    """How often each order comes out, in lexicographic order of orders, which is that of codes."""
    bounds = n - np.arange(n)
    codes = truncated_geometric(np.tile(bounds, games), theta, rng=rng).reshape(games, n)
    return code_counts(codes)


def code_counts(codes):
    n = codes.shape[1]
    factorials = np.array([math.factorial(n - 1 - k) for k in range(n)])
    return np.bincount(codes @ factorials, minlength=math.factorial(n))


@cache
def coin(theta, digit, *, above):
    """The chance of heads in the integers that are compared: 80 bits of it."""
    return Fraction(codes_of._threshold(theta, digit, 80, above=above), 1 << 80)  # noqa: SLF001


@cache
def implemented_code_law(theta, bound):
    """The law of a code as the digits make it, by adding up all digits and what is above them."""
    digits = max(0, math.ceil(math.log2(32 / theta)))
    law = [Fraction(1)]
    for digit in range(digits):
        one = coin(theta, digit, above=False)
        law = [p * (1 - one) for p in law] + [p * one for p in law]
    high = coin(theta, digits, above=True)
    found = [Fraction(0)] * bound
    for excess in range(7):
        chance = high**excess * (1 if excess == 6 else 1 - high)
        for low, p in enumerate(law):
            found[(low + (excess << digits)) % bound] += chance * p
    return found


@cache
def implemented_law(n, theta):
    """The probability of each order of n, in the order of the codes."""
    laws = [implemented_code_law(theta, n - k) for k in range(n)]
    codes = product(*(range(n - k) for k in range(n)))
    return {
        tuple(decode(code).tolist()): math.prod(laws[k][v] for k, v in enumerate(code))
        for code in codes
    }


def worked_example():
    inputs = golden("a10_sigma_star")["inputs"]
    return np.array(inputs["sigma0"]) - 1, np.array(inputs["sigma_hat"]) - 1


def test_the_worked_example_of_the_paper():
    reference, sampled = worked_example()
    moves = np.argsort(reference)[sampled]
    assert inversions(moves) == golden("a10_kendall_list")["value"]
    assert moved(moves) == golden("a10_hamming")["value"]
    order = around_reference(reference, moves)
    assert (order + 1).tolist() == golden("a10_sigma_star")["value"]


def test_the_misreadings_of_the_example_are_others():
    reference, sampled = worked_example()
    position = np.argsort(reference)
    right_to_left = golden("a10_wrong_right_to_left")["value"]
    assert (position[sampled] + 1).tolist() == right_to_left
    assert (around_reference(reference, position[sampled]) + 1).tolist() != right_to_left
    literal = inversions(sampled[position])
    assert literal == golden("a10_kendall_literal_eq5")["value"]
    assert literal != golden("a10_kendall_list")["value"]


def achieved_by_orders(law, group):
    """The largest log-ratio over all outputs where all reports differ; law by order."""
    logarithms = {order: math.log(chance) for order, chance in law.items()}
    people = range(len(next(iter(law))))
    worst = 0.0
    for exchanged in permutations(group):
        renamed = dict(zip(people, people, strict=True)) | dict(zip(group, exchanged, strict=True))
        for order, logarithm in logarithms.items():
            other = logarithms[tuple(renamed[person] for person in order)]
            worst = max(worst, logarithm - other)
    return worst


@pytest.mark.parametrize("reading", ["list+LR", "list+RL", "literal+LR", "literal+RL"])
def test_only_the_right_reading_keeps_the_guarantee(reading):
    case = golden("wrong_convention_violation")
    reference = np.array(case["inputs"]["sigma0"]) - 1
    position = np.argsort(reference)
    theta = case["inputs"]["theta"]
    law = {}
    for sampled in map(np.array, permutations(range(5))):
        moves = position[sampled] if reading.startswith("list") else sampled[position]
        left_to_right = np.empty(5, dtype=int)
        left_to_right[reference] = sampled
        order = left_to_right if reading.endswith("LR") else position[sampled]
        law[tuple(order.tolist())] = math.exp(-theta * inversions(moves))
        if reading == "list+LR":
            assert (around_reference(reference, moves) == order).all()
    group = [person - 1 for person in case["inputs"]["G"]]
    achieved = achieved_by_orders(law, group)
    assert achieved == pytest.approx(case["value"][reading], abs=1e-9)
    declared = MallowsShuffler(theta=theta, reference=reference).guarantee(grouped(5, group)).value
    assert declared == case["value"]["claimed"]
    assert (achieved <= declared + 1e-12) == (reading == "list+LR")


def test_golden_decoding():
    case = golden("mallows_decode")
    assert decode(case["inputs"]["selection_code"]).tolist() == case["value"]


def naively_decoded(code):
    free = list(range(len(code)))
    return [free.pop(rank) for rank in code]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 31, 32, 33, 511, 512, 513, 1025, 3000])
@pytest.mark.parametrize("theta", [0.0, 0.003, 0.5, math.inf])
def test_both_ways_of_decoding_agree_with_the_naive_one(n, theta):
    code = truncated_geometric(n - np.arange(n), theta, rng=Keystream(insecure_seed=n))
    expected = naively_decoded(code.tolist())
    assert decode(code).tolist() == expected
    kernel = pytest.importorskip("croupier.shufflers.mallows_kernel")
    assert kernel.compiled_decode(code).tolist() == expected


def test_every_code_is_another_order_with_as_many_inversions_as_its_sum():
    codes = list(product(*(range(5 - k) for k in range(5))))
    orders = [tuple(decode(code).tolist()) for code in codes]
    assert orders == list(permutations(range(5)))
    assert [inversions(order) for order in orders] == [sum(code) for code in codes]


@pytest.mark.parametrize("compiled", [True, False])
def test_large_orders_are_decoded_the_same_with_and_without_numba(compiled, monkeypatch):
    monkeypatch.setattr(permutation_code, "_COMPILED_FROM", 0 if compiled else math.inf)
    order = MallowsShuffler(theta=1e-4).order(70_000, rng=Keystream(insecure_seed=1))
    assert (np.sort(order) == np.arange(70_000)).all()
    assert order[:4].tolist() == [36459, 65440, 16080, 13893]


@pytest.mark.parametrize("code", [[1], [0, 1], [-1, 0], [3, 0, 0]])
def test_codes_that_are_none_are_refused(code):
    with pytest.raises(ParameterError, match=r"`code` must have every entry k in \[0, n - k\)"):
        decode(code)


def test_the_normalizer():
    case = golden("psi_kendall")
    found = math.exp(log_normalizer(case["inputs"]["n"], case["inputs"]["theta"]))
    assert found == pytest.approx(case["value"], abs=case["tolerance"])
    total = sum(math.exp(-0.7 * inversions(order)) for order in permutations(range(4)))
    assert found == pytest.approx(total, rel=1e-14)
    assert log_normalizer(5, 0.0) == pytest.approx(math.log(120), rel=1e-14)
    assert log_normalizer(10**5, 1e-13) == pytest.approx(math.lgamma(10**5 + 1), rel=1e-3)


@given(st.floats(LEAST_THETA, 50), st.integers(0, 40), st.booleans())
def test_coins_are_the_bits_of_their_probability(theta, digit, above):
    with mpmath.workdps(120):
        power = mpmath.e ** (mpmath.mpf(theta) * 2**digit)
        chance = 1 / power if above else 1 / (1 + power)
        for bits in (16, 80, 144):
            found = codes_of._threshold(theta, digit, bits, above=above)  # noqa: SLF001
            assert found == int(mpmath.floor(chance * mpmath.mpf(2) ** bits))


@pytest.mark.parametrize("theta", [0.01, 0.3, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("bound", [1, 2, 3, 5])
def test_digits_modulo_the_bound_are_truncated_geometric(theta, bound):
    ideal = np.exp(-theta * np.arange(bound))
    found = [float(p) for p in implemented_code_law(theta, bound)]
    assert found == pytest.approx((ideal / ideal.sum()).tolist(), rel=1e-13)
    assert sum(implemented_code_law(theta, bound)) == 1


def test_coins_compare_until_the_bits_differ():
    # theta = 32: no digits, one coin for what is above them; its first sixteen bits are zero.
    assert codes_of._threshold(32.0, 0, 16, above=True) == 0  # noqa: SLF001
    second = codes_of._threshold(32.0, 0, 80, above=True)  # noqa: SLF001
    third = codes_of._threshold(32.0, 0, 144, above=True) % (1 << 64)  # noqa: SLF001
    assert second > 0
    for fed, value in [
        ([1], 0),
        ([0, second + 1], 0),
        ([0, second, third + 1], 0),
        ([0, second - 1, (1 << 64) - 1], 1),
        ([0, second, third - 1, (1 << 64) - 1], 1),
        ([0, second - 1, 0, (1 << 64) - 1], 2),
    ]:
        stream = FedStream(fed)
        assert truncated_geometric([5], 32.0, rng=stream).tolist() == [value]
        assert stream.fed == []


def test_digits_are_read_from_sixteen_bits_each():
    theta, digits = 4.0, 3
    limits = [codes_of._threshold(theta, i, 16, above=False) for i in range(digits)]  # noqa: SLF001
    for ones in product((0, 1), repeat=digits):
        draws = [limit - 1 if one else limit + 1 for limit, one in zip(limits, ones, strict=True)]
        if min(draws) < 0:
            continue
        word = np.array([*draws, 9], dtype=np.uint16).view(np.uint64)
        expected = sum(one << i for i, one in enumerate(ones))
        for bound in (3, 100):
            found = truncated_geometric([bound], theta, rng=FedStream(word.tolist()))
            assert found.tolist() == [expected % bound]


def test_uniform_codes_draw_again_beyond_the_last_multiple():
    last = (1 << 64) - 1  # a multiple of 3, so one too many for it; 2**64 = 6 modulo 10
    stream = FedStream([last, last, 5, last - 5, last - 1, 8])
    found = truncated_geometric([3, 1 << 32, 10, 10], 0.0, rng=stream)
    assert found.tolist() == [2, (1 << 32) - 1, 5, 8]
    assert stream.fed == []
    stream = FedStream([last - 6])
    assert truncated_geometric([10], 0.0, rng=stream).tolist() == [9]


def channel_of(n, reference, theta, values):
    """P(z | y) for all reports with so many different values; rows and columns coded in base."""
    reports = np.array(list(product(range(values), repeat=n)))
    weights = values ** np.arange(n)[::-1]
    channel = np.zeros((len(reports), len(reports)))
    for moves, chance in implemented_law(n, theta).items():
        batch = reports[:, around_reference(reference, moves)] @ weights
        channel[np.arange(len(reports)), batch] += float(chance)
    return reports, channel


def achieved(reports, channel, group):
    """The largest log-ratio over outputs and exchanges within the group."""
    outside = np.delete(reports, group, axis=1)
    inside = np.sort(reports[:, group], axis=1)
    _, classes = np.unique(np.hstack([outside, inside]), axis=0, return_inverse=True)
    worst = 0.0
    for one in range(classes.max() + 1):
        rows = channel[classes == one]
        rows = rows[:, rows[0] > 0]
        worst = max(worst, float(np.log(rows.max(axis=0) / rows.min(axis=0)).max()))
    return worst


@pytest.mark.parametrize(("n", "values"), [(3, 2), (3, 3), (4, 2), (4, 3), (4, 4), (5, 2), (5, 3)])
def test_no_output_exceeds_the_declared_alpha_with_few_values(n, values):
    rng = np.random.default_rng(n)
    for theta in (0.05, 0.6, 2.0):
        reference = rng.permutation(n)
        shuffler = MallowsShuffler(theta=theta, reference=reference)
        reports, channel = channel_of(n, reference, theta, values)
        for size in range(2, n + 1):
            for group in map(list, combinations(range(n), size)):
                declared = shuffler.guarantee(grouped(n, group)).value
                found = achieved(reports, channel, group)
                assert found <= declared * (1 + 1e-12)
                # As many values as people: nothing is left to gain.
                if values == n:
                    assert found >= declared * (1 - 1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_declared_alpha_is_reached_by_every_group_when_all_reports_differ(n):
    rng = np.random.default_rng(n)
    for theta in (0.05, 0.6, 2.0):
        reference = rng.permutation(n)
        shuffler = MallowsShuffler(theta=theta, reference=reference)
        law = {
            tuple(around_reference(reference, moves).tolist()): chance
            for moves, chance in implemented_law(n, theta).items()
        }
        for size in range(2, n + 1):
            for group in combinations(range(n), size):
                declared = shuffler.guarantee(grouped(n, group)).value
                assert achieved_by_orders(law, group) == pytest.approx(declared, rel=1e-12)


@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("theta", [0.25, 0.8])
def test_samples_follow_the_law_and_not_one_ten_percent_off(n, theta, alarm):
    counts = drawn_counts(n, theta, 400_000, Keystream(insecure_seed=n))
    assert chi_square_p_value(counts, mallows_law(n, theta)) > alarm
    for off in (0.9, 1.1):
        assert chi_square_p_value(counts, mallows_law(n, off * theta)) < alarm


@pytest.mark.parametrize("theta", [0.0, 0.5])
def test_whole_orders_follow_the_law_around_the_reference(theta, alarm):
    reference = np.array([2, 0, 3, 1])
    shuffler = MallowsShuffler(theta=theta, reference=reference)
    stream = Keystream(insecure_seed=4)
    orders = np.array([shuffler.order(4, rng=stream) for _ in range(6000)])
    moves = np.argsort(reference)[orders[:, reference]]
    seen = {order: i for i, order in enumerate(permutations(range(4)))}
    counts = np.bincount([seen[tuple(m)] for m in moves.tolist()], minlength=24)
    assert chi_square_p_value(counts, mallows_law(4, theta)) > alarm
    assert chi_square_p_value(counts, mallows_law(4, theta + 0.4)) < alarm


def test_a_seed_repeats_an_order():
    shuffler = MallowsShuffler(theta=0.5)
    one, two = (shuffler.order(1000, rng=Keystream(insecure_seed=3)) for _ in range(2))
    assert (one == two).all()


def test_repeated_insertion_has_the_same_law():
    """The sampler of the paper: item j goes before v of its j predecessors, v geometric."""
    theta, n = 0.6, 5
    law = dict.fromkeys(permutations(range(n)), 0.0)
    for places in product(*(range(j + 1) for j in range(n))):
        order, chance = [], 1.0
        for item, before in enumerate(places):
            order.insert(item - before, item)
            weights = [math.exp(-theta * v) for v in range(item + 1)]
            chance *= weights[before] / sum(weights)
        law[tuple(order)] += chance
    ours = {order: float(chance) for order, chance in implemented_law(n, theta).items()}
    assert ours == pytest.approx(law, rel=1e-12)


def test_crossings_of_a_cut_follow_their_law(alarm):
    case = golden("crossing_pmf")
    n, m, theta = (case["inputs"][name] for name in ("n", "m", "theta"))
    crossings = [sum(entry >= m for entry in order[:m]) for order in permutations(range(n))]
    law = np.bincount(crossings, weights=mallows_law(n, theta))
    assert law == pytest.approx(case["value"], abs=case["tolerance"])
    counts = np.bincount(
        crossings, weights=drawn_counts(n, theta, 100_000, Keystream(insecure_seed=7)), minlength=4
    )
    assert chi_square_p_value(counts, law) > alarm


def test_crossings_of_the_middle_of_ten_thousand():
    case = golden("crossing_mean")
    n, m, theta = (case["inputs"][name] for name in ("n", "m", "theta"))
    shuffler = MallowsShuffler(theta=theta)
    stream = Keystream(insecure_seed=5)
    crossed = [np.count_nonzero(shuffler.order(n, rng=stream)[:m] >= m) for _ in range(100)]
    error = np.std(crossed, ddof=1) / math.sqrt(len(crossed))
    assert abs(np.mean(crossed) - case["value"]) < 5 * error < 5


@pytest.mark.parametrize("theta", [0.003, 1e-6, 1e-12, LEAST_THETA])
def test_all_digits_of_large_codes_follow_the_law(theta, alarm):
    games, cells = 200_000, 50
    codes = truncated_geometric(np.full(games, 2**62), theta, rng=Keystream(insecure_seed=8))
    edges = np.ceil(-np.log1p(-np.arange(cells) / cells) / theta)
    law = -np.diff(np.exp(-theta * edges), append=0)
    counts = np.bincount(np.searchsorted(edges, codes, side="right") - 1, minlength=cells)
    assert chi_square_p_value(counts, law) > alarm / 2
    low = np.exp(-theta * np.arange(8))
    assert chi_square_p_value(np.bincount(codes % 8, minlength=8), low / low.sum()) > alarm / 2
    slower = -np.diff(np.exp(-0.9 * theta * edges), append=0)
    assert chi_square_p_value(counts, slower) < alarm


@pytest.mark.parametrize("theta", [0.0, 1e-6, 0.01, 1.0])
def test_the_contract_of_shufflers(theta):
    check_shuffler(MallowsShuffler(theta=theta))


def test_an_infinite_theta_changes_nothing():
    assert MallowsShuffler(theta=math.inf, reference=[2, 0, 1]).order(3).tolist() == [0, 1, 2]
    assert HammingMallowsShuffler(theta=math.inf).order(3).tolist() == [0, 1, 2]
    assert MallowsShuffler(theta=1e300).order(1000).tolist() == list(range(1000))


def test_reports_stay_close_to_their_place_in_the_reference():
    n = 20_000
    reference = np.random.default_rng(2).permutation(n)
    shuffler = MallowsShuffler(theta=0.1, reference=reference)
    place = shuffler.position(n)
    order = shuffler.order(n)
    distance = np.abs(place[order] - place)
    assert 0 < distance.mean() < 30
    assert distance.max() < 600


def test_columns_are_shuffled_into_their_own_kind():
    column = pd.Series([10, 11, 12, 13, 14], name="report")
    shuffler = MallowsShuffler(theta=0.1, reference=[4, 2, 0, 1, 3])
    batch = shuffler.shuffle(column, rng=Keystream(insecure_seed=1))
    order = shuffler.order(5, rng=Keystream(insecure_seed=1))
    assert batch.to_list() == (order + 10).tolist()
    assert batch.name == "report"


def test_components_do_not_mix_and_each_has_its_theta():
    rng = np.random.default_rng(3)
    n = 6000
    labels = rng.integers(0, 3, n)
    reference = rng.permutation(n)
    thetas = [math.inf, 0.5, 0.0]
    shuffler = MallowsShuffler(theta=thetas, reference=reference, components=labels)
    order = shuffler.order(n)
    assert (labels[order] == labels).all()
    moved_by = np.abs(shuffler.position(n)[order] - shuffler.position(n))
    assert moved_by[labels == 0].max() == 0
    assert 0 < moved_by[labels == 1].mean() < 5
    assert 500 < moved_by[labels == 2].mean() < 850


def test_alpha_for_groups_of_several_components():
    groups = grouped(7, [0, 1], [1, 2, 0], [], [4, 6], [4, 5])
    reference = [6, 3, 0, 4, 2, 5, 1]
    shuffler = MallowsShuffler.for_alpha(groups, alpha=1.0, reference=reference)
    # Places in the components: 0 2 1, then 6 4 5; person 3 is alone.
    assert np.asarray(shuffler.theta).tolist() == [
        pytest.approx(1 / 3, rel=1e-15),
        math.inf,
        1.0,
    ]
    assert shuffler.guarantee(groups).value == pytest.approx(1.0, rel=1e-15)
    assert shuffler.guarantee(groups).value <= 1
    together = MallowsShuffler.for_alpha(groups, alpha=1.0, reference=reference, by_component=False)
    assert np.asarray(together.theta).tolist() == [pytest.approx(1 / 7, rel=1e-15)]
    assert together.guarantee(grouped(7, [0, 3])).value < math.inf
    assert shuffler.guarantee(grouped(7, [0, 3])).value == math.inf


def test_disjoint_groups_shuffled_uniformly_leave_nothing():
    groups = grouped(6, [0, 5], [1, 2, 4])
    shuffler = MallowsShuffler.for_alpha(groups, alpha=0.0)
    assert shuffler.guarantee(groups).value == 0
    orders = np.array([shuffler.order(6) for _ in range(200)])
    assert (orders[:, 3] == 3).all()
    assert set(orders[:, 0].tolist()) == {0, 5}
    assert {tuple(order) for order in orders[:, [1, 2, 4]].tolist()} == set(permutations([1, 2, 4]))


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_the_achieved_alpha_of_components_is_the_declared_one(alpha):
    groups = grouped(5, [0, 3], [3, 1], [2, 4])
    shuffler = MallowsShuffler.for_alpha(groups, alpha=alpha, reference=[4, 0, 1, 2, 3])
    [long, short] = np.asarray(shuffler.theta).tolist()
    people = np.asarray(shuffler.reference)
    law = {}
    for first, second in product(
        implemented_law(3, long).items(), implemented_law(2, short).items()
    ):
        moves = [*first[0], *(3 + move for move in second[0])]
        law[tuple(around_reference(people, moves).tolist())] = first[1] * second[1]
    reached = [achieved_by_orders(law, group) for group in ([0, 3], [3, 1], [2, 4])]
    assert max(reached) == pytest.approx(alpha, rel=1e-12)
    assert max(reached) <= alpha * (1 + 1e-12)


@pytest.mark.parametrize("theta", [0.0, 0.7, 3.0])
def test_hamming_orders_follow_their_law(theta, alarm):
    shuffler = HammingMallowsShuffler(theta=theta)
    check_shuffler(shuffler)
    seen = {order: i for i, order in enumerate(permutations(range(4)))}
    stream = Keystream(insecure_seed=4)
    orders = [tuple(shuffler.order(4, rng=stream).tolist()) for _ in range(6000)]
    counts = np.bincount([seen[order] for order in orders], minlength=24)
    assert chi_square_p_value(counts, mallows_law(4, theta, moved)) > alarm
    assert chi_square_p_value(counts, mallows_law(4, theta + 0.4, moved)) < alarm


@pytest.mark.parametrize(("theta", "n"), [(0.7, 4), (3.0, 4), (0.01, 50), (4.0, 300), (60.0, 9)])
def test_how_many_are_held_is_poisson_up_to_n(theta, n):
    with mpmath.workdps(100):
        mean = mpmath.e ** mpmath.mpf(theta) - 1
        weights = [mean**k / mpmath.factorial(k) for k in range(n + 1)]
        below = mpmath.mpf(0)
        for k, weight in enumerate(weights[:40]):
            edge = int(mpmath.floor(below / mpmath.fsum(weights) * 2**128))
            below += weight
            after = int(mpmath.floor(below / mpmath.fsum(weights) * 2**128))
            if after - edge > 2:
                assert hamming_mallows._quantile(theta, n, edge + 1, 128) == k  # noqa: SLF001
                assert hamming_mallows._quantile(theta, n, after - 1, 128) == k  # noqa: SLF001
            if 0 < after < 2**128 - 1 and k < n:
                assert hamming_mallows._quantile(theta, n, after, 128) is None  # noqa: SLF001


def test_more_bits_are_drawn_at_an_edge():
    with mpmath.workdps(100):
        mean = mpmath.e ** mpmath.mpf(0.7) - 1
        edge = int(mpmath.floor(2**128 / mpmath.fsum([1, mean, mean**2 / 2])))
    high, low = divmod(edge, 1 << 64)
    for last, held in ((0, 0), ((1 << 64) - 1, 1)):
        stream = FedStream([high, low, last])
        assert hamming_mallows._truncated_poisson(0.7, 2, stream) == held  # noqa: SLF001
        assert stream.fed == []


def test_the_hamming_guarantee_is_reached():
    theta, n = 0.4, 5
    law = dict(zip(permutations(range(n)), mallows_law(n, theta, moved), strict=True))
    shuffler = HammingMallowsShuffler(theta=theta)
    for size in (2, 3, 4):
        for group in combinations(range(n), size):
            declared = shuffler.guarantee(grouped(n, group)).value
            assert achieved_by_orders(law, group) == pytest.approx(declared, rel=1e-12)


@pytest.mark.parametrize("theta", [1e-6, 60.0, 1e6])
def test_hamming_orders_at_the_ends_of_theta(theta):
    order = HammingMallowsShuffler(theta=theta).order(3000)
    assert (np.sort(order) == np.arange(3000)).all()
    assert (np.count_nonzero(order == np.arange(3000)) > 20) == (theta > 1)


def test_hamming_orders_of_many():
    n = 200_000
    order = HammingMallowsShuffler(theta=math.log(1 + n / 2)).order(n)
    assert (np.sort(order) == np.arange(n)).all()
    assert abs(np.count_nonzero(order == np.arange(n)) - n / 2) < 10 * math.sqrt(n)


@pytest.mark.parametrize("theta", [-0.1, math.nan])
def test_negative_thetas_are_refused(theta):
    for build in (MallowsShuffler, HammingMallowsShuffler):
        with pytest.raises(ParameterError, match="`theta` must be at least 0"):
            build(theta=theta)
    with pytest.raises(ParameterError, match="`theta` must be at least 0"):
        truncated_geometric([3], theta)


def test_thetas_too_far_out_to_draw_are_refused():
    with pytest.raises(ParameterError, match="`theta` must be at most 1e6, or infinite"):
        HammingMallowsShuffler(theta=1.1e6)
    assert len(MallowsShuffler(theta=LEAST_THETA).order(10)) == 10
    with pytest.raises(ParameterError, match=r"`theta` must be 0 or at least 2\*\*-56"):
        MallowsShuffler(theta=LEAST_THETA / 2)


@pytest.mark.parametrize("reference", [[0, 0], [1, 2], [-1, 0], [0.0, 1.0], [[0, 1]]])
def test_references_that_are_no_orders_are_refused(reference):
    with pytest.raises(ParameterError, match="`reference` must hold each of"):
        MallowsShuffler(theta=1.0, reference=reference)


def test_other_numbers_of_people_are_refused():
    with pytest.raises(ParameterError, match="`n` must be the 3 people of the reference order"):
        MallowsShuffler(theta=1.0, reference=[2, 0, 1]).order(4)


@pytest.mark.parametrize("components", [[0, 1], [0.5, 1.0, 1.0], [-1, 0, 0], [0, 0, 3]])
def test_components_that_do_not_fit_are_refused(components):
    with pytest.raises(ParameterError, match="`components` must give each person a number"):
        MallowsShuffler(theta=1.0, reference=[2, 0, 1], components=components)


def test_thetas_that_do_not_fit_the_components_are_refused():
    with pytest.raises(ParameterError, match="`theta` must be one number, or one for each"):
        MallowsShuffler(theta=[1.0, 2.0])


def test_bounds_below_one_are_refused():
    with pytest.raises(ParameterError, match="`bounds` must be at least 1"):
        truncated_geometric([3, 0], 1.0)


def test_a_shuffler_does_not_change_with_the_array_of_thetas():
    thetas = np.array([1.0, 1.0])
    shuffler = MallowsShuffler(theta=thetas, components=[0, 0, 1, 1])
    thetas[:] = math.nan
    (one, two) = (shuffler.order(4, rng=Keystream(insecure_seed=1)) for _ in range(2))
    assert (one == two).all()


@pytest.mark.parametrize(("reference", "moves"), [([0, 0, 1], [0, 1, 2]), ([0, 1, 2], [0, 0, 1])])
def test_what_is_no_order_is_refused(reference, moves):
    with pytest.raises(ParameterError, match="once"):
        around_reference(reference, moves)


def test_hamming_takes_whole_people_and_any_number_type():
    shuffler = HammingMallowsShuffler(theta=np.float32(0.5))
    assert sorted(shuffler.order(5, rng=Keystream(insecure_seed=1)).tolist()) == [0, 1, 2, 3, 4]
    with pytest.raises(ParameterError, match="`n`"):
        shuffler.order(2.5)


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        ("theta", {"theta": "close"}),
        ("theta", {"theta": [1.0, [2.0]]}),
        ("reference", {"theta": 1.0, "reference": [[1], [2, 3]]}),
        ("components", {"theta": 1.0, "components": [[1], [2, 3]]}),
    ],
)
def test_wrong_kinds_are_named(parameter, given):
    with pytest.raises(ParameterError) as refused:
        MallowsShuffler(**given)
    assert refused.value.parameter == parameter
