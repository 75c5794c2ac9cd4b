"""Liars: how far they move a share, how many of them are found, and whether honest people are.

Run: python -m benchmarks.liars moved|alarms [--runs N] [--seed S]
"""

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.attacks.liars import LiarGame, LiarShift
from croupier.model import Grid
from croupier.model.randomizer import Randomizer
from croupier.numerics.odd_counts import odd_counts, statements
from croupier.plan.sections import ShufflerSection
from croupier.randomizers import (
    DiscreteGaussian,
    DiscreteLaplace,
    HadamardResponse,
    KaryRandomizedResponse,
    LocalHashing,
    OneBitMean,
    OptimizedUnaryEncoding,
    ParallelRandomizer,
    Plain,
    Rappor,
    SampledSign,
    SubsetSelection,
    SymmetricUnaryEncoding,
)

PEOPLE = 200_000
K = 50


def krr(epsilon: float, k: int = K) -> KaryRandomizedResponse:
    """Randomised response."""
    return KaryRandomizedResponse(k=k, max_epsilon_local=epsilon)


def optimized(epsilon: float, k: int = K) -> OptimizedUnaryEncoding:
    """Optimized unary encoding."""
    return OptimizedUnaryEncoding(k=k, max_epsilon_local=epsilon)


def symmetric(epsilon: float, k: int = K) -> SymmetricUnaryEncoding:
    """Symmetric unary encoding."""
    return SymmetricUnaryEncoding(k=k, max_epsilon_local=epsilon)


DUMMIES = ShufflerSection.model_validate({"dummies": {"epsilon": 1.0, "delta": 1e-8}})

MOVED: list[tuple[str, Randomizer, float, tuple[ShufflerSection, ...]]] = [
    ("k-rr, epsilon_local 1", krr(1.0), 0.01, ()),
    ("k-rr, epsilon_local 1", krr(1.0), 0.1, ()),
    ("k-rr, epsilon_local 4", krr(4.0), 0.01, ()),
    ("optimized-unary, epsilon_local 1", optimized(1.0), 0.01, ()),
    ("optimized-unary, epsilon_local 4", optimized(4.0), 0.01, ()),
    ("symmetric-unary, epsilon_local 4", symmetric(4.0), 0.01, ()),
    ("plain with dummies", Plain(k=K), 0.01, (DUMMIES, DUMMIES)),
]
"""Mechanism, share of liars, and the shufflers that add dummies."""

GRID = Grid(0, 20, 1)
HONEST: list[Randomizer] = [
    krr(2.0, 20),
    symmetric(2.0, 20),
    optimized(1.0, 20),
    Rappor(k=20, max_epsilon_local=3.0),
    LocalHashing(k=20, max_epsilon_local=2.0),
    HadamardResponse(k=20, max_epsilon_local=2.0),
    SubsetSelection(k=20, max_epsilon_local=1.0),
    DiscreteLaplace(grid=GRID, max_epsilon_local=2.0),
    DiscreteGaussian(grid=GRID, max_epsilon_local=4.0),
    OneBitMean(grid=GRID, max_epsilon_local=2.0),
    SampledSign(dimension=20, max_epsilon_local=2.0),
    ParallelRandomizer(queries=(krr(2.0, 20), optimized(2.0, 20)), weights=(1, 2)),
]


def moved(runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """Limit, largest shift and share of liars found, 200,000 people whose values are uniform."""
    rows = []
    for name, made, share, noisy in MOVED:
        game = LiarGame(question=name, randomizer=made, people=PEOPLE, share=share, noisy=noisy)
        played = [shift for _ in range(runs) for shift in game.play(rng)]
        rows += [
            _row(name, lie, share, [each for each in played if each.lie == lie])
            for lie in dict.fromkeys(shift.lie for shift in played)
        ]
    return {"people": PEOPLE, "runs": runs, "rows": rows}


def _row(name: str, lie: str, share: float, shifts: list[LiarShift]) -> dict[str, Any]:
    found = [each.found / each.liars for each in shifts if each.found is not None]
    return {
        "mechanism": name,
        "lie": lie,
        "liars": share,
        "limit": round(100 * shifts[0].limit, 3),
        "moved": round(100 * float(np.mean([each.measured for each in shifts])), 3),
        "refuted": sum(each.refuted for each in shifts),
        "found": round(100 * float(np.mean(found)), 1) if found else None,
        "too many found": sum(part > 1 for part in found),
    }


def truths(size: int, people: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """Values of people: the same, two extremes, halves, and uneven."""
    last = size - 1
    weights = 1 / np.arange(1, size + 1) ** 1.5
    return {
        "all the first": np.zeros(people, dtype=np.int64),
        "all the last": np.full(people, last),
        "halves": np.arange(people) % 2 * last,
        "equal shares": np.arange(people) % size,
        "uneven": rng.choice(size, size=people, p=weights / weights.sum()),
    }


def alarms(runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """Honest analyses of 20,000 people in which anything is found, per level of false alarms."""
    levels, played = {1e-9: 0, 1e-3: 0, 1e-1: 0}, 0
    for made in HONEST:
        for _ in range(runs):
            for values in truths(20, 20_000, rng).values():
                reports = made.randomize(
                    given(made, values), insecure_seed=int(rng.integers(1 << 63))
                )
                tally, traits = made.tally(reports), made.traits(reports)
                groups = made.honest_chances(tally, traits, len(reports))
                tested = statements(groups)
                played += 1
                for level in levels:
                    levels[level] += bool(odd_counts(groups, level=level / tested))
    return {"analyses": played, "alarms by level": {str(k): v for k, v in levels.items()}}


def given(made: Randomizer, values: NDArray[np.int64]) -> Any:
    """The values as the mechanism takes them."""
    if isinstance(made, SampledSign):
        return np.where(np.arange(made.dimension) <= values[:, None], 1, -1)
    if isinstance(made, ParallelRandomizer):
        return np.stack([values, values], axis=1)
    return values


PARTS: dict[str, Callable[[int, np.random.Generator], dict[str, Any]]] = {
    "moved": moved,
    "alarms": alarms,
}
RUNS = {"moved": 8, "alarms": 40}


def main() -> None:
    """Run one part and print its figures as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    print(json.dumps(PARTS[asked.part](asked.runs or RUNS[asked.part], rng), indent=2))


if __name__ == "__main__":
    main()
