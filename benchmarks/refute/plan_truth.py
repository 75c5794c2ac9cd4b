"""The true gains on each rung of the ladder for a tiny plan, by listing everything."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import permutations, product

import numpy as np

from benchmarks.refute.games import (
    Answers,
    Game,
    crowd,
    inversions,
    resent,
    sampled,
)
from benchmarks.refute.oracle import Rows, exp_between, merged
from benchmarks.refute.rounds import adaptive_delta, most_right, repeated_delta
from croupier.model.randomizer import Randomizer
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["COMBINED", "PlanTruth", "TooManyCasesError", "View", "alpha_of_order"]

COMBINED = "network and clients"
MOST_CASES = 400_000
_MOST_TABLES = 24
"""The number of pairs of laws, the furthest apart, that two adaptive rounds may combine."""

_DEEP = 24
"""The most outcomes in all pairs of laws at which three adaptive rounds are still listed."""

_FEW = 6
_LARGEST = Fraction(10**300)
"""The ratio beyond which doubles overflow: rounds are not composed there."""


class TooManyCasesError(Exception):
    """The plan is too large to be listed."""


@dataclass(frozen=True, eq=False)
class View:
    """The view of each round, and the number of rounds.

    Attributes:
        games: One round, for each crowd that the person may be known to be in.
        rounds: The number of rounds.
        linked: The chance that a report is traced to its sender; None if it was not listed.
    """

    games: tuple[Game, ...]
    rounds: int
    linked: Fraction | None

    @property
    def exact(self) -> bool:
        """True if everything is in integers, not in doubles."""
        return self.rounds == 1

    def delta(self, ratio: Fraction) -> Fraction:
        """The worst divergence at e^epsilon = ratio."""
        if self.rounds == 1 or ratio > _LARGEST:
            return max(game.delta(ratio) for game in self.games)
        return Fraction(max(self._composed(game, float(ratio)) for game in self.games))

    def _composed(self, game: Game, ratio: float) -> float:
        tables = game.furthest[:_MOST_TABLES]
        depth = 3 if self.rounds > 2 and sum(len(p) for p, _ in tables) <= _DEEP else 2
        return max(
            float(game.delta(Fraction(ratio))),
            adaptive_delta(tables, ratio, rounds=depth),
            repeated_delta(tables[:_FEW], ratio, rounds=self.rounds),
        )

    def repeated(self, times: int, epsilon: float) -> float:
        """A divergence that is reached after this number of such collections."""
        above = exp_between(epsilon)[1]
        if above > _LARGEST:
            return 0.0
        ratio = float(above)
        return max(
            repeated_delta(game.furthest[:_FEW], ratio, rounds=self.rounds * times)
            for game in self.games
        )

    @cached_property
    def distance(self) -> Fraction:
        """Total variation; sums of doubles may be a little above one."""
        return min(Fraction(1), self.delta(Fraction(1)))

    @cached_property
    def informed(self) -> Fraction:
        """The chance of guessing an answer, all others known."""
        if self.rounds == 1:
            return max(game.informed() for game in self.games)
        return Fraction(max(most_right(game, known=True) for game in self.games))

    @cached_property
    def uniform(self) -> Fraction:
        """The chance of guessing an answer, nobody known."""
        if self.rounds == 1:
            return max(game.uniform() for game in self.games)
        return Fraction(max(most_right(game, known=False) for game in self.games))


@lru_cache(maxsize=1000)
def alpha_of_order(n: int, theta: float) -> float:
    """The largest log-ratio of one released order for two ways to assign reports in a group of n.

    The reports are all different; z = y[order], so that another assignment means another order.
    """
    return theta * max(
        inversions([hands.index(place) for place in order]) - inversions(order)
        for order in permutations(range(n))
        for hands in permutations(range(n))
    )


class PlanTruth:
    """The views of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        protocol = plan.participation_model
        self.model = protocol.model.removeprefix("rectified-")
        self.filled = protocol.model.startswith("rectified-")
        self.asked = [_rows(question) for question in plan.randomizers]
        if len(self.asked) == 1 and self.model in ("parallel", "multinomial", "bins", "divide"):
            self.asked *= protocol.rounds
        self.resent = plan.participation.noise == "reused" and plan.reports > 1

    def view(self, rung: str, *, batch: int | None = None) -> View:
        """The view on the rung of all rows that are shown there; by default of the least batch.

        Raises:
            TooManyCasesError: The plan is too large.
        """
        least = batch or self.plan.protections.minimum_batch
        if rung == Rung.COLLUSION:
            games = tuple(self._alone())
            return View(games, 1 if self.resent else self.plan.reports, Fraction(1))
        seen = rung in (Rung.NETWORK, Rung.SHUFFLER, COMBINED)
        corrupt = self.plan.corrupt if rung in (Rung.CLIENTS, COMBINED) else 0
        one = len(self.plan.randomizers) == 1
        mixed = self._mixed(least, seen=seen, corrupt=corrupt)
        games = tuple(replace(game, one_answer=one) for game in mixed)
        linked = None if self.resent else max(game.linked() for game in games)
        return View(games, 1 if self.resent else self.plan.reports, linked)

    @property
    def theta(self) -> float:
        """The theta of the Mallows order."""
        groups = self.plan.shuffling.groups
        assert groups is not None  # noqa: S101 - drawn with groups
        return (self.plan.shuffling.alpha or 0.0) / (groups.sensitivity or 1)

    def _alone(self) -> list[Game]:
        if self.model == "together":
            return [crowd(*_all_answers(self.asked), 1)]
        if self.model == "parallel":
            rows, inputs = _mixture(self.asked, self._weights())
            return [crowd(rows, inputs, 1)]
        return [crowd(*self._one(rows), 1) for rows in self.asked]

    def _weights(self) -> Sequence[int]:
        given: Sequence[int] = self.plan.participation_model.specification["weights"]
        return given

    @staticmethod
    def _one(rows: Rows) -> tuple[Rows, Answers]:
        return merged(rows), [(value,) for value in range(len(rows))]

    def _mixed(self, least: int, *, seen: bool, corrupt: int) -> list[Game]:
        n = least - corrupt
        if self.model in ("single", "divide"):
            return [self._game(*self._one(rows), n) for rows in self.asked]
        if self.model == "together":
            return [self._game(*_all_answers(self.asked), n)]
        if self.model == "subsample":
            return [self._sampled(least, seen=seen, corrupt=corrupt)]
        if self.model == "bins":
            found, first = [], 0
            for weights in self.plan.participation_model.specification["bins"]:
                own = self.asked[first : first + len(weights)]
                found += self._lots(own, weights, n, seen=seen)
                first += len(weights)
            return found
        return self._lots(self.asked, self._weights(), n, seen=seen)

    def _lots(
        self, asked: Sequence[Rows], weights: Sequence[int], n: int, *, seen: bool
    ) -> list[Game]:
        """The view if everybody draws one question, or round, by lot."""
        if not seen or self.filled or self.model == "parallel":
            return [self._game(*_mixture(asked, weights), n)]
        shares = [Fraction(weight, sum(weights)) for weight in weights]
        return [
            self._game(*self._one(rows), n, share=share)
            for rows, share in zip(asked, shares, strict=True)
        ]

    def _game(self, rows: Rows, inputs: Answers, n: int, share: Fraction = Fraction(1)) -> Game:
        _require(_cases(rows, n, rounds=2 if self.resent else 1, marks=2 if share < 1 else 1))
        if self.resent:
            return resent(rows, inputs, n)
        return crowd(rows, inputs, n, share=share)

    def _sampled(self, least: int, *, seen: bool, corrupt: int) -> Game:
        rows, inputs = self._one(self.asked[0])
        people = self.plan.people
        _require(_cases(rows, people, marks=2))
        return sampled(rows, inputs, people, least, corrupt=corrupt, seen=seen)

    @property
    def reported(self) -> list[Rows]:
        """The laws of the reports that a person may send."""
        return [_all_answers(self.asked)[0]] if self.model == "together" else self.asked

    @property
    def estimate_is_counts(self) -> bool:
        """Tell whether the estimate of a batch determines how often each report occurs."""
        if len(self.plan.randomizers) > 1 or self.plan.participation_model.rounds > 1:
            return False
        made = self.plan.randomizers[0]
        outputs = made.channel().outputs
        tallies = np.array([np.ravel(made.tally(np.array([output]))) for output in outputs])
        told = np.column_stack([tallies, np.ones(len(outputs))])
        return bool(np.linalg.matrix_rank(told) == len(outputs))


