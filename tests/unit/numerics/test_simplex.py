import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from croupier.numerics.simplex import simplex_projection

ROWS = arrays(np.float64, (4, 5), elements=st.floats(-3, 3, width=32))


@given(ROWS)
def test_rows_are_shares_and_none_is_nearer(points):
    found = simplex_projection(points)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    # The nearest point of a convex set: every corner lies on its far side.
    corners = np.eye(5)
    for row, near in zip(points, found, strict=True):
        assert ((corners - near) @ (row - near) <= 1e-9).all()
    np.testing.assert_allclose(simplex_projection(points[0]), found[0])
