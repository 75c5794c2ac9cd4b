"""The time to find the easiest pair of rows of a channel.

Run: python -m benchmarks.bayes_security [--json]; needs the extra `fast`
"""

import argparse
import json

import numpy as np

from benchmarks.timing import least, seconds
from croupier.leakage.bayes_security import bayes_security
from croupier.model import Channel


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    small = Channel.from_probabilities(rng.dirichlet(np.ones(500), size=1000))
    figures = {"first scan, compiling or loading": seconds(lambda: bayes_security(small))}
    for rows, columns in ((2_000, 1_000), (20_000, 100)):
        channel = Channel.from_probabilities(rng.dirichlet(np.ones(columns), size=rows))
        figures[f"{rows:,} x {columns:,}"] = least(lambda c=channel: bayes_security(c), 3)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, figure in figures.items():
            print(f"{figure:10.3f}  {name}")


if __name__ == "__main__":
    main()
