"""Search for a false number for a given time.

Every search draws random cases one after the other; all searches take turns. Each number that the
package gives is compared with the enumerated truth. Ends with 1 if one is false.

Run: python -m benchmarks.refute [--seconds 600] [--seed 1] [--only SEARCH ...]
"""

import argparse
import sys
import time
from collections import Counter

from benchmarks.refute.found import Found
from benchmarks.refute.searches import SEARCHES, attempt

MOST_SHOWN = 20


def main(arguments: list[str] | None = None) -> int:
    """Search, then print what was compared."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refute", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(SEARCHES), default=list(SEARCHES))
    given = parser.parse_args(arguments)
    found = {name: Found() for name in given.only}
    cases, spent = Counter[str](), Counter[str]()
    start = time.monotonic()
    while time.monotonic() - start < given.seconds:
        # The search with the least time is next, so that all get the same time.
        name = min(given.only, key=lambda each: spent[each])
        before = time.monotonic()
        attempt(name, SEARCHES[name], found[name], number=cases[name], seed=given.seed)
        spent[name] += time.monotonic() - before  # type: ignore[assignment]
        cases[name] += 1
    return tell(found, cases)


def tell(found: dict[str, Found], cases: Counter[str]) -> int:
    """Print cells and violations of every kind; return 1 if there are violations."""
    everything = Found()
    print(f"{'search':<32}{'cases':>8}{'cells':>10}{'violations':>12}")
    for name, own in found.items():
        print(f"{name:<32}{cases[name]:>8,}{own.total:>10,}{len(own.violations):>12,}")
        everything.add(own)
    print(f"{'all':<32}{cases.total():>8,}{everything.total:>10,}{len(everything.violations):>12,}")
    print()
    for kind, cells in sorted(everything.cells.items()):
        wrong = sum(violation.kind == kind for violation in everything.violations)
        print(f"{kind:<40}{cells:>10,}{wrong:>12,}")
    for violation in everything.violations[:MOST_SHOWN]:
        print(f"\nFALSE  {violation}")
    return int(bool(everything.violations))


if __name__ == "__main__":
    sys.exit(main())
