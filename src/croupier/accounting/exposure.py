"""Exposure to one kind of adversary: the privacy curve of all rounds of one person."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar

import numpy as np

from croupier.accounting.blanket import local_curve, lower_curve, upper_curve
from croupier.accounting.clones import clone_curve, unlisted_curve
from croupier.accounting.composition import BoundedCurve, Rounds, UpperCurve, subsampled
from croupier.accounting.curve import Curve
from croupier.accounting.dummies import DummyCurve, DummyFloor
from croupier.accounting.permanent import FROM_PERMANENT, PermanentReports
from croupier.accounting.sums.terms import Real
from croupier.errors import TooLargeError
from croupier.model.guarantee import Direction
from croupier.model.randomizer import Randomizer
from croupier.numerics.rounding import float_above, float_below
from croupier.plan.plan import Plan
from croupier.randomizers.memoised import MemoisedResponse

__all__ = ["MOST_OF_CLONES", "Exposure", "Hidden", "LowerCurve", "dummy_exposure"]
__all__ += ["hidden_exposure", "local_exposure"]

P = TypeVar("P")
T = TypeVar("T")


class LowerCurve(Protocol):
    """Lower bounds of delta for every epsilon."""

    @property
    def theorem(self) -> str:
        """The proof."""

    def delta(self, epsilon: float) -> float:
        """A delta that is reached at `epsilon`."""

    def epsilon(self, delta: float) -> float:
        """An epsilon that is necessary at `delta`."""


MOST_OF_CLONES = 100.0
"""The epsilon_local beyond which clones hide nobody."""

_COMPOSED = "rounds composed (Zhu, Dong and Wang 2022)"


@dataclass(frozen=True)
class Hidden:
    """The crowd in which a person hides, as a proof uses it.

    Attributes:
        honest: The number of honest people, the person included.
        share: The chance that each of the others is in the same crowd.
        clones: True if the proof uses only epsilon_local of the randomizers: a round's question may
            depend on what earlier rounds published, or there are too many pairs of values.
    """

    honest: int
    share: float
    clones: bool


@dataclass(frozen=True, eq=False)
class Exposure:
    """The privacy curve of everything that one person sends, proved from above.

    Attributes:
        upper: The upper curve of one round.
        lower: The lower curve of one round; None if nothing is known.
        rounds: The number of independent rounds.
        one_round: The proof of the upper curve.
        assumptions: What must hold.
        hidden: The crowd; None if the sender of the report is known.
        kept: The mechanism of the reports if all of them are made from one permanent answer.
    """

    upper: UpperCurve
    lower: LowerCurve | None
    rounds: int
    one_round: str
    assumptions: tuple[str, ...]
    hidden: Hidden | None = None
    kept: MemoisedResponse | None = None

    @property
    def theorem(self) -> str:
        """The proof for all rounds together."""
        if self.rounds == 1:
            return self.one_round
        composed = f"{self.one_round}; {_COMPOSED}"
        return composed if self.kept is None else f"{composed}, {FROM_PERMANENT}"

    @cached_property
    def composed(self) -> Rounds | PermanentReports:
        """All rounds together."""
        if self.kept is None or self.rounds == 1:
            return Rounds(self.upper, self.rounds)
        crowd: dict[str, Any] = {}
        if self.hidden is not None:
            crowd = {"honest": self.hidden.honest, "share": self.hidden.share}
        return PermanentReports.of(self.kept, reports=self.rounds, **crowd)

    @property
    def most(self) -> float:
        """An epsilon at which delta is zero, whatever the shuffler does."""
        return self.composed.most

    def epsilon(self, delta: float) -> float:
        """The epsilon that is proved for all rounds together."""
        return self._kept("epsilon", delta, self.composed.epsilon)

    def deltas(self, epsilons: Sequence[float], *, at: float, rtol: float = 1e-6) -> list[float]:
        """The deltas at several epsilons of all rounds, from a loss for a delta of `at`."""

        def find(points: tuple[float, ...]) -> list[float]:
            found: list[float] = self.composed.deltas(np.array(points), at=at, rtol=rtol).tolist()
            return found

        return self._kept(f"deltas, {at}, {rtol}", tuple(epsilons), find)

    def attained_epsilon(self, delta: float) -> float | None:
        """An epsilon that one round is proved to reach; None if nothing is known."""
        if self.lower is None:
            return None
        return self._kept("attained", delta, self.lower.epsilon)

    @cached_property
    def attained_distance(self) -> float:
        """A delta at epsilon 0 that one round is proved to reach."""
        return 0.0 if self.lower is None else self.lower.delta(0.0)

    def _kept(self, what: str, at: P, find: Callable[[P], T]) -> T:
        """A cache of earlier results, since several rungs and columns ask for them."""
        if (what, at) not in self._found:
            self._found[what, at] = find(at)
        return self._found[what, at]  # type: ignore[no-any-return]

    @cached_property
    def _found(self) -> dict[tuple[str, Any], Any]:
        return {}

    def repeated(self, times: int) -> "Exposure":
        """The exposure of the same person in several collections of this kind, with fresh noise."""
        return self.of(self.rounds * times)

    def of(self, rounds: int) -> "Exposure":
        """The exposure of the same person in so many rounds."""
        if rounds == self.rounds:
            return self
        permanent = self.kept is not None
        before = _several(self.rounds, permanent=permanent)
        kept = [text for text in self.assumptions if text != before]
        several = (_several(rounds, permanent=permanent),) if rounds > 1 else ()
        return replace(self, rounds=rounds, assumptions=(*kept, *several))


def hidden_exposure(
    plan: Plan, *, rounds_seen: bool, corrupt: int, kept: Fraction = Fraction(1)
) -> Exposure:
    """The exposure to a reader of the batch, with or without sight of everybody's rounds.

    The curve is that of the worst crowd in which the person may be. All corrupt people are taken
    to be in it: of an expected n s people of the crowd, n s - corrupt are left.

    Args:
        plan: The plan.
        rounds_seen: True if it is known who sends in which round.
        corrupt: The number of corrupt people.
        kept: The chance that a report is kept, if it is known whose are: the others are no crowd.
    """
    crowd = plan.worst_crowd(rounds_seen=rounds_seen)
    honest = max(1, crowd.people - math.ceil(corrupt / crowd.share))
    hidden = Hidden(honest, float_below(crowd.share * kept), _needs_clones(plan))
    upper = _upper(plan, hidden)
    theorem, assumptions = upper.theorem, upper.assumptions
    curve: UpperCurve = upper
    if plan.participation_model.sampled:
        batch, people = plan.protections.minimum_batch, plan.people
        assumptions += (f"each round asks a fresh random {batch:,} of {people:,}, no more",)
        if not rounds_seen:
            # Corrupt people know whether they were asked: the others share what is left.
            share = min(1.0, float_above(Fraction(batch, people - corrupt)))
            curve = _sampled(upper, share)
            theorem += "; sampling (Balle, Barthe and Gaboardi 2018)"
            assumptions += ("who is asked stays unseen",)
    if plan.reports > 1:
        assumptions += (_several(plan.reports, permanent=plan.keeps_answer),)
    lower = _lower(plan, hidden)
    kept_answer = _permanent(plan)
    return Exposure(curve, lower, plan.reports, theorem, assumptions, hidden, kept_answer)


def _permanent(plan: Plan) -> MemoisedResponse | None:
    """The mechanism of a plan whose devices keep an answer."""
    [first, *_] = plan.randomizers
    return first if isinstance(first, MemoisedResponse) else None


def _sampled(asked: Curve, share: float) -> BoundedCurve:
    """The curve of a round that asks a random share of the people, unseen."""
    most = math.log1p(share * math.expm1(asked.epsilon_local)) * (1 + 1e-15)

    def bound(epsilons: Real, rtol: float) -> Real:
        return subsampled(partial(asked.log_deltas, rtol=rtol), share)(epsilons)

    return BoundedCurve(bound, most)


def _lower(plan: Plan, hidden: Hidden) -> Curve | None:
    """The proved lower curve of a batch; None if chance decides the person's crowd.

    Or if the batch's name decides what people send: a curve is proved for all names.
    """
    varies = any(mechanism.varies_by_batch for mechanism in plan.randomizers)
    if hidden.share < 1 or plan.participation_model.sampled or varies:
        return None
    if not hidden.clones:
        return lower_curve(plan.randomizer, n=hidden.honest)
    # All rounds may ask the same question; then the batches together are one batch.
    return lower_curve(plan.randomizers[0], n=hidden.honest) if len(plan.randomizers) == 1 else None


def _several(rounds: int, *, permanent: bool = False) -> str:
    on = " on one permanent answer" if permanent else ""
    return f"{rounds:,} rounds of one person, fresh noise{on} in each"


def _mechanisms(plan: Plan) -> tuple[Randomizer, ...]:
    """The randomizers that everybody applies, or those of the questions that a person may draw."""
    together = plan.participation_model.answers_all or not _needs_clones(plan)
    return (plan.randomizer,) if together else plan.randomizers


def _one_report(plan: Plan) -> bool:
    """Tell whether everybody certainly sends a report of one and the same mechanism."""
    [first, *others] = _mechanisms(plan)
    known = not (plan.participation_model.answers_all and _needs_clones(plan))
    return known and not (others or plan.participation_model.sampled or first.varies_by_batch)


def _needs_clones(plan: Plan) -> bool:
    if plan.participation_model.adaptive:
        return True
    try:
        plan.randomizer.representative_pairs()
    except TooLargeError:
        return True
    return False


def _upper(plan: Plan, hidden: Hidden) -> Curve:
    if not hidden.clones:
        return upper_curve(plan.randomizer, n=hidden.honest, report_probability=hidden.share)
    local = max(made.checked_epsilon_local for made in plan.reported)
    if not 0 < local <= MOST_OF_CLONES:
        return _worst_local(plan)
    return clone_curve(epsilon_local=local, n=hidden.honest, report_probability=hidden.share)


def local_exposure(plan: Plan) -> Exposure:
    """The exposure if the sender of every report is known: only the local noise protects.

    A report that is sent again is one report.
    """
    upper = _worst_local(plan)
    reused = plan.participation.noise == "reused"
    rounds = 1 if reused else plan.reports
    return Exposure(
        upper=upper,
        lower=replace(upper, direction=Direction.LOWER) if _one_report(plan) else None,
        rounds=rounds,
        one_round=upper.theorem,
        assumptions=(_several(rounds, permanent=plan.keeps_answer),)
        if rounds > 1
        else upper.assumptions,
        kept=_permanent(plan),
    )


def dummy_exposure(plan: Plan, shuffler: int) -> Exposure | None:
    """The exposure if one shuffler is honest, and everybody else works together.

    They may drop all other reports and fill the batch with their own: dummies alone protect. None
    if that shuffler adds none.

    Local noise helps once per report. A report that is sent again is protected by the dummies of
    every round; its own noise is not counted then.

    Args:
        plan: The plan.
        shuffler: The place of the shuffler, from 0.
    """
    table, section = plan.dummies[shuffler], plan.shufflers[shuffler]
    if table is None:
        return None
    again = plan.participation.noise == "reused" and plan.reports > 1
    distance = 1.0 if again else local_curve(plan.randomizer).delta(0.0)
    upper = DummyCurve(table, section.kept, min(1.0, distance))
    assumptions: tuple[str, ...] = (f"{_called(plan, shuffler)} is honest",)
    if plan.reports > 1:
        assumptions += (f"{plan.reports:,} rounds of one person, fresh dummies in each",)
    lower = None
    if (chances := plan.randomizer.answer_chances) is not None:
        own, other = (section.kept * chance for chance in chances)
        lower = DummyFloor(table, own, other)
    return Exposure(upper, lower, plan.reports, upper.theorem, assumptions)


def _called(plan: Plan, shuffler: int) -> str:
    if len(plan.shufflers) == 1:
        return "the shuffler"
    return f"the {('first', 'second')[shuffler]} shuffler"


def _worst_local(plan: Plan) -> Curve:
    if plan.participation_model.answers_all and _needs_clones(plan):
        return unlisted_curve(plan.randomizer.checked_epsilon_local)
    curves = [local_curve(mechanism) for mechanism in _mechanisms(plan)]
    return Curve(
        pairs=[pair for curve in curves for pair in curve.pairs],
        direction=Direction.UPPER,
        epsilon_local=max(curve.epsilon_local for curve in curves),
        theorem=curves[0].theorem,
        assumptions=curves[0].assumptions,
    )
