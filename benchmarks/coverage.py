"""Coverage of intervals: every mechanism, few and many people, all epsilons.

People's values are fixed, and the reports are drawn afresh in every run. Tallies are drawn from the
law of the channel, one multinomial for all who hold the same value, which is the same as
randomising each of them and counting. A setting fails if its coverage is below the nominal one and
a true coverage of 95 % would be that low with a probability of less than 1e-6 over all settings
together.

Run: python -m benchmarks.coverage [--runs 2000] [--only TEXT] [--normal] [--seed 1]

`--normal` replaces the intervals by the normal approximation: it must fail. Exit status 1
if any setting fails. The whole grid takes a quarter of an hour on a busy core.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from croupier.model.domain import Categories, Grid, Product
from croupier.model.interval_rule import Ends, IntervalRule, JoinedRule, NormalRule
from croupier.model.randomizer import Randomizer
from croupier.randomizers import randomizer
from croupier.randomizers.estimates.support_rule import SupportRule
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.randomizers.rappor import Rappor

CONFIDENCE = 0.95
ALARM = 1e-6
SIZES = (30, 300, 3_000, 100_000)
EPSILONS = (0.5, 2.0, 8.0)


@dataclass(frozen=True)
class Setting:
    """A mechanism, and the number of people who hold each input of its channel."""

    name: str
    mechanism: Randomizer
    held: tuple[int, ...]

    @property
    def people(self) -> int:
        """The number of people."""
        return sum(self.held)

    @cached_property
    def truth(self) -> NDArray[np.float64]:
        """The shares or means of these people."""
        counts = np.array(self.held)
        return np.concatenate(
            [
                _truth(domain, own) / self.people
                for domain, own in _split(self.mechanism.domain, counts)
            ]
        )

    def tallies(self, runs: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """One tally per run, drawn from the law of the reports."""
        if isinstance(self.mechanism, Rappor):
            return self._bits(self.mechanism, runs, rng)
        channel = self.mechanism.channel()
        counts = np.zeros((runs, channel.shape[1]), dtype=np.int64)
        for people, row in zip(self.held, channel.probabilities, strict=True):
            counts += rng.multinomial(people, row / row.sum(), size=runs)
        return counts @ self.tally_of_outputs

    @cached_property
    def tally_of_outputs(self) -> NDArray[np.int64]:
        """The tally of one report, one row per output of the channel."""
        reports = np.array(self.mechanism.channel().outputs)
        return np.array([self.mechanism.tally(reports[[y]]) for y in range(len(reports))])

    def _bits(self, mechanism: Rappor, runs: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw tallies of a filter, whose bits are independent given the values."""
        ones = np.array(self.held) @ mechanism.patterns.astype(np.int64)
        flip = mechanism.flip_weight / mechanism.denominator
        size = (runs, len(ones))
        kept = rng.binomial(ones, 1 - flip, size=size)
        return np.asarray(kept + rng.binomial(self.people - ones, flip, size=size))


@dataclass(frozen=True)
class Covered:
    """The coverage of the intervals of a setting."""

    setting: Setting
    runs: int
    singly: NDArray[np.int64]
    together: int
    width: float

    @property
    def least(self) -> float:
        """The least coverage of any one value."""
        return float(self.singly.min()) / self.runs

    def fails(self, alarm: float) -> bool:
        """Tell whether any count is too low for nominal intervals, except with chance `alarm`."""
        counts = np.append(self.singly, self.together)
        return bool((binom.cdf(counts, self.runs, CONFIDENCE) < alarm / len(counts)).any())


def measure(setting: Setting, *, runs: int, seed: int, normal: bool = False) -> Covered:
    """Draw tallies, estimate from each, and count the intervals that contain the truth."""
    rng = np.random.default_rng([seed, setting.people, *map(ord, setting.name)])
    tallies = setting.tallies(runs, rng)
    found = [setting.mechanism.estimate_tally(tally, setting.people) for tally in tallies]
    errors = (estimate.standard_errors for estimate in found)
    plain = [NormalRule(one.points, error) for one, error in zip(found, errors, strict=True)]
    rules = plain if normal else [estimate.intervals for estimate in found]
    lower, upper = _ends(rules, CONFIDENCE)
    narrow, wide = _ends(plain, CONFIDENCE)
    held_together = _ends(rules, found[0].simultaneous().confidence)
    return Covered(
        setting,
        runs,
        _contained(lower, upper, setting.truth).sum(axis=0),
        int(_contained(*held_together, setting.truth).all(axis=1).sum()),
        float((upper - lower).mean() / (wide - narrow).mean()),
    )


