"""The setting of an attack on a plan whose shufflers add dummies: whose dummies are not known."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.attacks.dummy_law import CountLaw, Counts, PairLaw, Real, Unknown
from croupier.auditing.attacks.scene import Scene
from croupier.model.rung import Rung, corrupts
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan

__all__ = ["DummyScene", "dummy_scenes", "least_protected"]

_SECRET = 32
_ROWS = ("sorted", "released-order")
_COUNTS = ("histogram", *_ROWS)


@dataclass(frozen=True, eq=False, kw_only=True)
class DummyScene(Scene):
    """One rung of a plan whose shufflers add dummies, as an attacker finds it.

    The others all hold one value that is none of the two to be told apart, if there is a third;
    the attacker knows it. Their local noise is not known, and neither are some dummies.

    Attributes:
        unknown: The dummies that the attacker does not know.
        kept: The chance that a report is released.
        rows: True if released reports are seen one by one.
    """

    unknown: tuple[Unknown, ...] = ()
    kept: float = 1.0
    rows: bool = True

    @property
    def values(self) -> int:
        """The number of possible values and reports."""
        return self.randomizer.domain.size or 0

    @cached_property
    def chances(self) -> tuple[float, float]:
        """The chances that a person's report is released and is the value, or a given other one."""
        own, other = self.randomizer.require_answer_chances()
        return self.kept * float(own), self.kept * float(other)

    def law_beside(self, *, own: bool) -> CountLaw:
        """Return the law of a count without the one person: of the others' value, or not."""
        return self.law_of(self.chances[0 if own else 1])

    def law_of(self, chance: float) -> CountLaw:
        """Return the law of a count that each of the others is in with a chance, and of dummies."""
        if chance not in self._laws:
            self._laws[chance] = CountLaw.of(self.people - 1, chance, self.unknown)
        return self._laws[chance]

    @cached_property
    def _laws(self) -> dict[float, CountLaw]:
        return {}

    @property
    def spread(self) -> tuple[float, float]:
        """The chances that another person's report is each of the two values to be told apart."""
        own, other = self.chances
        return other, own if self.values == 2 else other

    @cached_property
    def pair(self) -> PairLaw:
        """The law of the counts of the two values without the one person's report."""
        return PairLaw.of(self.people - 1, self.spread, self.unknown)

    def likelihoods(self, first: Counts, second: Counts) -> tuple[Real, Real]:
        """Return the likelihoods of two counts if the person holds the first, or the second value.

            own P(u-1, v) + other P(u, v-1) + rest P(u, v),   and so with own and other swapped,

        P being the law of the counts without the person, and rest = 1 - own - other.
        """
        own, other = self.chances
        law = self.pair
        up, beside = law.chance(first - 1, second), law.chance(first, second - 1)
        rest = (1 - own - other) * law.chance(first, second)
        return own * up + other * beside + rest, other * up + own * beside + rest

    def draw_two(self, bits: Counts, rng: np.random.Generator) -> tuple[Counts, Counts]:
        """Draw the counts of two values; the person holds the first where a bit is 1."""
        games, spread = len(bits), self.spread
        if self.people > 1 and max(spread) > 0:
            law = [*spread, max(0.0, 1 - sum(spread))]
            beside = rng.multinomial(self.people - 1, law, size=games)[:, :2]
        else:
            beside = np.zeros((games, 2), dtype=np.int64)
        for each in self.unknown:
            beside = beside + each.draw(2 * games, rng).reshape(games, 2)
        reports, sent = self.report(1 - bits, rng)
        return beside[:, 0] + (sent & (reports == 0)), beside[:, 1] + (sent & (reports == 1))

    def report(self, values: Counts, rng: np.random.Generator) -> tuple[Counts, NDArray[np.bool_]]:
        """Draw the report of each value as a client does, exactly, and whether it is kept."""
        stream = Keystream(secret=rng.bytes(_SECRET))
        drawn = self.randomizer.draw_bounds
        reports = self.randomizer.respond(values, stream.table(drawn, len(values)))
        sent = np.ones(len(values), dtype=bool)
        if self.kept < 1:
            sent = rng.random(len(values)) < self.kept
        return np.asarray(reports).reshape(len(values)).astype(np.int64), sent


def dummy_scenes(plan: Plan) -> Iterator[tuple[DummyScene, ...]]:
    """Yield the rungs on which a plan with dummies is attacked.

    One rung may have several scenes, of which the adversary chooses the best: any one shuffler may
    be the honest one.
    """
    publication = plan.analyzer.publication
    everything = tuple(range(len(plan.shufflers)))
    if publication in _COUNTS:
        yield (_scene(plan, Rung.ESTIMATE, everything, rows=publication in _ROWS),)
    yield (_scene(plan, Rung.BATCH, everything),)
    for rung in plan.rungs:
        if rung.mixes is not None and publication != "none":
            others = tuple(place for place in everything if place != rung.mixes)
            known = publication == "released-order" and not others  # it drew that order itself
            rows = publication == "sorted"
            yield (_scene(plan, rung, others, rows=rows, alone=known),)
    if plan.corrupt:
        yield (_scene(plan, Rung.CLIENTS, everything),)
    if len(plan.shufflers) > 1:
        yield tuple(_scene(plan, Rung.ALL_BUT_ONE, (honest,), alone=True) for honest in everything)
    if plan.randomizer.shows_value:
        yield (_scene(plan, Rung.COLLUSION.among(len(plan.shufflers))[0], (), alone=True),)


def _scene(
    plan: Plan, rung: Rung, honest: tuple[int, ...], *, rows: bool = True, alone: bool = False
) -> DummyScene:
    """Return the scene of an adversary who knows all dummies except those of some shufflers.

    Args:
        plan: The plan.
        rung: The attacker's position.
        honest: The shufflers whose dummies are not known.
        rows: True if released reports are seen one by one.
        alone: True if everybody else's reports are known or dropped, by shufflers that keep what
            they like; those on the rung of one shuffler keep the plan's share.
    """
    corrupt = plan.corrupt if corrupts(rung) else 0
    kept = [float(each.kept) for each in plan.shufflers]
    if alone:
        kept = [share if place in honest else 1.0 for place, share in enumerate(kept)]
    unknown = []
    for place, table in enumerate(plan.dummies):
        passed = math.prod(kept[place + 1 :])
        if table is not None and (place in honest or (passed < 1 and not alone)):
            unknown.append(Unknown(table, passed))
    once = plan.participation.noise == "reused" and not plan.randomizer.shows_value
    return DummyScene(
        rung=rung,
        randomizer=plan.randomizer,
        people=1 if alone else max(1, plan.people - corrupt),
        rounds=1 if once else plan.reports,
        corrupt=corrupt,
        delta=plan.guarantee.delta or 0.0,
        unknown=tuple(unknown),
        kept=math.prod(kept),
        rows=rows,
    )


def least_protected(
    scenes: tuple[DummyScene, ...], gain: Callable[[DummyScene], float]
) -> DummyScene:
    """Return the scene in which the adversary gains most."""
    return scenes[0] if len(scenes) == 1 else max(scenes, key=gain)
