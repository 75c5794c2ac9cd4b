"""Coarser laws: one on either side of the true one, and close to it."""

from itertools import product

import numpy as np
import pytest

from croupier.accounting.sums import contour
from croupier.accounting.sums.coarse import merged, spread_out
from croupier.accounting.sums.contour import contour_bounds
from croupier.accounting.sums.terms import Terms


def drawn(rng, rows, classes):
    weights = rng.dirichlet(np.full(classes, 0.5), size=rows)
    rest = np.where(np.arange(rows) % 2, 0.25, 0.0)
    weights *= (1 - rest)[:, None]
    values = rng.normal(size=(rows, classes))
    return Terms(weights, values, weights * np.abs(values), rest)


def mean_positive_part(terms, row, n):
    """E[S_+], all ways of n terms added up."""
    chances = [*terms.weights[row].tolist(), float(terms.rest[row])]
    values = [*terms.values[row].tolist(), 0.0]
    total = 0.0
    for picked in product(range(len(values)), repeat=n):
        amount = sum(values[place] for place in picked)
        total += max(0.0, amount) * np.prod([chances[place] for place in picked])
    return total


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("points", [2, 4, 8, 20])
def test_the_true_law_is_between_the_coarser_ones(n, points):
    terms = drawn(np.random.default_rng(n), 6, 9)
    above, below = spread_out(terms, points), merged(terms, points)
    for coarse in (above, below):
        assert coarse.weights.sum(axis=1) == pytest.approx(terms.weights.sum(axis=1), rel=1e-14)
        mean, kept = ((law.weights * law.values).sum(axis=1) for law in (terms, coarse))
        assert kept == pytest.approx(mean, rel=1e-13, abs=1e-14)
        assert (coarse.sizes >= coarse.weights * np.abs(coarse.values) * (1 - 1e-14)).all()
        assert coarse.weights.shape[1] <= max(points, 2)
    for row in range(6):
        low, exact, high = (mean_positive_part(law, row, n) for law in (below, terms, above))
        assert low <= exact * (1 + 1e-13)
        assert exact <= high * (1 + 1e-13)
        if points >= 9:
            assert low == pytest.approx(high, rel=1e-12)


def test_values_that_never_occur_do_not_count():
    terms = Terms(
        *(np.array([row]) for row in ([0.0, 0.5, 0.5], [9.0, -1.0, 1.0], [0, 0.5, 0.5])),
        np.zeros(1),
    )
    for coarse in (spread_out(terms, 5), merged(terms, 5)):
        assert coarse.values.tolist() == [[-1.0, 1.0]]


@pytest.mark.parametrize("ends", [[2.0, 2.0], [2.0, 2.0 + 1e-15], [0.5, 0.5]])
@pytest.mark.parametrize("low", [-1.0, 0.5])
def test_equal_values(ends, low):
    """The largest value twice, far from the others; and all values equal."""
    values = np.append(np.linspace(low, 0.5 * (low > 0), 700), ends)[None]
    weights = np.full_like(values, 1 / 702)
    found = contour_bounds(
        Terms(weights, values, weights * np.abs(values), np.zeros(1)), 50, rtol=1e-6
    )
    assert found.lower[0] <= found.upper[0] < np.inf
    if values.min() > 0:  # then the sum is positive
        mean = np.log(50 * values.mean())
        assert found.lower[0] - 1e-9 <= mean <= found.upper[0] + 1e-9


@pytest.mark.parametrize("n", [20, 1000, 10**6])
def test_a_contour_of_a_coarse_law_encloses_that_of_the_whole(n, monkeypatch):
    rng = np.random.default_rng(n)
    values = np.sort(rng.normal(size=(4, 900)), axis=1)
    weights = rng.dirichlet(np.full(900, 5.0), size=4)
    values -= (weights * values).sum(axis=1, keepdims=True) + 2 / np.sqrt(n)
    terms = Terms(weights, values, weights * np.abs(values), np.zeros(4))
    coarse = contour_bounds(terms, n, rtol=1e-6)
    assert (coarse.steps["points"] > 0).all()
    monkeypatch.setattr(contour, "_MOST_CLASSES", 1000)
    monkeypatch.setattr(contour, "_MOST_CELLS", 10**7)
    whole = contour_bounds(terms, n, rtol=1e-6)
    assert not whole.steps["points"].any()
    assert (coarse.lower <= whole.upper).all()
    assert (whole.lower <= coarse.upper).all()
    assert coarse.upper - coarse.lower == pytest.approx(0, abs=0.05 if n == 20 else 2e-3)
    assert whole.upper - whole.lower == pytest.approx(0, abs=1e-5)
