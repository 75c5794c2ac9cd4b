"""Guessing one person's value from the batch, knowing nobody or everybody else."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.attacks.game import Outcomes, ScoredGame, with_rest
from croupier.leakage.source import probability_rows
from croupier.model.adversary import Knowledge
from croupier.model.metric import Metric

__all__ = ["InformedGame", "UninformedGame"]

Real = NDArray[np.float64]

_EQUAL = 1 - 1e-9
"""Two sums whose ratio is closer to 1 may be the same, rounded."""

_TINY = 1e-300
"""A stand-in for a probability of zero: a report that nobody else sends identifies its sender."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _ValueGame(ScoredGame):
    """The guess of one of k equally likely values, in one round."""

    @cached_property
    def rows(self) -> Real:
        """The law of a report given the value.

        Raises:
            TooLargeError: There are too many reports.
        """
        return probability_rows(self.scene.randomizer.channel())

    @property
    def cost(self) -> int:
        """One number per value and kind of report, compared."""
        return 2 * self.rows.size


@dataclass(frozen=True, eq=False, kw_only=True)
class UninformedGame(_ValueGame):
    """Everybody's value is drawn; of the batch, with c_y reports y, guess

        the x for which the sum of R(y | x) c_y/r_y is largest,    r_y = (1/k) sum_x R(y | x).

    The people are alike, so the one who is meant may be any of them: the score is the share of
    people who hold the guessed value.

    Reference: jurado2023, Theorem 19, for any channel.
    """  # noqa: D415 - the formula ends the sentence

    name = "guess_uninformed"
    metric = Metric.GUESS_UNINFORMED
    knows = Knowledge.NOTHING

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the shares of people who hold the guessed value."""
        rows, scene = self.rows, self.scene
        average = rows.mean(axis=0)
        belief = np.minimum(1.0, rows / (len(rows) * np.maximum(average, _TINY)))
        present = 1 + rng.binomial(scene.people - 1, scene.share, size=games)
        reports = rng.multinomial(present, average / average.sum())
        guess = (reports @ belief.T).argmax(axis=1)
        held = rng.binomial(reports, belief[guess]).sum(axis=1)
        return np.asarray(held / present)


@dataclass(frozen=True, eq=False, kw_only=True)
class InformedGame(_ValueGame):
    """All others hold one value, and the attacker knows it; of the batch, guess

        the x for which the sum of R(y | x) c_y/w_y is largest,    w_y = R(y | the others' value).

    The others' reports are drawn. The score is the chance that the guess is right over the one
    person's value and noise: (1/k) times the sum over y of R(y | the guess after y is added).

    Reference: jurado2023, Equation 10.
    """  # noqa: D415 - the formula ends the sentence

    name = "guess_informed"
    metric = Metric.GUESS_INFORMED

    @cached_property
    def others(self) -> int:
        """The value of the others at which the rows are furthest apart, by chi-square."""
        rows = self.rows
        squares = (rows * rows).sum(axis=0)
        total = rows.sum(axis=0)
        apart = squares - total * total / len(rows)
        return int(np.argmax((apart / np.maximum(rows, _TINY)).sum(axis=1)))

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the chances of guessing right."""
        rows, scene = self.rows, self.scene
        law = rows[self.others]
        ratio = rows / np.maximum(law, _TINY)
        others = rng.multinomial(scene.people - 1, with_rest(scene.share * law), size=games)
        standing = others[:, :-1] @ ratio.T
        score = np.zeros(games)
        for report, likelihood in enumerate(ratio.T):
            after = standing + likelihood
            # The first of equals up to rounding: the rounding of a sum may betray what came last.
            guess = (after >= _EQUAL * after.max(axis=1, keepdims=True)).argmax(axis=1)
            score += rows[guess, report]
        return np.asarray(np.minimum(1.0, score / len(rows)))
