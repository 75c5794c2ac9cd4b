"""The time of one solve (epsilon from n and delta), on one core.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.amplify [--json]
"""

import argparse
import json

import numpy as np

from benchmarks.timing import median
from croupier.accounting.blanket import upper_curve
from croupier.accounting.curve import Curve
from croupier.accounting.pair import Laws, ShuffledPair
from croupier.model import Direction
from croupier.randomizers import randomizer

ROUNDS = 9


def hundred_classes(n: int) -> float:
    """A random pair of laws with a hundred classes."""
    rng = np.random.default_rng(3)
    first, second = rng.dirichlet(np.full(100, 3.0), 2)
    reference = np.minimum(first, second) * rng.uniform(0.5, 1, 100)
    pair = ShuffledPair.among(Laws.of_doubles(reference, first, second), n)
    return Curve([pair], Direction.UPPER, 20.0, "", ()).epsilon(1e-8)


def unary(n: int) -> float:
    """Unary encoding of a thousand categories, from its parameters."""
    return upper_curve(randomizer("optimized-unary", k=1000, max_epsilon_local=4.0), n=n).epsilon(
        1e-10
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    result = {
        "classes_100_n_1e4_s": median(lambda: hundred_classes(10**4), ROUNDS),
        "classes_100_n_1e9_s": median(lambda: hundred_classes(10**9), ROUNDS),
        "unary_1000_n_1e8_s": median(lambda: unary(10**8), ROUNDS),
    }
    result["ratio_1e9_to_1e4"] = result["classes_100_n_1e9_s"] / result["classes_100_n_1e4_s"]
    if as_json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:22} {value:.3f}")


if __name__ == "__main__":
    main()
