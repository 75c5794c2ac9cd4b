"""The search for a crossing: on smooth functions, steps, flat ones, and ones that jump."""

import math

import numpy as np
import pytest

from croupier.accounting.crossing import crossing

FUNCTIONS = {
    "line": (lambda x: 1.3 - x, 1.3),
    "steep": (lambda x: 1 - np.minimum(x / 0.7, 5) ** 400, 0.7),
    "logarithm": (lambda x: -np.log(np.maximum(x, 1e-300)) - 20, math.exp(-20)),
    "step": (lambda x: np.where(x < 0.123456789, 1.0, -1.0), 0.123456789),
    "jump to nothing": (lambda x: np.where(x < 4.5, 5 - x, -math.inf), 4.5),
    "flat, then falling": (lambda x: np.where(x < 2, 1e-9, 2 - x), 2.0),
    "noisy": (lambda x: 3 - x + 1e-9 * np.sin(1e12 * x), 3.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("near", [1e-15, 1e-3, 1.0, 8.0])
@pytest.mark.parametrize("spread", [1e-4, 0.3, 2.0])
def test_the_crossing_is_between_two_close_points(name, near, spread):
    function, root = FUNCTIONS[name]
    evaluated = []

    def excess(points):
        assert (np.diff(points) > 0).all()
        evaluated.append(len(points))
        return np.asarray(function(points), dtype=float)

    found = crossing(excess, near=near, spread=spread, cap=10.0, sharpness=1e-8)
    assert found.below - found.above <= 1e-8 * found.below
    assert function(np.array([found.above]))[0] > 0 >= function(np.array([found.below]))[0]
    assert found.below == pytest.approx(root, rel=3e-8)
    assert len(evaluated) < 45


def test_functions_that_do_not_cross():
    options = {"near": 1.0, "spread": 0.3, "cap": 5.0, "sharpness": 1e-8}
    assert crossing(lambda x: np.ones(len(x)), **options)[:2] == (5.0, math.inf)
    assert crossing(lambda x: -np.ones(len(x)), **options) == (0.0, 0.0, 0.0)
    assert crossing(lambda x: np.where(x < 1e-300, 1.0, -1.0), **options).below <= 1e-11
