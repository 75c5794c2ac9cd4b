"""Comparison with our peers, in one run.

Run: python -m benchmarks [--list] [--only CASE ...] [--check] [--json FILE] [--page FILE] [--small]
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.machine import circumstances
from benchmarks.measurement import measure
from benchmarks.page import page, table
from benchmarks.results import Comparison, Results, compare

BASELINE = Path(__file__).parent / "baseline.json"


def say(line: str) -> None:
    """Print progress."""
    print(line, file=sys.stderr, flush=True)


def step(ahead: str, what: str) -> None:
    """Print the current step."""
    say(f"{ahead}: {what}")


def run(
    names: list[str], *, small: bool, keep: Callable[[Results], None] = lambda _: None
) -> Results:
    """Measure the cases, one after the other, and save the results after each.

    A failure in one case does not affect the others.
    """
    results = Results(circumstances(), small=small)
    for number, name in enumerate(names, 1):
        case, ahead = CASES[name], f"{number} of {len(names)}  {name}"
        if missing := case.peer.missing():
            say(f"{ahead}: skipped, {missing}")
            results.skipped[name] = missing
            keep(results)
            continue
        try:
            found = measure(case, small=small, say=partial(step, ahead))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - said, and the run fails
            say(f"{ahead}: FAILED, {error}")
            results.failed[name] = f"{type(error).__name__}: {error}".splitlines()[0]
        else:
            say(f"{ahead}: ratio {found.ratio:.3g}")
            results.measured[name] = found
        keep(results)
    return results


def tell(comparison: Comparison) -> None:
    """Print the differences from the baseline."""
    for name, sentence in comparison.regressed.items():
        print(f"REGRESSED  {name}: {sentence}")
    for name in comparison.new:
        print(f"NEW        {name}: not in the baseline")
    for name in comparison.missing:
        print(f"MISSING    {name}: in the baseline and not measured now")
    print(f"{comparison.compared} cases compared, {len(comparison.regressed)} regressed")


def main() -> None:
    """Measure, print, write, and fail if something disagrees or has become slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    parser.add_argument("--only", nargs="+", choices=CASES, metavar="CASE", default=list(CASES))
    parser.add_argument("--check", action="store_true", help=f"compare with {BASELINE.name}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write docs/benchmarks.md")
    parser.add_argument("--small", action="store_true", help="tiny sizes: whether it works")
    given = parser.parse_args()
    if given.list:
        for name, case in CASES.items():
            question = case.question.format(size=f"{case.size:,}")
            print(f"{name:20} {case.peer.package:16} {question}")
        return
    if given.check and given.small:
        parser.error("--small says nothing about speed: leave out --check")

    def keep(results: Results) -> None:
        if given.json:
            results.write(given.json)
        if given.page:
            given.page.write_text(page(results))

    baseline = Results.read(BASELINE) if given.check else None
    results = run(given.only, small=given.small, keep=keep)
    print(table(results))
    failed = bool(results.failed)
    if baseline:
        comparison = compare(results, baseline, asked=given.only)
        tell(comparison)
        failed = failed or not comparison.passed
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
