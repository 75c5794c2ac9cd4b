"""Secure, exact k-RR beside the plain insecure numpy version, in one run.

Run: python benchmarks/randomize.py [--json]
"""

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from croupier.randomizers import KaryRandomizedResponse

N, K, EPSILON, ROUNDS = 10_000_000, 10, 4.0, 7


def plain(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """What a careful person writes with numpy's generator: fast, predictable, not exact."""
    rng = np.random.default_rng()
    keep = rng.random(len(values)) < np.exp(EPSILON) / (np.exp(EPSILON) + K - 1)
    other = rng.integers(0, K - 1, len(values))
    other += other >= values
    return np.where(keep, values, other)


def seconds(task: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def main() -> None:
    """Measure both in turn and print the ratio of the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    values = np.random.default_rng(0).integers(0, K, N)
    response = KaryRandomizedResponse(k=K, epsilon_local=EPSILON)
    pairs = [
        (seconds(lambda: response.randomize(values)), seconds(lambda: plain(values)))
        for _ in range(ROUNDS)
    ]
    secure, insecure = np.median(pairs, axis=0)
    result = {"n": N, "k": K, "secure_s": secure, "numpy_s": insecure, "ratio": secure / insecure}
    if as_json:
        print(json.dumps(result))
    else:
        print(f"secure and exact {secure:.3f} s, plain numpy {insecure:.3f} s")
        print(f"ratio {secure / insecure:.2f}")


if __name__ == "__main__":
    main()