def _rows(made: Randomizer) -> Rows:
    return [[int(weight) for weight in row] for row in made.channel().weights.tolist()]


def _mixture(asked: Sequence[Rows], weights: Sequence[int]) -> tuple[Rows, Answers]:
    """The law of question and answer for every list of answers that a person may hold."""
    common = math.lcm(*(sum(rows[0]) for rows in asked))
    inputs = list(product(*(range(len(rows)) for rows in asked)))
    mixed = [
        [
            chance * weight * (common // sum(rows[0]))
            for rows, weight, answer in zip(asked, weights, answers, strict=True)
            for chance in rows[answer]
        ]
        for answers in inputs
    ]
    return merged(mixed), inputs


def _all_answers(asked: Sequence[Rows]) -> tuple[Rows, Answers]:
    """The law of the answers to all questions, for every list that a person may hold."""
    inputs = list(product(*(range(len(rows)) for rows in asked)))
    laws = [
        [
            math.prod(chances)
            for chances in product(
                *(rows[answer] for rows, answer in zip(asked, answers, strict=True))
            )
        ]
        for answers in inputs
    ]
    return merged(laws), inputs


def _cases(rows: Rows, n: int, *, rounds: int = 1, marks: int = 1) -> int:
    """The approximate number of outcomes that are listed."""
    values, reports = len(rows), len(rows[0])
    worlds = math.comb(n - 2 + values, values - 1) ** rounds
    return int(worlds * values**2 * math.comb(n + reports - 1, n) ** rounds * marks ** (n - 1))


def _require(cases: int) -> None:
    if cases > MOST_CASES:
        raise TooManyCasesError
