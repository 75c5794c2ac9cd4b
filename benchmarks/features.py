"""50 features in one plan: how often all intervals hold together, and the error of the shares.

The plan is `examples/plans/features.toml`. The invented people are the same in every run; who is
asked what, and the noise, are drawn anew, by the chances of the plan's own integers.

Run: python -m benchmarks.features [--runs N] [--seed S] [--people N]
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.plan.plan import Plan
from croupier.randomizers.parallel import ParallelRandomizer

PLAN = Path(__file__).parents[1] / "examples" / "plans" / "features.toml"


def invented(people: int, features: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Say who uses which feature: 80 % use the first, ever fewer the others."""
    shares = 0.8 / np.sqrt(np.arange(1, features + 1))
    return np.asarray(rng.random((people, features)) < shares)


def tally(
    made: ParallelRandomizer, uses: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the tally of one batch: a question per person, then the noise of each answer."""
    people, features = uses.shape
    drawn = rng.choice(features, size=people, p=[float(chance) for chance in made.chances])
    answers = uses[np.arange(people), drawn]
    asked = np.bincount(drawn, minlength=features)
    yes = np.bincount(drawn[answers], minlength=features)
    parts = []
    for query, answered, own in zip(made.queries, asked.tolist(), yes.tolist(), strict=True):
        kept, turned = map(float, query.require_answer_chances())
        reported = int(rng.binomial(own, kept) + rng.binomial(answered - own, turned))
        parts.append([answered, answered - reported, reported])
    return np.concatenate(parts).astype(np.int64)


def measured(runs: int, people: int, rng: np.random.Generator) -> dict[str, Any]:
    """Collect that often, and compare with the truth."""
    made = Plan.load(PLAN).randomizer
    if not isinstance(made, ParallelRandomizer):
        raise TypeError("the plan asks one question")
    uses = invented(people, len(made.queries), rng)
    truth = uses.mean(axis=0)
    together, singly, squares, widths = 0, [], [], []
    for _ in range(runs):
        found = made.estimate_tallies(tally(made, uses, rng), people)
        statements = sum(len(own.values) for own in found)
        wide = [own.simultaneous(statements) for own in found]
        ends = [(own.lower[1], own.upper[1]) for own in wide]
        together += all(
            low <= share <= high for (low, high), share in zip(ends, truth, strict=True)
        )
        singly += [
            own.lower[1] <= share <= own.upper[1] for own, share in zip(found, truth, strict=True)
        ]
        squares += [(own.points[1] - share) ** 2 for own, share in zip(found, truth, strict=True)]
        widths += [(high - low) / 2 for low, high in ends]
    return {
        "people": people,
        "runs": runs,
        "all_hold": together / runs,
        "each_holds": float(np.mean(singly)),
        "rms_error": float(np.sqrt(np.mean(squares))),
        "stated_rms_error": made.rms_error(people),
        "half_width_together": float(np.mean(widths)),
    }


def main() -> None:
    """Print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=27)
    parser.add_argument("--people", type=int, default=200_000)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    print(json.dumps(measured(given.runs, given.people, rng), indent=1))


if __name__ == "__main__":
    main()
