"""The time to draw Mallows orders and to find sensitivities.

Run: python -m benchmarks.mallows [--json]; needs the extra `fast`
"""

import argparse
import json
import sys
from types import SimpleNamespace

import numpy as np

from benchmarks.timing import least, seconds
from croupier.shufflers.mallows import MallowsShuffler
from croupier.shufflers.sensitivity import group_sensitivities

KERNEL = "croupier.shufflers.mallows_kernel"


def drawing() -> dict[str, float]:
    """Orders of a million and of ten million."""
    first = seconds(lambda: MallowsShuffler(theta=1.0).order(10**6))
    figures = {"first order, compiling or loading": first}
    for n, rounds in ((10**6, 3), (10**7, 2)):
        reference = np.random.default_rng(0).permutation(n)
        for theta in (0.01, 1e-4, 1e-6, 1e-12, 0.0):
            shuffler = MallowsShuffler(theta=theta, reference=reference)
            name = f"n = {n:.0e}, theta = {theta:g}"
            figures[f"{name}, exact"] = least(lambda s=shuffler, m=n: s.order(m), rounds)
    return figures


def without_numba() -> dict[str, float]:
    """Draw orders without the compiled module."""
    compiled = sys.modules.pop(KERNEL, None)
    sys.modules[KERNEL] = None  # type: ignore[assignment]
    figures = {
        f"n = {n:.0e}, theta = 1e-06, exact, without numba": least(
            lambda m=n: MallowsShuffler(theta=1e-6).order(m), rounds
        )
        for n, rounds in ((10**6, 3), (10**7, 1))
    }
    del sys.modules[KERNEL]
    if compiled is not None:
        sys.modules[KERNEL] = compiled
    return figures


def sensitivities() -> dict[str, float]:
    """A million groups of thirty."""
    n, size = 10**6, 30
    members = (np.arange(n)[:, None] + 3 * np.arange(size)).ravel() % n
    groups = SimpleNamespace(n=n, starts=np.arange(n + 1) * size, members=members)
    position = np.random.default_rng(0).permutation(n)
    return {"1e6 groups of 30": least(lambda: group_sensitivities(groups, position), 2)}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = drawing() | without_numba() | sensitivities()
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, figure in figures.items():
            print(f"{figure:10.4f}  {name}")


if __name__ == "__main__":
    main()
