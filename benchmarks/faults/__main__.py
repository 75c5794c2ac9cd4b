"""Break the running service, and count lost reports.

Every report that was acknowledged must be in exactly one released batch, every released one must
have been sent, and nobody may be in two batches. Ends with 1 if anything else happens. Needs
PostgreSQL's programs (pg_config on the path); a harness that needs more says so and is skipped.

Run: python -m benchmarks.faults [--kills 60] [--seed 7] [--json]
     python -m benchmarks.faults all [--seconds-per-harness 120] [--json]
     python -m benchmarks.faults HARNESS ... [--seconds-per-harness 120] [--every 1] [--json]
     python -m benchmarks.faults tokens [--spends 5000] [--kills 60] [--seed 7] [--json]
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict

from benchmarks.faults import (
    chaos,
    clock,
    full,
    isolation,
    kills,
    objects,
    points,
    recovery,
    set_back,
    silent,
    tokens,
    two,
)
from benchmarks.faults.result import Result, as_json, as_table

HARNESSES: Mapping[str, Callable[[argparse.Namespace], Result]] = {
    "kills": lambda given: kills.run(seconds=given.seconds_per_harness, seed=given.seed),
    "points": lambda given: points.run(every=given.every, offset=given.seed),
    "objects": lambda given: objects.run(every=given.every, offset=given.seed),
    "chaos": lambda given: chaos.run(seconds=given.seconds_per_harness, seed=given.seed),
    "isolation": lambda given: isolation.run(seconds=given.seconds_per_harness),
    "set_back": lambda _: set_back.run(),
    "recover": lambda given: recovery.run(every=given.every, offset=given.seed),
    "silent": lambda _: silent.run(),
    "full": lambda given: full.run(seconds=given.seconds_per_harness / 4),
    "clock": lambda _: clock.run(),
    "tokens": lambda given: tokens.run(spends=given.spends, kills=given.kills, seed=given.seed),
    "two": lambda given: two.run(kills=given.kills, seed=given.seed),
}


def main(arguments: list[str] | None = None) -> int:
    """Run, print, and tell whether anything was lost, doubled, invented or left behind."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("harness", nargs="*", choices=[*HARNESSES, "all", []], metavar="HARNESS")
    parser.add_argument("--seconds-per-harness", type=float, default=120.0)
    parser.add_argument("--every", type=int, default=1, help="try only every n-th point")
    parser.add_argument(
        "--kills",
        type=int,
        default=60,
        help="without a harness, for tokens and for two: the number of kills",
    )
    parser.add_argument("--spends", type=int, default=5_000, help="for tokens: their number")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    if not given.harness:
        return _kill(given)
    names = HARNESSES if "all" in given.harness else given.harness
    results = []
    for name in names:
        print(f"{name} ...", file=sys.stderr)
        results.append(HARNESSES[name](given))
    print(as_json(results) if given.json else as_table(results))
    return int(not all(result.is_clean for result in results))


def _kill(given: argparse.Namespace) -> int:
    """Run only the kills, with all figures."""
    result, figures = kills.counted(kills=given.kills, seed=given.seed)
    counts = figures | asdict(result.verdict)
    if given.json:
        print(json.dumps(counts))
    else:
        for name, value in counts.items():
            print(f"{name:24} {value}")
    return int(not result.is_clean)


if __name__ == "__main__":
    sys.exit(main())
