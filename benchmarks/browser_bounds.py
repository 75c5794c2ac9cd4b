"""The bounds that the documentation's calculator computes in a browser, against Python's brackets.

Run: python -m benchmarks.browser_bounds [--questions N] [--seed S]

Exits with 1 if a bound is below the lower end of a bracket, or more than 1 % above the upper one.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from croupier.accounting.amplify import bracket
from croupier.accounting.dummies import DummyCurve, DummyFloor
from croupier.randomizers import KaryRandomizedResponse
from croupier.shufflers.dummies import DummyTable

__all__ = ["LARGEST_RATIO", "answers", "brackets", "draw"]

WEB = Path(__file__).parents[1] / "web"
NODE = ("node",)
LARGEST_RATIO = 1.01
"""The most that a bound in the browser may be above Python's."""

_DUMMIES = 6
"""One question out of so many is about dummies."""

_RUN = """
import { createInterface } from "node:readline";
const bounds = await import(process.argv[1]);
const lines = createInterface({ input: process.stdin });
const questions = [];
for await (const line of lines) {
  const { max_epsilon_local: maxEpsilonLocal, ...rest } = JSON.parse(line);
  questions.push({ maxEpsilonLocal, ...rest });
}
for (const question of questions.slice(0, 50)) bounds.answered(question);
for (const question of questions) {
  const start = performance.now();
  const answer = bounds.answered(question);
  process.stdout.write(`${JSON.stringify({ ...answer, ms: performance.now() - start })}\\n`);
}
"""

Question = dict[str, Any]


def draw(rng: np.random.Generator) -> Question:
    """Draw a question; of half of those about k-RR, with a delta at which shuffling matters."""
    if rng.random() < 1 / _DUMMIES:
        k, epsilon = int(10 ** rng.uniform(math.log10(2), 5)), float(10 ** rng.uniform(-1, 1.3))
        return {"about": "dummies", "k": k, "epsilon": epsilon, "delta": _delta(rng, 0.1)}
    epsilon_local = float(10 ** rng.uniform(-2, math.log10(14)))
    k, n = int(10 ** rng.uniform(math.log10(2), 6)), int(10 ** rng.uniform(math.log10(2), 10))
    gain = math.expm1(epsilon_local)
    share = 1 / (gain + k)
    # delta at epsilon 0 is the mean of |A - B|/2 steps of the gain, A and B about Bin(n, share).
    most = gain * min(share, math.sqrt(share / (math.pi * n)))
    delta = _delta(rng, 0.5 if rng.random() < 0.5 else max(2e-15, min(0.5, most)))
    return {"about": "k-rr", "k": k, "max_epsilon_local": epsilon_local, "n": n, "delta": delta}


def _delta(rng: np.random.Generator, most: float) -> float:
    return float(10 ** rng.uniform(-15, math.log10(most)))


def brackets(question: Question) -> tuple[float, float]:
    """Prove both ends of epsilon in Python."""
    if question["about"] == "dummies":
        table = DummyTable.two_sided_geometric(epsilon=question["epsilon"], delta=question["delta"])
        ends = (DummyFloor(table), DummyCurve(table))
        lower, upper = (end.epsilon(question["delta"]) for end in ends)
        return lower, upper
    response = KaryRandomizedResponse(
        k=question["k"], max_epsilon_local=question["max_epsilon_local"]
    )
    found = bracket(response, n=question["n"], delta=question["delta"])
    return float(found.lower.value), float(found.upper.value)


def answers(questions: list[Question]) -> list[dict[str, Any]]:
    """Compute the bounds with the page's own code, in node."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "bounds.mjs"
        made = [*NODE, "node_modules/rolldown/bin/cli.mjs", "src/bounds/index.ts"]
        subprocess.run(  # noqa: S603 - our own code
            [*made, "--format", "es", "--file", str(bundle)],
            cwd=WEB,
            check=True,
            capture_output=True,
        )
        found = subprocess.run(  # noqa: S603 - our own code
            [*NODE, "--input-type=module", "--eval", _RUN, bundle.as_uri()],
            input="".join(json.dumps(each) + "\n" for each in questions),
            check=True,
            capture_output=True,
            text=True,
        )
    return [json.loads(line) for line in found.stdout.splitlines()]


def ratio(bound: float, upper: float) -> float:
    """Return how far a bound is above Python's; both zero is no distance."""
    if bound <= upper:
        return 1.0 if upper == 0 else bound / upper
    return bound / upper if upper > 0 else math.inf


def main() -> int:
    """Draw questions, answer them twice, and print what came of it as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=5_000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--show", type=int, default=3, help="so many of the loosest questions")
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    questions = [draw(rng) for _ in range(asked.questions)]
    found = answers(questions)
    with ProcessPoolExecutor(max_workers=2) as pool:
        ends = list(pool.map(brackets, questions, chunksize=20))
    ratios = np.array(
        [ratio(mine["epsilon"], end[1]) for mine, end in zip(found, ends, strict=True)]
    )
    below = [mine["epsilon"] < end[0] for mine, end in zip(found, ends, strict=True)]
    loose = ratios > LARGEST_RATIO
    times = np.array([mine["ms"] for mine in found])
    order = np.argsort(-ratios)[: asked.show]
    print(
        json.dumps(
            {
                "questions": len(questions),
                "about": Counter(each["about"] for each in questions),
                "methods": Counter(mine["method"] for mine in found),
                "epsilon above 0": sum(end[1] > 0 for end in ends),
                "below the lower end": sum(below),
                "more than 1 % above the upper end": int(loose.sum()),
                "smallest ratio to the upper end": float(ratios.min()),
                "largest ratio to the upper end": float(ratios.max()),
                "99th percentile of the ratio": float(np.quantile(ratios, 0.99)),
                "said not to be sharp": sum(not mine["sharp"] for mine in found),
                "milliseconds, median": float(np.median(times)),
                "milliseconds, 95th percentile": float(np.quantile(times, 0.95)),
                "milliseconds, largest": float(times.max()),
                "loosest": [
                    questions[at] | {"lower": ends[at][0], "upper": ends[at][1]} | found[at]
                    for at in order.tolist()
                ],
            },
            indent=2,
        )
    )
    return 1 if any(below) or loose.any() else 0


if __name__ == "__main__":
    sys.exit(main())