def settings() -> Iterator[Setting]:
    """The grid: more than 60, at least one of every mechanism at every size and epsilon."""
    oracles: Sequence[tuple[str, dict[str, Any]]] = (
        ("k-rr", {"k": 3}),
        ("symmetric-unary", {"k": 4}),
        ("optimized-unary", {"k": 4}),
        ("rappor", {"k": 4}),
        ("local-hashing", {"k": 5, "prime": 7}),
        ("hadamard", {"k": 5}),
        ("subset-selection", {"k": 6, "subset_size": 2}),
    )
    number = 0
    for name, given in oracles:
        for n in SIZES:
            for epsilon in EPSILONS:
                made = randomizer(name, max_epsilon_local=epsilon, **given)
                for mix in ("all one", "halves", "one person", "even")[number % 2 :: 2]:
                    held = _mixed(given["k"], n, mix)
                    yield Setting(f"{name}, epsilon_local {epsilon:g}, {mix}", made, held)
                number += 1
    yield from _means()
    yield from _matrices()
    yield from _several()


def _means() -> Iterator[Setting]:
    for name in ("one-bit-mean", "laplace", "gaussian"):
        for n in SIZES:
            for epsilon in EPSILONS:
                made = randomizer(name, grid=Grid(0, 4, 1), max_epsilon_local=epsilon)
                for mix in ("all one", "ends", "one person", "even"):
                    held = (n // 2, 0, 0, 0, n - n // 2) if mix == "ends" else _mixed(5, n, mix)
                    yield Setting(f"{name}, epsilon_local {epsilon:g}, {mix}", made, held)
    for n in SIZES:
        made = randomizer("laplace", grid=Grid(0, 1, 1), max_epsilon_local=8.0)
        yield Setting("laplace of a bit, epsilon_local 8, even", made, _mixed(2, n, "even"))
        for epsilon in EPSILONS:
            signs = randomizer("sampled-sign", dimension=3, max_epsilon_local=epsilon)
            for mix in ("all one", "halves"):
                name = f"sampled-sign, epsilon_local {epsilon:g}, {mix}"
                yield Setting(name, signs, _mixed(8, n, mix))


def _matrices() -> Iterator[Setting]:
    uneven = [[90, 5, 5], [2, 96, 2], [30, 30, 40]]
    sharp = [[9994, 3, 3], [3, 9994, 3], [3, 3, 9994]]
    blurred = [[998, 1, 1], [1, 998, 1], [300, 300, 400]]
    for name, matrix in (("uneven", uneven), ("sharp", sharp), ("blurred", blurred)):
        made = randomizer("matrix", matrix=matrix)
        for n in SIZES:
            for mix in ("even", "halves", "rare last"):
                held = (n - n // 2 - n // 30, n // 2, n // 30)
                yield Setting(
                    f"matrix, {name}, {mix}",
                    made,
                    held if mix == "rare last" else _mixed(3, n, mix),
                )


def _several() -> Iterator[Setting]:
    """Settings in which each person answers one of two questions; inputs are pairs of values."""
    for n in SIZES[:3]:
        for epsilon in (2.0, 8.0):
            response = randomizer("k-rr", k=2, max_epsilon_local=epsilon)
            made = ParallelRandomizer(queries=(response, response), weights=(2, 3))
            for mix in ("all one", "halves", "one person")[: 1 if n > 300 else 3]:
                name = f"parallel k-rr, epsilon_local {epsilon:g}, {mix}"
                yield Setting(name, made, _mixed(4, n, mix))
            grid = Grid(0, 2, 1)
            means = [randomizer(name, grid=grid, max_epsilon_local=epsilon) for name in _BOTH]
            both = ParallelRandomizer(queries=tuple(means))
            for mix in ("all one", "even"):
                name = f"parallel means, epsilon_local {epsilon:g}, {mix}"
                yield Setting(name, both, _mixed(9, n, mix))


_BOTH = ("one-bit-mean", "laplace")


def _mixed(k: int, n: int, mix: str) -> tuple[int, ...]:
    """The number of people who hold each of k values."""
    held = np.zeros(k, dtype=int)
    match mix:
        case "all one":
            held[0] = n
        case "halves":
            held[:2] = n // 2, n - n // 2
        case "one person":
            held[:2] = n - 1, 1
        case _:
            held += n // k
            held[0] += n - held.sum()
    return tuple(held.tolist())


def _split(domain: Any, counts: NDArray[np.int64]) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """The domain of every question, and the number of people who hold each of its inputs."""
    if not isinstance(domain, Product):
        yield domain, counts
        return
    table = counts.reshape([part.size for part in domain.parts])
    for axis, part in enumerate(domain.parts):
        others = tuple(other for other in range(table.ndim) if other != axis)
        yield part, table.sum(axis=others)


def _truth(domain: Any, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The sum over the people of the estimated quantity."""
    if isinstance(domain, Categories):
        return counts.astype(np.float64)
    if isinstance(domain, Grid):
        return np.array([counts @ domain.points])
    places = np.arange(domain.size)[:, None] >> np.arange(domain.dimension)[::-1] & 1
    return np.asarray(counts @ (2.0 * places - 1))


def _contained(
    lower: NDArray[np.float64], upper: NDArray[np.float64], truth: NDArray[np.float64]
) -> NDArray[np.bool_]:
    # Ends and truths are quotients of whole numbers: equal ones may differ in the last digit.
    return np.asarray((lower <= truth + 1e-9) & (truth <= upper + 1e-9))


def _ends(rules: Sequence[IntervalRule], confidence: float) -> Ends:
    """The ends of all runs, one row per run; those with the same law are computed at once."""
    if isinstance(rules[0], JoinedRule):
        columns = [[rule.rules[place] for rule in rules] for place in range(len(rules[0].rules))]
        lower, upper = zip(*(_ends(column, confidence) for column in columns), strict=True)
        return np.concatenate(lower, axis=1), np.concatenate(upper, axis=1)
    if not isinstance(rules[0], SupportRule):
        lower, upper = zip(*(rule.ends(confidence) for rule in rules), strict=True)
        return np.array(lower), np.array(upper)
    groups = defaultdict(list)
    for run, rule in enumerate(rules):
        groups[rule.law].append(run)
    shape = (len(rules), len(rules[0].support))
    low, high = np.empty(shape), np.empty(shape)
    for law, runs in groups.items():
        support = np.array([rules[run].support for run in runs])
        ends = SupportRule(law, support.ravel()).ends(confidence)
        low[runs], high[runs] = (end.reshape(support.shape) for end in ends)
    return low, high


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print one row per setting."""
    parser = argparse.ArgumentParser(description="Coverage of nominal 95 %% intervals.")
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--normal", action="store_true", help="the normal approximation instead")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    chosen = [one for one in settings() if given.only in one.name]
    failed, worst = 0, []
    print("| setting | people | least covered singly | covered together | width over normal |")
    print("|---|---|---|---|---|")
    for setting in chosen:
        found = measure(setting, runs=given.runs, seed=given.seed, normal=given.normal)
        fails = found.fails(ALARM / len(chosen))
        failed += fails
        worst.append((found.least, found.together / found.runs))
        print(
            f"| {setting.name} | {setting.people:,} | {100 * found.least:.1f} % "
            f"| {100 * found.together / found.runs:.1f} % | {found.width:.3f} |"
            + (" FAILS" if fails else ""),
            flush=True,
        )
    singly, together = (100 * min(column) for column in zip(*worst, strict=True))
    print(
        f"\n{len(chosen)} settings of {given.runs:,} runs: least covered {singly:.1f} % singly, "
        f"{together:.1f} % together; {failed} significantly below {100 * CONFIDENCE:g} %."
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
