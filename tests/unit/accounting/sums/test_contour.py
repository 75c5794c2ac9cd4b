"""Contours and lists against each other and against sums in many digits, and what they keep."""

import math
from dataclasses import replace
from itertools import product

import mpmath
import numpy as np
import pytest

from croupier.accounting.amplify import proved_curve
from croupier.accounting.pair import Laws, ShuffledPair, ShuffledPairs
from croupier.accounting.sums.contour import contour_bounds
from croupier.accounting.sums.enumeration import listed_bounds
from croupier.accounting.sums.terms import Terms
from croupier.randomizers import randomizer


def drawn_terms(rng, rows, classes):
    """Laws with weights of very different sizes, every second one with a rest."""
    weights = rng.dirichlet(np.full(classes, 0.4), size=rows)
    rest = np.where(np.arange(rows) % 2, rng.random(rows), 0.0)
    weights *= (1 - rest)[:, None]
    values = rng.normal(size=(rows, classes)) - 0.5
    values[:, 0] = np.abs(values[:, 0]) + 0.1
    return Terms(weights, values, weights * np.abs(values), rest)


def truth(terms, row, n):
    """E[S_+] by adding up the law of the sum, one term after the other."""
    with mpmath.workdps(40):
        chances = [*map(mpmath.mpf, terms.weights[row].tolist())]
        values = [*terms.values[row].tolist(), 0.0]
        chances.append(mpmath.mpf(float(terms.rest[row])))
        total = mpmath.mpf(0)
        for counts in product(range(n + 1), repeat=len(values) - 1):
            if sum(counts) > n:
                continue
            every = (*counts, n - sum(counts))
            amount = mpmath.fsum(c * mpmath.mpf(v) for c, v in zip(every, values, strict=True))
            if amount > 0:
                ways = mpmath.factorial(n)
                for c, chance in zip(every, chances, strict=True):
                    ways *= chance**c / mpmath.factorial(c)
                total += ways * amount
        return total


@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("classes", [2, 3])
def test_lists_and_contours_enclose_the_sum(n, classes):
    rng = np.random.default_rng(100 * n + classes)
    terms = drawn_terms(rng, 24, classes)
    listed = listed_bounds(terms, n, rtol=1e-6, most_cells=10**5, ceilings=np.full(24, 50.0))
    contour = contour_bounds(terms, n, rtol=1e-6)
    for row in range(24):
        exact = mpmath.log(truth(terms, row, n))
        # The weights of a row may add up to one and a bit: the law is known to that precision.
        for found in (listed, contour):
            assert found.lower[row] - 1e-13 <= exact <= found.upper[row] + 1e-13
        assert listed.upper[row] - listed.lower[row] < 1e-9


@pytest.mark.parametrize("n", [10, 100, 1000, 10**6])
def test_lists_and_contours_agree(n):
    rng = np.random.default_rng(n)
    for _ in range(6):
        terms = drawn_terms(rng, 20, 3)
        # Rare values: a list is affordable.
        scale = rng.choice([0.01, 1, 10, 30]) / n
        weights = np.minimum(terms.weights * scale, 0.2)
        terms = Terms(weights, terms.values, weights * np.abs(terms.values), 1 - weights.sum(1))
        some = {"rtol": 1e-6, "most_cells": 10**6}
        listed = listed_bounds(terms, n, **some, ceilings=np.full(20, 0.0))
        contour = contour_bounds(terms, n, rtol=1e-6)
        assert (listed.lower <= listed.upper).all()
        assert (contour.lower <= contour.upper).all()
        assert (
            np.maximum(listed.lower, contour.lower) <= np.minimum(listed.upper, contour.upper)
        ).all()
        known = np.isfinite(listed.upper)
        assert known.sum() >= 15
        assert (listed.upper - listed.lower)[known].max() < 2e-6


