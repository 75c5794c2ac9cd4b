"""The time of the expected maximum load and of bounds that use it, on one core.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.maximum_load [--json]
"""

import argparse
import json
from collections.abc import Callable

from benchmarks.timing import median
from croupier.leakage.informed import informed_vulnerability
from croupier.leakage.maximum_load import three_cells
from croupier.leakage.poissonised_load import PoissonisedLoad
from croupier.leakage.uninformed import uninformed_vulnerability
from croupier.model import Channel

ROUNDS = 5
BINARY = Channel.from_weights([[4, 1], [1, 4]], 5)
TERNARY = Channel.from_weights([[14, 3, 3], [3, 14, 3], [3, 3, 14]], 20)

TASKS: dict[str, Callable[[], float]] = {
    # Called below the cache of expected_maximum_load, so that the cache is not timed.
    "load_n_1e6_k_3_s": lambda: three_cells(10**6),
    "load_n_1e9_k_3_s": lambda: three_cells(10**9),
    "load_n_1e6_k_4_s": lambda: PoissonisedLoad(10**6, 4).expected_maximum(),
    "load_n_1e6_k_10_s": lambda: PoissonisedLoad(10**6, 10).expected_maximum(),
    "load_n_1e6_k_1000_s": lambda: PoissonisedLoad(10**6, 1000).expected_maximum(),
    "load_n_1e9_k_1000_s": lambda: PoissonisedLoad(10**9, 1000).expected_maximum(),
    "load_n_1e6_k_1e6_s": lambda: PoissonisedLoad(10**6, 10**6).expected_maximum(),
    "load_n_1e13_k_1e33_s": lambda: PoissonisedLoad(10**13, 10**33).expected_maximum(),
    "uninformed_n_1e9_k_2_s": lambda: uninformed_vulnerability(
        BINARY, n=10**9, prior=[0.49999, 0.50001]
    ),
    "informed_n_1e8_k_2_s": lambda: informed_vulnerability(
        BINARY, others=(5 * 10**7, 5 * 10**7 - 1)
    ),
    "informed_n_301_k_3_s": lambda: informed_vulnerability(TERNARY, others=(100, 100, 100)),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    result = {name: median(task, ROUNDS) for name, task in TASKS.items()}
    if as_json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:24} {value:.4f}")


if __name__ == "__main__":
    main()
