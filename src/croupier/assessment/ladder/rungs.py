"""The gains of the adversary on each rung: what follows from its view."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from croupier.accounting.exposure import (
    MOST_OF_CLONES,
    Exposure,
    dummy_exposure,
    hidden_exposure,
    local_exposure,
)
from croupier.assessment.ladder.cause import cause
from croupier.assessment.ladder.cell import Cell, best, bound_only
from croupier.assessment.ladder.dummies import DummyCells, worst
from croupier.assessment.ladder.manipulation import manipulation
from croupier.assessment.ladder.metrics import Columns
from croupier.assessment.ladder.rung_views import RungViews
from croupier.errors import TooLargeError
from croupier.leakage.reidentification import reidentification
from croupier.leakage.uninformed import guess_uninformed
from croupier.leakage.visible_order import visible_order_link
from croupier.leakage.within import within_informed, within_uninformed
from croupier.model.adversary import Adversary, Goal, Knowledge
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import LADDER, NEAR, Metric
from croupier.model.rung import Rung, corrupts, watches
from croupier.model.texts import Texts
from croupier.numerics.rounding import float_above, float_below

__all__ = ["NO_ROWS", "ORDER_FREE", "Cells", "Rungs"]

Cells = dict[Metric, Cell]

_ROUNDING = 1e-12
"""The relative error of an exact chance."""

NO_ROWS = "no report is shown, and the order says nothing about the counts"
_SEALED = "the analyzer keeps its key to itself, and HPKE holds (computational)"
_HPKE = "HPKE holds (computational)"
_REUSED = "the same report is in every batch, so that batches can be matched"
_ORDERED = "the released order is seen and is not uniform"
_CORRUPT_CROWD = "the whole minimum crowd may be corrupt"
_KNOWN = "every report is seen with its sender"
_OWN_ORDER = "whoever draws the order knows it"
_NO_NOISE = "some report gives a value away"
_ADDS_UP = "fresh noise adds up from window to window"
_UNIFORM = "uniform order"
ORDER_FREE = "what is published does not depend on the order"
_EACH_GROUP = "the minimum batch is kept in each group"


@dataclass(frozen=True, eq=False)
class Rungs(RungViews):
    """The gains of the adversary on each rung from its own view."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The columns; those about numbers, and that for the order, only if there are any.

        Texts are not equally likely: no guess among all of them is bounded.
        """
        absent = {Metric.ALPHA} if self.plan.shuffling.groups is None else set()
        absent |= set() if self.plan.windows else set(NEAR)
        absent |= {Metric.EPSILON_PERMANENT} if self.plan.collection.window is None else set()
        if all(isinstance(made.domain, Texts) for made in self.plan.randomizers):
            absent |= {Metric.GUESS_UNINFORMED, Metric.GUESS_INFORMED}
        return tuple(metric for metric in LADDER if metric not in absent)

    def cell(self, rung: str, metric: Metric) -> Cell:
        """The gain of the adversary on the rung from its own view, in one metric."""
        if metric is Metric.MANIPULATION:
            return manipulation(self.plan)
        found = self._cell(rung, metric)
        if metric is Metric.EPSILON and found.proved is None:
            return replace(found, reason=cause(self.plan, rung).reason)
        return found

    def _cell(self, rung: str, metric: Metric) -> Cell:
        if metric is Metric.ALPHA:
            return self._alpha(rung)
        if metric is Metric.EPSILON_PERMANENT:
            return self._for_ever(rung)
        if rung == Rung.ALL_BUT_ONE:
            return worst(self._if_honest(each, metric) for each in range(len(self.plan.shufflers)))
        found = self._own_cell(rung, metric)
        if not self.says_nothing(rung):
            if self.samples and not self.sees_all(rung):
                found = bound_only(found)  # a report that is dropped shows nothing
            if metric is Metric.REIDENTIFICATION and self.has_own_dummies(rung):
                found = bound_only(found)  # rows of one value are alike, also those it made
            for each in self.dummies(rung):
                found = self._with_dummies(found, each, metric, rung)
        return replace(
            found,
            proved=self._qualified(found.proved, rung),
            attained=self._qualified(found.attained, rung),
        )

    def _if_honest(self, shuffler: int, metric: Metric) -> Cell:
        """The gain of everybody else if one shuffler is honest; they drop all other reports."""
        alone = self._own_cell(Rung.EVERYBODY, metric)
        exposure = self.dummy_exposures[shuffler]
        if exposure is None:
            return alone
        adversary = self.adversary(Rung.ALL_BUT_ONE, Goal.DISTINGUISH)
        hidden = DummyCells(self.plan, shuffler, exposure, adversary, alone=True).cell(metric)
        return best(_assuming(hidden, _HPKE), stronger=alone)

    def dummies(self, rung: str) -> list[DummyCells]:
        """The shufflers whose dummies the adversary on the rung does not know.

        All bounds hold, each with the dummies of one shuffler: how many each of them made in all is
        public, so that their sum hides less than a law of the sum would say.
        """
        unknown = [(each, self.dummy_exposures[each]) for each in self.unknown_dummies(rung)]
        adversary = self.adversary(rung, Goal.DISTINGUISH)
        counted = self.sees_rows(rung) or self.plan.analyzer.publication == "histogram"
        exact = counted and len(unknown) == 1 and self.plan.randomizer.shows_value
        alone = exact and not self.samples
        return [
            DummyCells(self.plan, place, exposure, adversary, alone)
            for place, exposure in unknown
            if exposure is not None
        ]

    @cached_property
    def dummy_exposures(self) -> list[Exposure | None]:
        """The privacy curve of the dummies of each shuffler; None for one that makes none."""
        return [dummy_exposure(self.plan, place) for place in range(len(self.plan.shufflers))]

    def _with_dummies(self, cell: Cell, dummies: DummyCells, metric: Metric, rung: str) -> Cell:
        """The cell, improved by what the dummies of one shuffler guarantee.

        What the local noise and the crowd reach without dummies is no longer reached.
        """
        if metric is Metric.REIDENTIFICATION and not self.sees_rows(rung):
            return cell
        hidden = dummies.cell(metric)
        if metric is Metric.REIDENTIFICATION:
            hidden = bound_only(hidden)  # others may hold the same value
        joined = best(bound_only(cell), stronger=hidden)
        return hidden if hidden.exact and joined.proved_value == hidden.proved_value else joined

    def _qualified(self, claim: Guarantee | None, rung: str) -> Guarantee | None:
        """The claim with all its assumptions."""
        if claim is None:
            return None
        assumptions = list(claim.assumptions)
        if _UNIFORM in assumptions and self.exposure(rung).hidden is None:
            assumptions.remove(_UNIFORM)  # one report has no order
        elif self.plan.shuffling.alpha and _UNIFORM in assumptions:
            assumptions[assumptions.index(_UNIFORM)] = ORDER_FREE
        elif self.plan.shuffling.groups is not None and _UNIFORM in assumptions:
            assumptions.append(_EACH_GROUP)
        if self.mixes(rung) and not self.knows_senders(rung):
            assumptions.append(_SEALED)
        return replace(claim, assumptions=tuple(assumptions))

    def _own_cell(self, rung: str, metric: Metric) -> Cell:
        if self.says_nothing(rung):
            nothing = "nothing is published"
            value = Fraction(self.blind[metric].upper or 0.0)
            adversary = self.adversary(rung, Goal.DISTINGUISH)
            found = self._exact(metric, value, adversary, nothing)
            if metric is not Metric.REIDENTIFICATION:
                return found
            return self._among_dummies(found, unknown=self.unknown_dummies(rung))
        return {
            Metric.EPSILON: lambda: self.columns(rung).epsilon(),
            Metric.REIDENTIFICATION: lambda: self._link(rung),
            Metric.GUESS_OF_TWO: lambda: self.columns(rung).guess_of_two(),
            Metric.GUESS_UNINFORMED: lambda: self._uninformed(rung),
            Metric.GUESS_INFORMED: lambda: self._informed(rung),
            Metric.WITHIN_UNINFORMED: lambda: self._within_uninformed(rung),
            Metric.WITHIN_INFORMED: lambda: self._within_informed(rung),
            Metric.BAYES_SECURITY: lambda: self.columns(rung).bayes_security(),
        }[metric]()

    def columns(self, rung: str) -> Columns:
        """The metrics that follow from the privacy curve of the rung."""
        return Columns(
            exposure=self.exposure(rung),
            adversary=self.adversary(rung, Goal.DISTINGUISH),
            delta=self.plan.guarantee.delta or 0.0,
            values=self.values,
            windows=self.plan.windows,
            attacked=self._attained(rung),
            one_answer=self.one_answer,
        )

    @cached_property
    def blind(self) -> Cells:
        """The gain of somebody who sees nothing."""
        guess = Fraction(1, self.values)
        near = max((each.luck for each in self.plan.windows), default=guess)
        values = {
            Metric.EPSILON: Fraction(0),
            Metric.EPSILON_PERMANENT: Fraction(0),
            Metric.REIDENTIFICATION: Fraction(1, self.plan.protections.minimum_batch),
            Metric.GUESS_OF_TWO: Fraction(1, 2),
            Metric.GUESS_UNINFORMED: guess,
            Metric.GUESS_INFORMED: guess,
            Metric.WITHIN_UNINFORMED: near,
            Metric.WITHIN_INFORMED: near,
            Metric.BAYES_SECURITY: Fraction(1),
            Metric.ALPHA: Fraction(0),
        }
        nobody = Adversary(sees=frozenset(), knows=Knowledge.NOTHING)
        found = {
            metric: self._exact(metric, value, nobody, "a guess by luck alone")
            for metric, value in values.items()
            if metric in self.metrics
        }
        link = found[Metric.REIDENTIFICATION]
        return found | {Metric.REIDENTIFICATION: self._among_dummies(link, unknown=None)}

    def _among_dummies(self, cell: Cell, *, unknown: list[int] | None) -> Cell:
        """The chance to point at a report by luck, which dummies lower if they are not known.

        At most 1 in the n people, and 1 in the reports of one value. With the mean number of rows,
        1 of them at least:

            kept / (1 + (n - 1) kept + dummies),

        since the mean of an inverse is at least the inverse of the mean.
        """
        places = range(len(self.plan.shufflers)) if unknown is None else unknown
        if cell.proved is None or not (self.samples or any(self.plan.dummies[e] for e in places)):
            return cell
        kept, rows = Fraction(1), Fraction(0)
        bins = self.plan.randomizer.alphabet_size or 0
        for place, section in enumerate(self.plan.shufflers):
            table = self.plan.dummies[place] if place in places else None
            rows = section.kept * rows + (bins * table.mean if table else 0)
            kept *= section.kept
        others = math.ceil(1 / Fraction(cell.proved.value)) - 1
        tables = [self.plan.dummies[place] for place in places]
        alone = [float_above(table.alone) for table in tables if table is not None]
        least = min([cell.proved.value, *alone])
        proved = replace(cell.proved, value=least, direction=Direction.UPPER)
        low = replace(
            proved,
            value=float_below(kept / (1 + others * kept + rows)),
            direction=Direction.LOWER,
            theorem="one row, picked by luck among all rows",
        )
        return Cell(metric=cell.metric, proved=proved, attained=low)

    def exposure(self, rung: str) -> Exposure:
        """The privacy curve against somebody on the rung who is shown something."""
        if self.knows_senders(rung) or self.reads_order(rung) or self.reused:
            return self.local
        # Whoever receives the reports of people and drops some of them knows whose are left.
        first = rung in (Rung.SHUFFLER, Rung.SHUFFLER_1)
        kept = self.plan.shufflers[0].kept if first else Fraction(1)
        return self._hidden(seen=watches(rung), corrupt=corrupts(rung), kept=kept)

    def _hidden(self, *, seen: bool, corrupt: bool, kept: Fraction) -> Exposure:
        key = seen and self._rounds_betray, corrupt and self.plan.corrupt > 0, kept
        if key not in self._exposures:
            people = self.plan.corrupt if corrupt else 0
            self._exposures[key] = hidden_exposure(
                self.plan, rounds_seen=seen, corrupt=people, kept=kept
            )
        return self._exposures[key]

    @cached_property
    def _rounds_betray(self) -> bool:
        """Tell whether a person hides among fewer once it is seen who sends in which round."""
        unseen, seen = (
            self.plan.participation_model.crowds(self.plan.people, rounds_seen=seen)
            for seen in (False, True)
        )
        return unseen != seen

    @cached_property
    def _exposures(self) -> dict[tuple[bool, bool, Fraction], Exposure]:
        return {}

    @cached_property
    def local(self) -> Exposure:
        """The privacy curve against somebody who knows the sender of every report."""
        return local_exposure(self.plan)

    def _attained(self, rung: str) -> bool:
        """Tell whether the adversary sees all that the lower curve is about.

        That is every report with its sender, or how often each report occurs: an estimate may say
        less, and of batches in some order, or that can be matched, only an upper curve is known.
        """
        if self.knows_senders(rung):
            return self.local.lower is not None
        counted = self.sees_rows(rung) or self.plan.analyzer.publication == "histogram"
        exposure = self.exposure(rung)
        return counted and exposure.hidden is not None and exposure.lower is not None

    def _link(self, rung: str) -> Cell:
        """The chance that a report is traced to its sender."""
        metric = Metric.REIDENTIFICATION
        adversary = self.adversary(rung, Goal.LINK)
        if self.knows_senders(rung):
            return self._exact(metric, Fraction(1), adversary, _KNOWN)
        if not self.sees_rows(rung):
            blind = self.plan.worst_crowd(rounds_seen=watches(rung)).blind_guess
            found = self._exact(metric, blind, adversary, NO_ROWS)
            return self._among_dummies(found, unknown=self.unknown_dummies(rung))
        if self.reads_order(rung):
            return self._link_in_order(adversary)
        hidden = self.exposure(rung).hidden
        if hidden is None:
            return Cell(metric=metric, reason=_REUSED)
        known = {"n": hidden.honest, "report_probability": hidden.share}
        kept = self.exposure(rung).kept if self.exposure(rung).rounds > 1 else None
        if hidden.clones:
            local = max(made.checked_epsilon_local for made in self.plan.reported)
            if local > MOST_OF_CLONES:
                return Cell(metric=metric, reason=_NO_NOISE)
            both = reidentification(epsilon_local=local, **known)  # type: ignore[arg-type]
        else:
            both = reidentification(self.plan.randomizer, **known)  # type: ignore[arg-type]
        if kept is not None:  # other batches may show everybody's permanent answers
            both = replace(both, upper=reidentification(kept.instantaneous, **known).upper)  # type: ignore[arg-type]
        return Cell(
            metric=metric,
            proved=replace(both.upper, adversary=adversary),
            attained=replace(both.lower, adversary=adversary) if self._attained(rung) else None,
        )

    def _for_ever(self, rung: str) -> Cell:
        """The epsilon of all that a person ever sends, however many windows pass.

        Reports that are made from a permanent answer say no more than that answer. Fresh noise adds
        up. Who hides among whom changes from batch to batch, so that no crowd is counted.
        """
        metric, kept = Metric.EPSILON_PERMANENT, self.local.kept
        if self.says_nothing(rung):
            return replace(self.blind[metric])
        if kept is None:
            return Cell(metric=metric, reason=_ADDS_UP)
        claim = Guarantee(
            metric=metric,
            value=kept.epsilon_permanent,
            direction=Direction.UPPER,
            adversary=self.adversary(rung, Goal.DISTINGUISH),
            theorem="all reports are made from one permanent answer (data processing)",
            assumptions=("the device keeps its permanent answer",),
            delta=0.0,
        )
        return Cell(metric=metric, proved=claim)

    def _link_in_order(self, adversary: Adversary) -> Cell:
        """The chance that a report is traced by the place at which a Mallows order shows it."""
        metric, protocol = Metric.REIDENTIFICATION, self.plan.participation_model
        mode = self._mode(adversary) if protocol.rounds == 1 else None
        crowd, corrupt = self.plan.protections.minimum_crowd, adversary.corrupt
        local = max(made.checked_epsilon_local for made in self.plan.reported)
        kept = self.local.kept if self.local.rounds > 1 else None
        if kept is not None:  # other batches may show everybody's permanent answers
            local = kept.instantaneous.checked_epsilon_local
        reason = ""
        if self.reused:
            reason = _REUSED
        elif crowd is None or not protocol.one_batch:
            reason = _ORDERED
        elif corrupt + 1 >= crowd:
            reason = _CORRUPT_CROWD
        elif local > MOST_OF_CLONES:
            reason = _NO_NOISE
        if reason or crowd is None:
            return Cell(metric=metric, attained=mode, reason=reason)
        proved = visible_order_link(epsilon_local=local, crowd=crowd, corrupt=corrupt)
        return Cell(metric=metric, proved=replace(proved, adversary=adversary), attained=mode)

    def _mode(self, adversary: Adversary) -> Guarantee:
        """The chance that the first person of the reference order stays in place.

        (1 - q)/(1 - q^n), q = e^-theta, theta = alpha/sensitivity.
        """
        shuffling, batch = self.plan.shuffling, self.plan.protections.minimum_batch
        sensitivity = shuffling.groups.sensitivity if shuffling.groups else None
        theta = (shuffling.alpha or 0.0) / (sensitivity or 1)
        chance = 1 / batch
        if theta:
            chance = math.expm1(-theta) / math.expm1(-theta * batch) * (1 - 1e-14)
        return Guarantee(
            metric=Metric.REIDENTIFICATION,
            value=chance,
            direction=Direction.LOWER,
            adversary=adversary,
            theorem="the first of the reference order stays in place (Meehan et al. 2022)",
            assumptions=("theta is alpha over the sensitivity",),
        )

    def _informed(self, rung: str) -> Cell:
        """The guess with everybody else's value known and a uniform prior for the one person.

        It is exact for one report about one question. The answer to one of several may be revealed
        by a report about another, so that they are bounded together, by the curve.
        """
        exposure, questions = self.exposure(rung), self.plan.randomizers
        if exposure.hidden is not None or exposure.rounds > 1 or len(questions) > 1:
            return self.columns(rung).guess_informed()
        return self._guess(Metric.GUESS_INFORMED, rung, guess_uninformed(questions[0], n=1))

    def _uninformed(self, rung: str) -> Cell:
        """The guess with nobody's value known, all independent and equally likely.

        It is exact in one round of a fixed number of people, and never more than if others were
        known.
        """
        metric, exposure = Metric.GUESS_UNINFORMED, self.exposure(rung)
        informed, hidden = self._informed(rung), exposure.hidden
        cell = Cell(metric=metric, proved=_about(informed.proved, metric))
        if exposure.rounds > 1:
            return cell
        if hidden is None:
            return replace(cell, attained=_about(informed.attained, metric))
        if hidden.share < 1 or hidden.clones or not self.one_answer:
            return cell
        return best(self._guess(metric, rung, self._histogram_guess(hidden.honest)), stronger=cell)

    def _within_informed(self, rung: str) -> Cell:
        """The guess of a number to within w, with everybody else's known.

        It is exact for one report about one question whose channel can be listed.
        """
        exposure, questions = self.exposure(rung), self.plan.randomizers
        cell = self.columns(rung).within_informed()
        if exposure.hidden is not None or exposure.rounds > 1 or len(questions) > 1:
            return cell
        [window] = self.plan.windows
        try:
            claim = within_informed(questions[0], near=window.near)
        except TooLargeError:
            return cell
        return self._guess(Metric.WITHIN_INFORMED, rung, claim)

    def _within_uninformed(self, rung: str) -> Cell:
        """The guess of a number to within w, with nobody's known.

        Bounded where `_uninformed` is exact, for one question; never more than if others were
        known.
        """
        metric, exposure = Metric.WITHIN_UNINFORMED, self.exposure(rung)
        informed, hidden = self._within_informed(rung), exposure.hidden
        cell = Cell(metric=metric, proved=_about(informed.proved, metric), reason=informed.reason)
        several = len(self.plan.randomizers) > 1 or not self.one_answer
        if exposure.rounds > 1 or hidden is None or hidden.share < 1 or hidden.clones or several:
            return cell
        [window] = self.plan.windows
        local = self.plan.randomizer.checked_epsilon_local
        claim = within_uninformed(window.size, window.near, epsilon_local=local, n=hidden.honest)
        return best(self._guess(metric, rung, claim), stronger=cell)

    def _histogram_guess(self, people: int) -> Guarantee:
        """The chance of guessing from the histogram of this number of people."""
        if people not in self._histogram_guesses:
            found = guess_uninformed(self.plan.randomizer, n=people)
            self._histogram_guesses[people] = found
        return self._histogram_guesses[people]

    @cached_property
    def _histogram_guesses(self) -> dict[int, Guarantee]:
        return {}

    def _guess(self, metric: Metric, rung: str, claim: Guarantee) -> Cell:
        """The cell of a guess: from both sides if the claim is exact and its view complete."""
        claim = replace(claim, metric=metric, adversary=self.adversary(rung, Goal.GUESS))
        value = min(1.0, claim.value * (1 + _ROUNDING))
        attained = self._attained(rung) and self.one_answer
        if claim.direction is not Direction.EXACT or not attained:
            return Cell(
                metric=metric, proved=replace(claim, value=value, direction=Direction.UPPER)
            )
        return Cell(
            metric=metric,
            proved=replace(claim, value=value),
            attained=replace(claim, value=claim.value * (1 - _ROUNDING), direction=Direction.LOWER),
        )

    def _alpha(self, rung: str) -> Cell:
        """The alpha of the orders of all batches together: alphas add.

        This holds with fresh and with reused noise: two ways to assign the reports of all batches
        may differ in every one of them.
        """
        shuffling, metric, batches = self.plan.shuffling, Metric.ALPHA, self.plan.batches
        if shuffling.groups is None:
            return Cell(metric=metric, reason="the plan has no groups")
        if self.mixes(rung) or rung == Rung.COLLUSION:
            return Cell(metric=metric, reason=_OWN_ORDER)
        if shuffling.alpha and not self.reads_order(rung):
            adversary = self.adversary(rung, Goal.DISTINGUISH)
            return self._exact(metric, Fraction(0), adversary, ORDER_FREE)
        theorem = (
            "exact sensitivity (Meehan et al. 2022, Theorem 4.3)"
            if shuffling.order == "mallows"
            else "uniform order inside disjoint groups"
        )
        assumptions: tuple[str, ...] = (f"groups of the public file {shuffling.groups.sha256[:8]}",)
        if batches > 1:
            theorem += "; batches added up (Theorem A.2)"
            assumptions += (f"{batches:,} batches of one person, each order drawn anew",)
        proved = Guarantee(
            metric=metric,
            value=float_above(batches * Fraction(shuffling.alpha or 0.0)),
            direction=Direction.UPPER,
            adversary=self.adversary(rung, Goal.DISTINGUISH),
            theorem=theorem,
            assumptions=assumptions,
        )
        return Cell(metric=metric, proved=proved)

    @staticmethod
    def _exact(metric: Metric, value: Fraction, adversary: Adversary, theorem: str) -> Cell:
        claim = Guarantee(
            metric=metric,
            value=float_above(value),
            direction=Direction.EXACT,
            adversary=adversary,
            theorem=theorem,
        )
        return Cell(metric=metric, proved=claim, attained=claim)


def _assuming(cell: Cell, assumption: str) -> Cell:
    """The cell with one assumption more."""

    def qualified(claim: Guarantee | None) -> Guarantee | None:
        return claim and replace(claim, assumptions=(*claim.assumptions, assumption))

    return replace(cell, proved=qualified(cell.proved), attained=qualified(cell.attained))


def _about(claim: Guarantee | None, metric: Metric) -> Guarantee | None:
    return None if claim is None else replace(claim, metric=metric)