def test_a_sum_that_is_positive_only_if_all_terms_are_alike():
    """689 (v_2 - v_1) + 689 v_1 would lose seven digits of the one value that counts."""
    response = randomizer("optimized-unary", k=10, max_epsilon_local=11.65979998013271)
    classes = [response.likelihood_classes(0, 1, others=others) for others in (0, 1, 2)]
    for law in map(Laws.of, classes):
        pair = ShuffledPair.among(law, 689)
        for share in np.linspace(0.999, 0.99999, 40):
            quick, sharp = (
                pair.log_delta(share * response.epsilon_local, rtol=rtol) for rtol in (1e-3, 1e-6)
            )
            assert quick.lower <= sharp.upper
            assert sharp.lower <= min(sharp.upper, quick.upper)


@pytest.mark.parametrize(
    ("reference", "first", "second", "n", "epsilon"),
    [
        ([0.75, 0.25], [0.5, 0.5], [1.0, 0.0], 3, 51.0),
        ([0.75, 0.25], [0.5, 0.5], [1.0, 0.0], 40, 49.9),
        ([0.0625, 0.9375], [1 - 2.0**-30, 2.0**-30], [0.0, 1.0], 40, 50.0),
        ([0.875, 0.125], [0.875, 0.125], [1 - 2.0**-29, 2.0**-29], 3, 19.0),
    ],
)
def test_sums_that_are_positive_only_at_the_last_place(reference, first, second, n, epsilon):
    """A gain below the rounding of the loss: the place must not be rounded past the last one."""
    laws = Laws.of_doubles(*map(np.array, (reference, first, second)))
    found = ShuffledPair.among(laws, n).log_delta(epsilon)
    with mpmath.workdps(60):
        ratio = mpmath.exp(mpmath.mpf(epsilon))
        values = [
            (mpmath.mpf(p) - ratio * mpmath.mpf(q)) / mpmath.mpf(w)
            for w, p, q in zip(reference, first, second, strict=True)
        ]
        exact = mpmath.fsum(
            mpmath.binomial(n, count)
            * mpmath.mpf(reference[0]) ** count
            * mpmath.mpf(reference[1]) ** (n - count)
            * max(count * values[0] + (n - count) * values[1], 0)
            for count in range(n + 1)
        )
        assert found.lower <= mpmath.log(exact / n) <= found.upper


def test_a_quick_bound_that_is_made_of_rounding_drops_no_pair():
    """Others who nearly always lose, and an output that nobody else can produce."""
    seldom = 1e-3 / math.exp(0.1)
    laws = [1.0, 1e-17, 0, 0], [0.0, 1e-22, 1.0, 0], [seldom, 0, 0.5, 0.5 - seldom]
    worst = ShuffledPair(*map(np.array, laws), 10**12, 0.0)
    others = [
        ShuffledPair(*map(np.array, ([0.3, 0.3, 0.4, 0],) * 2), np.array(second), 10**12, 0.0)
        for second in ([0.3, 0.3 - 1e-3 * step, 0.4, 1e-3 * step] for step in range(1, 6))
    ]
    truth = math.log(1 - 0.5 * math.exp(0.1))
    for n in (2, 100, 10**6):
        assert replace(worst, n=n).log_delta(0.1).upper == pytest.approx(truth, rel=1e-9)
    found = ShuffledPairs((*others, worst)).largest(np.array([0.1]), rtol=1e-6)[0]
    assert found.lower <= truth <= found.upper <= truth + 1e-9


def test_logarithms_are_rounded_outward():
    first = 4.9465762361844635e-152
    laws = [0.0, 0.5], [first, 0.5], [0.0, 1.0]
    found = ShuffledPair(*map(np.array, laws), 1, 0.5).log_delta(0.0)
    with mpmath.workdps(40):
        assert found.lower < mpmath.log(mpmath.mpf(first)) < found.upper


def drawn_pairs(rng, n, classes, count):
    for _ in range(count):
        first, second = rng.dirichlet(np.ones(classes), size=2)
        yield ShuffledPair.among(Laws.of_doubles(np.minimum(first, second), first, second), n)


