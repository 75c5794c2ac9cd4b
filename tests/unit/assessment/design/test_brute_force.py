"""On a grid of mechanisms, epsilon_local and batches nothing beats what was designed.

The grid is judged by the bounds themselves, not by the ladder, and lies around the designed plans:
it contains their epsilon_local and its neighbours of four digits, and one person less.
"""

import math

import numpy as np
import pytest

from croupier.accounting.amplify import proved_curve
from croupier.assessment.design.design import design
from croupier.assessment.design.family import decimal_at, index_of
from croupier.errors import ParameterError
from croupier.leakage.reidentification import reidentification
from croupier.randomizers import randomizer

CATEGORICAL = ("k-rr", "symmetric-unary", "optimized-unary", "rappor", "local-hashing", "hadamard")
CATEGORICAL += ("subset-selection",)
NUMERICAL = ("laplace", "gaussian", "one-bit-mean")

TARGETS = [
    {"k": 2, "enrolled": 10_000, "target_error": 0.02, "max_epsilon": 0.5},
    {"k": 4, "enrolled": 20_000, "target_error": 0.01, "max_reidentification": 0.005},
    {"k": 10, "enrolled": 50_000, "target_error": 0.008, "max_epsilon_local": 2.5},
    {
        "k": 50,
        "enrolled": 1_000_000,
        "corrupt_fraction": 0.05,
        "target_error": 5e-4,
        "max_epsilon": 0.1,
        "max_reidentification": 5e-4,
    },
    {
        "grid": {"low": 0.0, "high": 1.0, "step": 0.25},
        "enrolled": 50_000,
        "target_error": 0.01,
        "max_epsilon": 0.2,
    },
]
"""Each kind of limit, alone and together, with and without corrupt people, on both domains."""
MORE_TARGETS = [
    {"k": 3, "enrolled": 100_000, "target_error": 0.01, "max_epsilon": 0.1},
    {"k": 10, "enrolled": 50_000, "target_error": 0.01, "max_epsilon": 0.3},
    {"k": 20, "enrolled": 200_000, "target_error": 0.004, "max_epsilon": 0.1},
    {
        "k": 100,
        "enrolled": 1_000_000,
        "corrupt_fraction": 0.1,
        "target_error": 0.002,
        "max_epsilon": 0.05,
        "max_reidentification": 1e-4,
        "max_epsilon_local": 3.0,
    },
    {"k": 300, "enrolled": 500_000, "target_error": 0.003, "max_epsilon": 0.2},
]
ALL = [*TARGETS, *(pytest.param(target, marks=pytest.mark.proof) for target in MORE_TARGETS)]


def batch(found):
    return found.plan.protections.minimum_batch


def asked(found):
    return found.plan.randomizer.specification["max_epsilon_local"]


def keeps(made, n, corrupt, delta, target):
    """Whether the limits hold against a reader of the batch, with and without corrupt people."""
    for lost in {0, corrupt}:
        link = target.get("max_reidentification")
        if link and reidentification(made, n=n, corrupt=lost).upper.value > link:
            return False
        epsilon = target.get("max_epsilon")
        curve = proved_curve(made, n=n, corrupt=lost)
        if epsilon and curve.log_delta(epsilon) > math.log(delta):
            return False
    return made.epsilon_local <= target.get("max_epsilon_local", 20)


def points(found, most):
    """Around the designed plans, and far from them."""
    indices = [index_of(asked(one)) for one in found]
    near = [decimal_at(index + step) for index in indices for step in (-2, -1, 0, 1)]
    locals_ = {float(f"{value:.4g}") for value in (*near, *np.linspace(0.3, 6, 12))}
    fewest = batch(found[0])
    sizes = {fewest - 1, fewest, most, *np.geomspace(0.8 * fewest, most, 6).astype(int).tolist()}
    return sorted(locals_), sorted(size for size in sizes if 2 <= size <= most)


@pytest.mark.slow
@pytest.mark.parametrize("target", ALL, ids=lambda target: f"k{target.get('k', 'grid')}")
def test_no_point_of_a_grid_is_better(target):
    # Dummies are offered beside local noise, and compared with nothing on the grid.
    found = [each for each in design(**target) if not any(each.plan.dummies)]
    most, delta = target["enrolled"] // 2, 0.01 / target["enrolled"]
    corrupt = math.floor(target.get("corrupt_fraction", 0) * target["enrolled"])
    fewest = min(map(batch, found))
    least_local = min(map(asked, found))
    least_epsilon = min(one.epsilon.value for one in found)
    domain = {name: target[name] for name in ("k", "grid") if name in target}
    feasible = 0
    locals_, sizes = points(found, most)
    for mechanism in CATEGORICAL if "k" in domain else NUMERICAL:
        for local in locals_:
            try:
                made = randomizer(mechanism, max_epsilon_local=local, **domain)
            except ParameterError:
                continue
            for n in sizes:
                if corrupt > n - 2 or made.rms_error(n) > target["target_error"]:
                    continue
                point = f"{mechanism} {local} {n}"
                quieter = proved_curve(made, n=n).log_delta(least_epsilon * (1 - 1e-6))
                rivals = (n < fewest, local < least_local, quieter <= math.log(delta))
                if any(rivals):
                    assert not keeps(made, n, corrupt, delta, target), (point, rivals)
                elif (mechanism, n) == (found[0].plan.randomizer.mechanism, fewest):
                    feasible += keeps(made, n, corrupt, delta, target)
    assert feasible, "the grid contains the plan that releases soonest"
