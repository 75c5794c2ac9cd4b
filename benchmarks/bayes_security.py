"""Time to find the easiest pair of rows of a channel, beside scipy and qif.

Run: python benchmarks/bayes_security.py [--json]; needs the extra `fast`, qif where installed
"""

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import pdist

from croupier.leakage.bayes_security import bayes_security
from croupier.model import Channel


def seconds(task: Callable[[], object], rounds: int = 3) -> float:
    """The least of a few runs."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    bayes_security(Channel.from_probabilities(rng.dirichlet(np.ones(500), size=1000)))
    figures = {"first scan, compiling or loading": time.perf_counter() - start}
    rows = rng.dirichlet(np.ones(1000), size=2000)
    channel = Channel.from_probabilities(rows)
    ours = seconds(lambda: bayes_security(channel))
    figures["2,000 x 1,000"] = ours
    figures["2,000 x 1,000, times faster than scipy pdist"] = (
        seconds(lambda: pdist(rows, "cityblock").max()) / ours
    )
    try:
        import qif  # noqa: PLC0415 - a peer, not a dependency
    except ImportError:
        pass
    else:
        peer = seconds(lambda: qif.measure.bayes_risk.mult_capacity(rows, "direct"), rounds=1)
        figures["2,000 x 1,000, times faster than qif"] = peer / ours
    tall = Channel.from_probabilities(rng.dirichlet(np.ones(100), size=20_000))
    figures["20,000 x 100"] = seconds(lambda: bayes_security(tall))
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, figure in figures.items():
            print(f"{figure:10.3f}  {name}")


if __name__ == "__main__":
    main()
