"""Bounds and times of an audit, beside the public auditors that are installed.

The target is DP-Sniper's kind of setting: binary randomized response of epsilon_local 1, shuffled
among 100 people of whom all others hold 0, seen as its number of ones. 1.1 million outputs per
input: 100,000 to choose an event, a million to certify it, at DP-Sniper's confidence of 0.9. Its
own certificate is for an event of probability 0.01 or more; the best such one has 0.25334, which is
printed for every target as "rare as 0.01".

dp-sniper, statdp, delta-siege and dp-auditorium are not on PyPI: install DP-Sniper from a checkout
of its repository, with torch, to run it here. privacy-estimates is on PyPI; it bounds epsilon from
the counts of a given attack, and gets those of our event.

Run: python -m benchmarks.audit [--runs 10] [--people 100] [--max-epsilon-local 1] [--json]
"""

import argparse
import json
import math
import statistics
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.timing import timed
from croupier.auditing.mechanism.claim import Audit, audit
from croupier.research.broken import BROKEN

SEARCH, CERTIFY = 100_000, 1_000_000
CONFIDENCE = 0.9


@dataclass(frozen=True)
class Target:
    """A shuffled batch of yes and no, seen as its number of ones."""

    people: int
    epsilon_local: float

    @property
    def tell(self) -> float:
        """The probability of the truth in a report."""
        return 1 / (1 + math.exp(-self.epsilon_local))

    def __call__(self, values: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
        """The number of ones, for each value of one person."""
        others = rng.binomial(self.people - 1, 1 - self.tell, len(values))
        own = rng.random(len(values)) < np.where(values == 1, self.tell, 1 - self.tell)
        return np.asarray(others + own)

    def best(self, least: float) -> float:
        """The greatest epsilon that an event of at least this probability shows.

        The more ones, the likelier the one person holds one: the event is that there are many,
        with a share of the outputs at the threshold.
        """
        others = stats.binom.pmf(np.arange(self.people), self.people - 1, 1 - self.tell)
        fewer, more = np.append(others, 0), np.insert(others, 0, 0)
        first, second = (fewer * (1 - one) + more * one for one in (1 - self.tell, self.tell))
        above = np.cumsum(first[::-1])
        cut = int(np.searchsorted(above, least))
        share = (least - (above[cut - 1] if cut else 0)) / first[::-1][cut]
        return math.log((second[::-1][:cut].sum() + share * second[::-1][cut]) / least)


def ours(target: Target, rng: np.random.Generator) -> Audit:
    """One audit."""
    return audit(
        lambda values: target(values, rng),
        inputs=[0, 1],
        claim=0.2,
        samples=SEARCH + CERTIFY,
        search=SEARCH / (SEARCH + CERTIFY),
        confidence=CONFIDENCE,
        vectorised=True,
    )


def privacy_estimates(found: Audit) -> dict[str, float]:
    """Its bound from the counts of our event, as if both inputs had had equally many trials."""
    from privacy_estimates import AttackResults, compute_eps_lo  # noqa: PLC0415 - not ours

    first, second, trials = found.witness.hits
    counts = AttackResults(FN=trials // 2 - first, FP=second, TN=trials // 2 - second, TP=first)
    lower, times = timed(
        lambda: compute_eps_lo(count=counts, delta=0.0, alpha=1 - CONFIDENCE, method="beta")
    )
    return {"epsilon_lower": float(lower)} | times


def dp_sniper(target: Target, rng: np.random.Generator) -> dict[str, float]:
    """DP-Sniper with logistic regression, on the same numbers of outputs.

    It trains in batches of 1,000 instead of 100,000: ten steps in all would not be enough for it.
    """
    from dpsniper.attack.dpsniper import DPSniper  # noqa: PLC0415 - not ours
    from dpsniper.classifiers.classifier_factory import (  # noqa: PLC0415
        LogisticRegressionFactory,
    )
    from dpsniper.classifiers.torch_optimizer_factory import (  # noqa: PLC0415
        SGDOptimizerFactory,
    )
    from dpsniper.mechanisms.abstract import Mechanism  # noqa: PLC0415
    from dpsniper.probability.estimators import EpsEstimator, PrEstimator  # noqa: PLC0415
    from dpsniper.search.ddconfig import DDConfig  # noqa: PLC0415

    class Batch(Mechanism):  # type: ignore[misc]
        def m(self, a: Any, n_samples: int = 1) -> NDArray[np.int64]:
            return target(np.repeat(np.asarray(a).reshape(-1)[0], n_samples), rng)

    def run() -> float:
        config = DDConfig(
            n_train=SEARCH,
            n=SEARCH,
            n_final=CERTIFY,
            training_batch_size=1000,
            confidence=CONFIDENCE,
        )
        factory = LogisticRegressionFactory(
            in_dimensions=1, optimizer_factory=SGDOptimizerFactory(learning_rate=0.3, momentum=0.3)
        )
        mechanism = Batch()
        attack = DPSniper(mechanism, factory, config).best_attack(np.array([1]), np.array([0]))
        estimator = EpsEstimator(PrEstimator(mechanism, CERTIFY, config))
        return float(estimator.compute_eps_estimate(np.array([1]), np.array([0]), attack)[1])

    lower, times = timed(run)
    return {"epsilon_lower": lower} | times


def side_by_side(
    target: Target, runs: int, rng: np.random.Generator
) -> dict[str, list[dict[str, float]]]:
    """Run every auditor once per round, so that all meet the same load; skip a first round."""
    rows: dict[str, list[dict[str, float]]] = {}
    missing: set[str] = set()
    for run in range(runs + 1):
        found, times = timed(lambda: ours(target, rng))
        tasks = {
            "croupier": lambda row={"epsilon_lower": found.evidence.lower} | times: row,
            "dp-sniper": lambda: dp_sniper(target, rng),
            "privacy-estimates": lambda found=found: privacy_estimates(found),
        }
        for name, task in tasks.items():
            if name in missing:
                continue
            try:
                row = task()
            except ImportError as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
                missing.add(name)
                continue
            if run:
                rows.setdefault(name, []).append(row)
    return rows


def summary(rows: list[dict[str, float]]) -> dict[str, float]:
    """Mean and range of the bounds, medians of the times."""
    bounds = [row["epsilon_lower"] for row in rows]
    return {
        "epsilon_lower_mean": statistics.mean(bounds),
        "epsilon_lower_least": min(bounds),
        "epsilon_lower_greatest": max(bounds),
        "seconds": statistics.median(row["seconds"] for row in rows),
        "processor_seconds": statistics.median(row["processor_seconds"] for row in rows),
    }


def catalogue() -> dict[str, dict[str, Any]]:
    """Audit each known mistake, at the defaults."""
    rows: dict[str, dict[str, Any]] = {}
    for name, broken in BROKEN.items():
        call, inputs, claim = broken.call, broken.inputs, broken.claim
        found, times = timed(
            lambda call=call, inputs=inputs, claim=claim: audit(
                call, inputs=inputs, claim=claim, vectorised=True
            )
        )
        rows[name] = {
            "refuted": found.refuted,
            "epsilon_local_lower": found.evidence.lower,
            "event": found.witness.event,
            **times,
        }
    return rows


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--max-epsilon-local", type=float, default=1.0)
    arguments = parser.parse_args()
    rng = np.random.default_rng()
    target = Target(arguments.people, arguments.epsilon_local)
    compared = side_by_side(target, arguments.runs, rng)
    figures: dict[str, Any] = {name: summary(rows) for name, rows in compared.items()}
    best = target.best(0.01)
    figures["broken"] = catalogue()
    if arguments.json:
        print(json.dumps(figures | {"rare_as_0.01": best}))
        return
    print(f"{'rare as 0.01':18}  epsilon =  {best:.4f}")
    for name, row in figures.items():
        if name != "broken":
            low, high = row["epsilon_lower_least"], row["epsilon_lower_greatest"]
            bound = f"{row['epsilon_lower_mean']:.4f} [{low:.4f}, {high:.4f}]"
            times = f"{row['seconds']:.2f} s, processor {row['processor_seconds']:.2f} s"
            print(f"{name:18}  epsilon >= {bound}  {times}")
    for name, row in figures["broken"].items():
        word = "caught" if row["refuted"] else "MISSED"
        print(f"{name:22}{word}  {row['epsilon_local_lower']:6.3f}  {row['seconds']:.2f} s")


if __name__ == "__main__":
    main()
