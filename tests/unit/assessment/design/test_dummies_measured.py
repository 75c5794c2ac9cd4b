"""The benchmark of dummies: measured errors agree with the formula, and dummies win."""

import pytest

from benchmarks.dummies import Collection


def test_dummies_err_less_than_k_rr_at_equal_epsilon():
    """Seeded, so that the outcome is always the same."""
    noisy, one, two = Collection(n=2000, k=10, delta=1e-6, runs=60, seed=3).rows(1.0)
    for row in (noisy, one, two):
        assert row.epsilon == pytest.approx(1.0, rel=1e-5)
        assert row.error == pytest.approx(row.formula, rel=0.1)
    assert two.error / one.error == pytest.approx(2**0.5, rel=0.1)
    assert one.error < two.error < 0.6 * noisy.error
    assert one.same_error < two.same_error < 0.6