@pytest.mark.parametrize("n", [1, 2, 50, 10**5])
@pytest.mark.parametrize("count", [1, 3, 9])
def test_many_epsilons_and_pairs_at_once(n, count):
    rng = np.random.default_rng(n + count)
    pairs = list(drawn_pairs(rng, n, 4, count - 1)) + list(drawn_pairs(rng, n, 3, 1))
    together = ShuffledPairs(tuple(pairs))
    epsilons = np.array([0.0, 1e-6, 0.01, 0.1, 0.5, 2.0])
    found = together.largest(epsilons, rtol=1e-6)
    for place, epsilon in enumerate(epsilons.tolist()):
        alone = [pair.log_delta(epsilon) for pair in pairs]
        lower, upper = max(each.lower for each in alone), max(each.upper for each in alone)
        assert found.lower[place] <= upper
        assert lower <= found.upper[place]
        assert found.upper[place] == pytest.approx(upper, rel=1e-7, abs=3e-6)


def test_an_evaluation_is_enough_to_compute_the_bound_again():
    """The sum over all nodes of the contour that is kept, in 30 digits."""
    curve = proved_curve(randomizer("k-rr", k=10, max_epsilon_local=4.0), n=3_000)
    found = curve.evaluation(0.7)
    (pair,) = found.pairs
    assert pair.method == "contour"
    assert found.log_delta == pair.log_upper
    with mpmath.workdps(30):
        mpf, steps = mpmath.mpf, {name: mpmath.mpf(value) for name, value in pair.steps.items()}
        ratio = mpmath.exp(mpf(found.epsilon))
        values = [
            (mpf(p) - ratio * mpf(q)) / mpf(w)
            for w, p, q in zip(pair.reference, pair.first, pair.second, strict=True)
        ]
        scale = max(map(abs, values))
        step, tau = 2 * mpmath.pi / steps["period"], steps["tau"]
        total = mpf(0)
        for node in range(int(steps["last"]) + 1):
            z = steps["theta"] + 1j * step * node
            moment = mpf(pair.rest)
            for w, value in zip(pair.reference, values, strict=True):
                moment += mpf(w) * mpmath.exp(z * value / scale)
            y = (tau * z) ** 2
            kernel = 1 / z**2 - tau**2 * (0.5 - 0.155679543 * (1 + y))
            term = (moment**pair.n * mpmath.exp(y / 2) * kernel).real
            total += term if node == 0 else 2 * term
        upper = mpmath.log(total * step / (2 * mpmath.pi) * scale / pair.n)
    assert upper <= pair.log_upper <= upper + 1e-6


def test_an_evaluation_is_a_document():
    matrix = [[5, 3, 1, 1], [1, 5, 3, 1], [1, 1, 5, 3], [3, 1, 1, 5], [2, 3, 2, 3]]
    curve = proved_curve(randomizer("matrix", matrix=matrix), n=1_000)
    found = curve.evaluation(0.3)
    assert len(found.pairs) == 20
    assert {pair.method for pair in found.pairs} >= {"ceiling", "contour"}
    assert found.log_delta == max(pair.log_upper for pair in found.pairs if pair.steps)
    assert math.exp(found.log_delta) == pytest.approx(curve.delta(0.3), rel=1e-9)
    assert '"direction": "upper"' in found.to_json()


def test_what_is_kept_of_a_coarse_law_and_of_a_quick_bound():
    grid = {"low": 0.0, "high": 1.0, "step": 1.0}
    noisy = randomizer("gaussian", max_epsilon_local=0.02, grid=grid)
    (pair, *_) = proved_curve(noisy, n=100_000).evaluation(2e-5).pairs
    assert len(pair.reference) > 600
    assert pair.method == "contour"
    assert 2 <= pair.steps["points"] <= 300
    matrix = [[5, 3, 1, 1], [1, 5, 3, 1], [1, 1, 5, 3], [3, 1, 1, 5], [2, 3, 2, 3]]
    quick = proved_curve(randomizer("matrix", matrix=matrix), n=1_000).evaluation(0.3).pairs
    assert {len(pair.steps) for pair in quick if pair.method == "ceiling"} == {0}
