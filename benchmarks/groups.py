"""The time and memory for groups, reference order and exact sensitivity of many people.

Run: python -m benchmarks.groups [--people 1000000] [--mean-size 100] [--json]
"""

import argparse
import json
import math
import resource
import time

import numpy as np

from croupier.shufflers.groups import Groups
from croupier.shufflers.ordering import best_order


def peak_gigabytes() -> float:
    """The most memory that the process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--mean-size", type=float, default=100)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    places = np.random.default_rng(0).random((arguments.people, 2))
    radius = math.sqrt(arguments.mean_size / (math.pi * arguments.people))
    start = time.perf_counter()
    groups = Groups.by_radius(places, radius)
    grouped = time.perf_counter()
    figures = {"groups, s": grouped - start, "groups, peak GB": peak_gigabytes()}
    best = best_order(groups, places)
    figures["all orders and their exact sensitivities, s"] = time.perf_counter() - grouped
    figures["everything, s"] = time.perf_counter() - start
    figures["everything, peak GB"] = peak_gigabytes()
    figures["members per group"] = float(groups.sizes.mean())
    for candidate in best.candidates:
        figures[f"sensitivity, {candidate.name}"] = candidate.sensitivity
        figures[f"bound by the width, {candidate.name}"] = candidate.paper_bound
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, figure in figures.items():
            print(f"{figure:20,.2f}  {name}")


if __name__ == "__main__":
    main()
