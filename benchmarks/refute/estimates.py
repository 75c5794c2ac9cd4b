"""Bias and error of estimates, against a list of all reports of a person."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.refute.draws import rows as drawn_rows
from benchmarks.refute.found import Found
from croupier.errors import CroupierError
from croupier.model.randomizer import Randomizer
from croupier.randomizers import randomizer

__all__ = ["search"]

SLACK = 1e-8
Real = NDArray[np.float64]


def search(random: Random, found: Found, *, made: Callable[..., Randomizer] = randomizer) -> None:
    """Try one random mechanism."""
    specification = _mechanism(random)
    try:
        mechanism = made(**specification)
        law = mechanism.channel().probabilities
        points, quantity = _points(mechanism)
    except CroupierError:
        return  # refused, in words
    inputs = mechanism.channel().inputs
    case = str(specification)
    mean = law @ points
    target = np.eye(len(law)) if quantity == "share" else np.array(inputs, float)
    target = target.reshape(mean.shape)
    off = float(np.abs(mean - target).max())
    found.expect("unbiased", off <= SLACK * max(1.0, float(np.abs(points).max())), off, 0.0, case)
    spread = np.maximum(law @ points**2 - mean**2, 0.0)
    said = mechanism.rms_error(1) ** 2
    if quantity == "share":
        truth = float(spread.mean())
        found.expect("error", abs(truth - said) <= 1e-6 * said, said, truth, case)
    else:
        found.at_least("error, at most", said * (1 + SLACK), float(spread.max()), case)


def _points(mechanism: Randomizer) -> tuple[Real, str]:
    points = []
    for output in mechanism.channel().outputs:
        report = np.array([list(output)]) if isinstance(output, tuple) else np.array([output])
        estimate = mechanism.estimate_tally(mechanism.tally(report), 1)
        points.append(np.atleast_1d(estimate.points))
    return np.array(points), estimate.quantity


def _mechanism(random: Random) -> dict[str, Any]:
    local, k = random.choice((0.5, 0.7, 1.0, 2.0, 4.0)), random.choice((2, 3, 4, 5))
    oracle = {"k": k, "max_epsilon_local": local, "denominator": random.choice((32, 64))}
    grid = random.choice(((0, 1, 1), (0, 2, 1), (0, 1, 0.25), (-3, 5, 2)))
    mean = {
        "max_epsilon_local": local,
        "grid": {"low": float(grid[0]), "high": float(grid[1]), "step": float(grid[2])},
    }
    shapes = {"values": random.choice((2, 3)), "reports": random.choice((3, 4)), "total": 97}
    return random.choice(
        (
            {"mechanism": "k-rr", **oracle},
            {"mechanism": "symmetric-unary", **oracle, "k": min(k, 4), "denominator": 32},
            {"mechanism": "optimized-unary", **oracle, "k": min(k, 4), "denominator": 32},
            {"mechanism": "hadamard", **oracle},
            {"mechanism": "subset-selection", **oracle, "subset_size": 1 + (k > 3)},
            {"mechanism": "local-hashing", **oracle, "buckets": random.choice((2, 3)), "prime": 7},
            {"mechanism": "rappor", **oracle, "denominator": 32, "bits": 6, "hashes": 1},
            {"mechanism": "rappor", **oracle, "denominator": 32, "bits": 5, "hashes": 2},
            {"mechanism": "laplace", **mean},
            {"mechanism": "gaussian", **mean},
            {"mechanism": "one-bit-mean", **mean},
            {"mechanism": "sampled-sign", "max_epsilon_local": local, "dimension": 3},
            {"mechanism": "matrix", "matrix": drawn_rows(random, "even", **shapes)},
        )
    )
