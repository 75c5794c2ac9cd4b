"""The epsilon between two values of one person in batches with dummies, played and weighted."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from croupier.auditing.attacks.distinguisher import EpsilonGame, Law
from croupier.auditing.attacks.dummy_games import log_ratios
from croupier.auditing.attacks.dummy_law import MOST_PAIRS, CountLaw, Counts, Real
from croupier.auditing.attacks.dummy_scene import DummyScene
from croupier.auditing.attacks.game import Outcomes
from croupier.numerics.bisection import bisect_safe

__all__ = ["Drawn", "DummyEpsilonGame", "DummyWeights"]

_PILOT = 4000
"""Games that choose where to look; they are not counted."""

_PILOT_CONFIDENCE = 0.95
_WORTH = 1.02
"""The factor by which batches drawn as they come must show more: the others give an upper end."""

_TILTS = tuple(2.0**power for power in range(-3, 7))
_ROUNDING = 1e-9
_BEYOND = 700.0
"""An epsilon beyond all others: what exceeds delta there does so at every epsilon."""


@dataclass(frozen=True, eq=False)
class Drawn(Law):
    """Batches drawn as they come from the first value, dummies as the shuffler draws them.

    Attributes:
        scene: The attacker's view.
    """

    scene: DummyScene

    def draw(self, games: int, rounds: int, rng: np.random.Generator) -> Real:  # noqa: ARG002
        """Return two columns: likelihoods of batches under either value, relative to the first."""
        for_first = log_ratios(self.scene, np.ones(games, dtype=np.int64), rng)
        return np.stack([np.full(games, 1 - _ROUNDING), np.exp(-for_first)], axis=1)


@dataclass(frozen=True, eq=False)
class DummyWeights(Law):
    """Counts drawn from laws under which the decisive ones are frequent, and their weights.

    A pair of counts whose chance is A under the first value, and that is drawn with a chance q,
    counts A/q.

    Attributes:
        scene: The attacker's view.
        first: The chances with which counts of the first value are drawn, from its least count.
        second: Those for the second value.
        limit: An epsilon, and the largest weighted difference from there on; None if unknown.
    """

    scene: DummyScene
    first: Real
    second: Real
    limit: tuple[float, float] | None = None

    @classmethod
    def tilted(cls, scene: DummyScene, strength: float) -> "DummyWeights":
        """Return counts that are shifted up for the first value, and down for the second."""
        up, down = (
            _tilted(law, way * strength) for law, way in zip(scene.pair.laws, (1, -1), strict=True)
        )
        return cls(scene, up, down)

    @classmethod
    def decisive(cls, scene: DummyScene) -> "DummyWeights | None":
        """Return counts of which half are those that decide at delta; None if there are too many.

        All pairs of counts are listed, and so delta is known at every epsilon. Half of the draws
        follow the share of each count in delta, at the least epsilon that suffices.
        """
        one, two = scene.pair.laws
        size = len(one.law) + 1, len(two.law) + 1
        if size[0] * size[1] > MOST_PAIRS:
            return None
        rows = np.arange(size[0])[:, None] + one.start
        columns = np.arange(size[1])[None, :] + two.start
        likely, other = scene.likelihoods(
            *(np.broadcast_to(each, size).astype(np.int64) for each in (rows, columns))
        )

        def difference(epsilon: float) -> Real:
            return np.asarray(np.maximum(likely - math.exp(epsilon) * other, 0.0))

        def is_enough(epsilon: float) -> bool:
            return float(difference(epsilon).sum()) <= scene.delta

        if not is_enough(_BEYOND):
            return None
        epsilon = bisect_safe(is_enough, safe=_BEYOND, unsafe=0.0, tolerance=1e-10)
        gain = difference(epsilon)
        if not gain.any():
            return None
        first = (_normalised(gain.sum(axis=1)) + _normalised(_either(one.law))) / 2
        second = (_normalised(gain.sum(axis=0)) + _normalised(_either(two.law))) / 2
        drawn = first[:, None] * second[None, :]
        most = float((gain / np.where(drawn > 0, drawn, 1.0)).max()) * (1 + 1e-6)
        return cls(scene, first, second, (epsilon, most))

    def draw(self, games: int, rounds: int, rng: np.random.Generator) -> Real:
        """Return two columns: the likelihoods of the counts of all rounds, weighted."""
        logs = np.zeros((games, 2))
        for _ in range(rounds):
            one, chance = _drawn(self.first, games, rng)
            two, beside = _drawn(self.second, games, rng)
            starts = [law.start for law in self.scene.pair.laws]
            with np.errstate(divide="ignore"):
                likely = np.log(
                    np.stack(self.scene.likelihoods(one + starts[0], two + starts[1]), axis=1)
                )
                logs += likely - np.log(chance * beside)[:, None]
        return np.exp(logs)


def _tilted(law: CountLaw, strength: float) -> Real:
    """Return a law of counts shifted up, or down if the strength is negative."""
    numbers = np.arange(law.start, law.start + len(law.law) + 1)
    ratios = np.clip(law.ratio(numbers), math.exp(-1.0), math.exp(1.0))
    return _normalised(_either(law.law) * ratios**strength)


def _either(law: Real) -> Real:
    """Return the law of a count with and without one more report, equally likely."""
    return np.asarray((np.append(law, 0.0) + np.append(0.0, law)) / 2)


def _normalised(law: Real) -> Real:
    return np.asarray(law / law.sum())


def _drawn(law: Real, games: int, rng: np.random.Generator) -> tuple[Counts, Real]:
    """Draw numbers of a law; return them with their chances."""
    ends = np.cumsum(law)
    places = np.searchsorted(ends, rng.random(games) * ends[-1], side="right")
    return places, law[places]


@dataclass(frozen=True, eq=False, kw_only=True)
class DummyEpsilonGame(EpsilonGame):
    """Measure the epsilon at delta between two values of one person, from two counts.

    As `EpsilonGame`, with the likelihoods of two counts that contain dummies.
    """

    scene: DummyScene

    @cached_property
    def law(self) -> Law:
        """The law to draw counts from: the one whose first games show most."""
        rng = np.random.default_rng(self.pilot)

        def shown(law: Law) -> float:
            return self._lower(law.draw(_PILOT, self.scene.rounds, rng), law, _PILOT_CONFIDENCE)

        drawn = Drawn(self.scene)
        best = decisive = DummyWeights.decisive(self.scene) if self.scene.rounds == 1 else None
        if decisive is None:
            best = max((DummyWeights.tilted(self.scene, tilt) for tilt in _TILTS), key=shown)
        return drawn if best is None or shown(drawn) > _WORTH * shown(best) else best

    @property
    def cost(self) -> int:
        """Two counts per round, drawn and weighted, and the bets on each."""
        return 60 * self.scene.rounds + 100

    def _measured(self, outcomes: Outcomes, law: Law) -> float:
        if self._is_more(outcomes, law, _BEYOND):
            return math.inf
        return super()._measured(outcomes, law)

    def _lower(self, outcomes: Outcomes, law: Law, confidence: float) -> float:
        if self._exceeds(outcomes, law, _BEYOND, confidence):
            return math.inf
        return super()._lower(outcomes, law, confidence)
