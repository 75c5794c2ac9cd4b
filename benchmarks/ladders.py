"""Processor seconds of the ladders of all example plans and of random plans of every kind.

A ladder is what `croupier assess` prints: all rungs, 30 collections, everybody, and the periods.

Run: python -m benchmarks.ladders [--plans N] [--seed S] [--most SECONDS]
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.refute.plans import MODELS, ORDERS, PUBLICATIONS
from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.errors import ParameterError, TooLargeError
from croupier.plan.file import PlanError
from croupier.plan.plan import Plan

PLANS = Path(__file__).parents[1] / "examples" / "plans"
TYPICAL = """
schema = 2
randomizer = {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}
population = {enrolled = 1_000_000, corrupt_fraction = 0.05}
protections.minimum_batch = 200_000
guarantee.delta = 1e-8
"""
WITH_K = ("k-rr", "optimized-unary", "symmetric-unary", "subset-selection", "hadamard")
WITH_GRID = ("one-bit-mean", "laplace", "gaussian", "distribution")
HASHING = ("local-hashing", "dictionary", "rappor")
"""Mechanisms with a number of values, with a grid, and those that hash."""

Tables = dict[str, Any]


def random_plan(random: Random) -> Plan:
    """A plan of any kind, for ten to 10^9 people; its epsilons may be foolish."""
    while True:
        try:
            return Plan.from_document(_document(random))
        except (PlanError, ParameterError, TooLargeError):
            continue


def _document(random: Random) -> Tables:
    least, model = int(10 ** random.uniform(1, 9)), random.choice(MODELS)
    groups = 2 if model in ("divide", "bins", "rectified-bins") else 1
    rounds = random.choice((1, 1, 4, 30))
    return {
        "schema": 2,
        "name": "random",
        "population": {
            "enrolled": groups * least * random.choice((1, 2, 10)),
            "corrupt_fraction": random.choice((0.0, 0.01, 0.1)),
        },
        "protections": {"minimum_batch": least, "report_size": 4096},
        "guarantee": {"delta": 10 ** -random.uniform(2, 15)},
        "analyzer": {"publication": random.choice(PUBLICATIONS)},
        "collection": {"rounds": rounds},
        "participation": _participation(random, model, rounds),
        **_asked(random, model),
        **_order(random, least),
        **_shufflers(random),
    }


def _participation(random: Random, model: str, rounds: int) -> Tables:
    weights = [1, random.choice((1, 3))]
    own: Tables = {}
    if model.endswith("bins"):
        own = {"bins": [weights, [1, 1]]}
    elif model.endswith(("parallel", "multinomial")):
        own = {"weights": weights}
    elif model == "divide":
        own = {"groups": 2}
    noise = random.choice(("fresh", "fresh", "reused")) if rounds > 1 else "fresh"
    return {"model": model, "noise": noise, **own}


def _asked(random: Random, model: str) -> Tables:
    """One question, or two where the model has several."""
    if model == "together" or (model not in ("single", "subsample") and random.random() < 0.5):
        return {"questions": [_mechanism(random), _mechanism(random)]}
    return {"randomizer": _mechanism(random)}


def _mechanism(random: Random) -> Tables:
    name = random.choice((*WITH_K, *WITH_GRID, *HASHING, "sampled-sign", "memoised-k-rr", "matrix"))
    local = random.choice((0.1, 0.5, 1.0, 2.0, 4.0, 8.0))
    found: Tables = {"mechanism": name, "max_epsilon_local": local}
    if name in WITH_GRID:
        points = 64 if name == "distribution" else random.choice((2, 11, 21))
        return found | {"grid": {"low": 0.0, "high": points - 1.0, "step": 1.0}}
    if name == "sampled-sign":
        return found | {"dimension": random.choice((2, 20, 1000))}
    if name == "matrix":
        entries = [[random.randrange(1, 20) for _ in range(4)] for _ in range(3)]
        return {"mechanism": name, "matrix": entries}
    if name == "memoised-k-rr":
        return found | {"k": 5, "max_epsilon_permanent": 2 * local}
    if name == "dictionary":
        return found | {"k": 10_000}
    return found | {"k": random.choice((2, 3, 10, 50, 1000))}


def _order(random: Random, least: int) -> Tables:
    order, digest = random.choice(ORDERS), "0" * 64
    if order == "groups":
        return {"shuffling": {"order": "uniform", "groups": {"sha256": digest}}}
    if order == "mallows":
        groups = {"sha256": digest, "sensitivity": least}
        return {"shuffling": {"order": "mallows", "alpha": 1.0, "groups": groups}}
    return {}


def _shufflers(random: Random) -> Tables:
    """Mostly one shuffler without dummies."""
    if random.random() < 0.8:
        return {}
    dummies = {"epsilon": random.choice((0.5, 1.0)), "delta": 1e-9}
    return {"shufflers": [{"operator": f"party {n}", "dummies": dummies} for n in (1, 2)]}


def seconds(make: Callable[[], object]) -> float:
    """The processor time that something takes."""
    start = time.process_time()
    make()
    return time.process_time() - start


def everything(plan: Plan) -> None:
    """Prove all that `croupier assess` prints."""
    ladder: Ladder = assess(plan)
    _ = ladder.repeated, ladder.everybody, ladder.periods


def main() -> None:
    """Measure, print the table, and fail if one takes too long."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ladders", description=__doc__)
    parser.add_argument("--plans", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=28, metavar="S")
    parser.add_argument("--most", type=float, default=3.0, metavar="SECONDS")
    given = parser.parse_args()
    everything(Plan.from_toml(TYPICAL))  # what is imported on first use
    typical = min(seconds(lambda: assess(Plan.from_toml(TYPICAL))) for _ in range(5))
    print(f"a typical ladder: {typical:.3f} s")
    examples = {path.stem: Plan.load(path) for path in sorted(PLANS.glob("*.toml"))}
    random = Random(given.seed)  # noqa: S311 - plans, not secrets
    drawn = {f"random plan {n}": random_plan(random) for n in range(given.plans)}
    print("| plans | number | median | 95th percentile | worst |\n|---|---|---|---|---|")
    slow: list[str] = []
    for kind, plans in (("examples", examples), ("random", drawn)):
        taken = {}
        for name, plan in plans.items():
            taken[name] = seconds(lambda plan=plan: everything(plan))  # type: ignore[misc]
            if taken[name] > given.most:
                slow.append(f"{name}: {taken[name]:.2f} s\n{plan.to_toml()}")
        found = sorted(taken.values())
        row = statistics.median(found), found[int(0.95 * (len(found) - 1))], found[-1]
        print(f"| {kind} | {len(found)} | " + " | ".join(f"{each:.2f} s" for each in row) + " |")
        print(f"worst: {max(taken, key=taken.__getitem__)}", file=sys.stderr)
    if slow:
        sys.exit("\n".join(slow))


if __name__ == "__main__":
    main()
