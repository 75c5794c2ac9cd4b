"""The time of every attack on a batch of 100,000 people, 10,000 games each, with intervals.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.attack [--n 100000] [--games 10000] [--json]
"""

import argparse
import json
import time

from croupier.auditing.attacks.attacks import Suite
from croupier.plan.plan import Plan

PLAN = {
    "schema": 2,
    "randomizer": {"mechanism": "k-rr", "k": 50, "max_epsilon_local": 4.0},
    "guarantee": {"delta": 1e-8},
}


def main() -> None:
    """Print processor seconds per attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    people = {"population": {"enrolled": given.n}, "protections": {"minimum_batch": given.n}}
    suite = Suite.of(Plan.model_validate(PLAN | people))
    found = {}
    for game in suite.attacks:
        single = Suite(suite.plan, (game,), ())
        _ = single.ladder  # proved once for all games, and not an attack
        start = time.process_time()
        single.play(games=given.games, insecure_seed=1)
        found[f"{game.scene.rung}_{game.name}_s"] = round(time.process_time() - start, 3)
    found["all_s"] = round(sum(found.values()), 3)
    if given.json:
        print(json.dumps(found))
        return
    for name, seconds in found.items():
        print(f"{name:24} {seconds:8.3f}")


if __name__ == "__main__":
    main()
