"""The error of dummies beside that of k-rr, at equal epsilon of the batch; and the other way round.

Plans of one question: devices add noise (k-rr), or send the value itself to one or two shufflers
that add dummies. All have the same proved epsilon on the row `batch` of the ladder. People's values
are fixed and uneven; reports or dummies are drawn afresh in every run.

Run: python -m benchmarks.dummies [--n 2000] [--k 10] [--delta 1e-6] [--runs 200] [--json]
"""

import argparse
import json
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from croupier.accounting.solve import solve
from croupier.assessment.ladder.ladder import assess
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.shufflers.dummies import DummyTable

EPSILONS = (0.25, 0.5, 1.0, 2.0)
SHUFFLERS = (1, 2)


@dataclass(frozen=True)
class Row:
    """One kind of plan at one epsilon.

    Attributes:
        plan: Its name.
        epsilon: The epsilon that is proved on the row `batch`.
        error: The root mean square error of a share over all runs and values.
        formula: The same by the formula.
        same_error: The epsilon of dummies that err as much as k-rr does.
        made_up: The expected number of dummies per batch.
    """

    plan: str
    epsilon: float
    error: float
    formula: float
    same_error: float | None = None
    made_up: float | None = None


@dataclass(frozen=True)
class Collection:
    """The people and the runs.

    Attributes:
        n: The number of people.
        k: The number of values.
        delta: The failure probability.
        runs: The number of runs.
        seed: The seed of all of them.
    """

    n: int
    k: int
    delta: float
    runs: int
    seed: int

    @property
    def held(self) -> NDArray[np.int64]:
        """The number of people who hold each value: the first ones are more frequent."""
        weights = 1 / np.arange(1, self.k + 1)
        counts = np.floor(self.n * weights / weights.sum()).astype(np.int64)
        counts[0] += self.n - counts.sum()
        return counts

    def rows(self, epsilon: float) -> list[Row]:
        """Measure k-rr, and dummies of one and of two shufflers."""
        noisy = self.k_rr(epsilon)
        return [noisy, *(self.dummies(epsilon, shufflers, noisy) for shufflers in SHUFFLERS)]

    def k_rr(self, epsilon: float) -> Row:
        """Measure k-rr with the largest epsilon_local that keeps the epsilon."""
        found = solve("k-rr", k=self.k, n=self.n, epsilon=epsilon, delta=self.delta)
        made = KaryRandomizedResponse(k=self.k, max_epsilon_local=found.value)
        values, rng = np.repeat(np.arange(self.k), self.held), Keystream(insecure_seed=self.seed)
        estimates = [
            made.estimate(made.randomize(values, rng=rng)).points for _ in range(self.runs)
        ]
        proved = self._proved({"randomizer": made})
        return Row("k-rr", proved, self._error(estimates), made.rms_error(self.n))

    def dummies(self, epsilon: float, shufflers: int, noisy: Row) -> Row:
        """Measure dummies, and find the epsilon at which they err as much as k-rr."""
        table = DummyTable.two_sided_geometric(epsilon=epsilon, delta=self.delta)
        rng = Keystream(insecure_seed=self.seed)
        estimates = []
        for _ in range(self.runs):
            added = sum(table.draw(self.k, rng) for _ in range(shufflers))
            counts = self.held + added - shufflers * float(table.mean)
            estimates.append(counts / self.n)
        made = {"dummies": {"epsilon": epsilon, "delta": self.delta}}
        plan = {"randomizer": {"mechanism": "plain", "k": self.k}, "shufflers": [made] * shufflers}
        allowed = noisy.formula * self.n / shufflers**0.5
        same = solve("plain", k=self.k, delta=self.delta, standard_deviation=allowed)
        return Row(
            f"plain, {shufflers} with dummies",
            self._proved(plan),
            self._error(estimates),
            (shufflers * float(table.variance)) ** 0.5 / self.n,
            same.value,
            shufflers * self.k * float(table.mean),
        )

    def _proved(self, tables: dict[str, object]) -> float:
        plan = Plan.model_validate(
            {
                "schema": 2,
                "population": {"enrolled": self.n},
                "protections": {"minimum_batch": self.n},
                "guarantee": {"delta": self.delta},
            }
            | tables
        )
        proved = assess(plan)["batch"].epsilon
        return float("inf") if proved is None else proved.value

    def _error(self, estimates: list[NDArray[np.float64]]) -> float:
        return float(np.sqrt(np.mean((np.array(estimates) - self.held / self.n) ** 2)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = vars(parser.parse_args())
    as_json = asked.pop("json")
    collection = Collection(**asked)
    rows = [row for epsilon in EPSILONS for row in collection.rows(epsilon)]
    if as_json:
        print(json.dumps(asked | {"rows": [asdict(row) for row in rows]}))
        return
    head = ("plan", "epsilon", "error", "formula", "of k-rr's", "at its error", "made up")
    print(f"{head[0]:22}" + "".join(f"{name:>14}" for name in head[1:]))
    noisy = rows[0]
    for row in rows:
        noisy = row if row.same_error is None else noisy
        cells = [f"{row.epsilon:.3f}", f"{row.error:.5f}", f"{row.formula:.5f}"]
        if row.same_error is not None:
            cells += [f"{row.error / noisy.error:.3f}", f"{row.same_error:.3f}"]
            cells += [f"{row.made_up:,.0f}"]
        print(f"{row.plan:22}" + "".join(f"{cell:>14}" for cell in cells))


if __name__ == "__main__":
    main()
