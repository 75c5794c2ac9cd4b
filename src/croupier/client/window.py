"""The window of a plan that goes on: so many answers of one person within any so many days.

Nothing here sees a value. An answer counts until two things agree that the window has passed: the
rounds of the server and the clock of the device. A server that opens rounds too fast is held back
by the clock, and a clock that jumps ahead by the rounds; a clock that was set back starts again. A
plan counts its own answers by its own rounds alone: those of another plan may be longer.
"""

from dataclasses import dataclass
from typing import Self

from croupier.client.memory import Answered, BudgetError, State
from croupier.plan.plan import Plan

__all__ = ["CollectionWindow", "Moment"]


@dataclass(frozen=True, kw_only=True)
class Moment:
    """The time at which a client looks: a round, and what its clock shows."""

    round: int
    clock: float


@dataclass(frozen=True, kw_only=True)
class CollectionWindow:
    """The answers that one person gives to a plan within its window.

    An answer leaves the window once both hold, in seconds and for the rounds of this plan:

        (round - its round) every >= length,   clock - its clock >= length - every.

    The second allows for rounds that are not answered at the same hour.

    Attributes:
        plan: The digest of the plan.
        every: The seconds from one round to the next.
        length: The seconds of the window; None if answers count for ever.
        answers: The number of answers in a window.
        is_permanent: True if all answers come from one that is kept: together they cost one.
    """

    plan: str
    every: float
    length: float | None
    answers: int
    is_permanent: bool = False

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return the window of a plan."""
        window = plan.collection.window
        return cls(
            plan=plan.digest,
            every=plan.collection.every.total_seconds(),
            length=None if window is None else window.total_seconds(),
            answers=plan.reports,
            is_permanent=plan.keeps_answer,
        )

    def joins(  # noqa: PLR0913 - keyword-only facts about two budgets
        self,
        state: State,
        attribute: str,
        *,
        cost: float,
        budget: float,
        delta: float = 0.0,
        budget_delta: float = 0.0,
        now: Moment,
    ) -> bool:
        """Count one more answer; return False if the window or the person's budget allows none.

        Args:
            state: The client's memory.
            attribute: The subject of the value.
            cost: The nats of an answer, or of all of them if they come from one that is kept.
            budget: The nats that all plans together may cost.
            delta: The chance that the nats do not hold.
            budget_delta: The largest sum of such chances.
            now: The round that is answered, and the clock.
        """
        if self.length is None:
            raise ValueError("answers of this plan count for ever")
        self.pass_time(state, now)
        own = state.answered.get(self.plan, [])
        if len(own) >= self.answers:
            return False
        if own and not self.is_permanent:  # another plan may have stopped counting them
            own = [each.model_copy(update={"epsilon": cost, "delta": delta}) for each in own]
            state.answered[self.plan] = own
        try:
            state.require_left(
                attribute,
                cost=cost,
                budget=budget,
                delta=delta,
                budget_delta=budget_delta,
                but=self.plan if self.is_permanent else None,
            )
        except BudgetError:
            return False
        if self.is_permanent:  # the latest answer stands for all of them
            own = [_without_cost(each) if each.attribute == attribute else each for each in own]
        made = Answered(
            attribute=attribute,
            epsilon=cost,
            delta=delta,
            at=now.clock,
            length=self.length,
            rounds={self.plan: now.round},
        )
        state.answered[self.plan] = [*own, made]
        return True

    def pass_time(self, state: State, now: Moment) -> None:
        """Forget the answers of this plan that have left their window, and the costs of others'."""
        for plan, entries in list(state.answered.items()):
            seen = [self._seen(entry, now) for entry in entries]
            if plan == self.plan:
                left = [entry for entry in seen if not self._has_left(entry, now)]
            else:
                left = [_without_cost(e) if self._has_left(e, now) else e for e in seen]
            state.answered[plan] = left
            if not left:
                del state.answered[plan]

    def move(self, state: State, now: Moment) -> bool:
        """Count the latest answer from now on: it was sealed again, for a later round.

        Return False if no answer counts any more, so that it must not be sealed again.
        """
        if self.plan not in state.answered:
            return False
        *earlier, last = state.answered[self.plan]
        if not last.epsilon:  # another plan counts it no more
            return False
        moved = {"at": max(last.at, now.clock), "rounds": {self.plan: now.round}}
        state.answered[self.plan] = [*earlier, last.model_copy(update=moved)]
        return True

    def _seen(self, entry: Answered, now: Moment) -> Answered:
        """Return the entry with the round from which this plan counts, and no time in the future.

        A clock that shows less than it did has been set back: the window counts from now on.
        """
        rounds = {self.plan: now.round} | entry.rounds
        return entry.model_copy(update={"at": min(entry.at, now.clock), "rounds": rounds})

    def _has_left(self, entry: Answered, now: Moment) -> bool:
        passed = (now.round - entry.rounds[self.plan]) * self.every
        return passed >= entry.length and now.clock - entry.at >= entry.length - self.every


def _without_cost(entry: Answered) -> Answered:
    return entry.model_copy(update={"epsilon": 0.0, "delta": 0.0})
