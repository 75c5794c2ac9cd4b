"""One limit beside what is proved, and the reasons why a limit limits nothing."""

import math
from dataclasses import dataclass

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.rungs import NO_ROWS, ORDER_FREE
from croupier.assessment.ladder.text import proved_text
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.plan.facts import Limit

__all__ = ["Demand", "Verdict", "allows_any_guess"]

_ANYTHING = "any plan keeps it"
_UNIFORM = "a uniform order reveals nothing"
_BLIND = "nothing is seen there, whatever the noise"
_NO_REPORT = "no report is shown there, whatever the noise"
_NO_ORDER = "no order is shown there"
_ANY_ORDER = "two orders may be told apart 99.95 % of the time"
_ANY_GUESS = "it allows 99.95 % of guesses to be right"

_HONEST = "the plan takes nobody to be corrupt"
_NOT_CLIENTS = "only corrupt clients lie"
_ANY_VALUE = "it allows any value"

_MOST_GUESSED = 0.9995
_MOST_EPSILON = math.log(1999)
"""The epsilon or alpha from which two answers, or two orders, may be told apart in 1,999 of 2,000
cases: practically always."""


_RATIOS = (Metric.EPSILON, Metric.EPSILON_PERMANENT, Metric.ALPHA)
_ABOUT_ANSWERS = (
    Metric.EPSILON,
    Metric.GUESS_OF_TWO,
    Metric.GUESS_INFORMED,
    Metric.WITHIN_INFORMED,
    Metric.BAYES_SECURITY,
)


def allows_any_guess(metric: Metric, value: float) -> bool:
    """Tell if a number allows nearly every guess to be right, so that it protects nobody."""
    if metric.protects:
        return value <= 1 - _MOST_GUESSED
    return value >= (_MOST_EPSILON if metric in _RATIOS else _MOST_GUESSED)


@dataclass(frozen=True)
class Verdict:
    """One limit beside what is proved.

    Attributes:
        limit: The line of the policy.
        cell: The proved bound, and what is known from the other side.
        alone: The same if only the noise of the device protects: under collusion.
        blind: The same for somebody who sees nothing.
        people: The number of people enrolled.
        rows: The rows of the plan's ladder that the limit is about; `cell` is of the worst of them.
            An organisation's limit on `shuffler` is about each of two shufflers.
        firm: True if the limit counts although the noise of the device alone keeps it: those that
            an organisation sets, and those on rows where nothing else protects.
        organisation: True if an organisation sets the limit, not the plan itself.
    """

    limit: Limit
    cell: Cell
    alone: Cell
    blind: Cell
    people: int
    rows: tuple[Rung, ...]
    firm: bool = False
    organisation: bool = False

    @property
    def met(self) -> bool:
        """Tell if the limit is proved to be kept; scans and conjectures do not count."""
        return self.idle == _ANYTHING or self.cell.met_by(self.limit.value)

    @property
    def limits_something(self) -> bool:
        """Tell if a plan with this randomizer could break the limit."""
        return not self.idle

    @property
    def limits_answers(self) -> bool:
        """Tell if the limit limits what is learnt about an answer, whatever somebody knows.

        A report that is hardly ever traced, an order that says little, or a guess by somebody who
        knows nobody else's answer may be limited although answers are sent as they are.
        """
        return self.limits_something and self.limit.metric in _ABOUT_ANSWERS

    @property
    def idle(self) -> str:
        """Say why the limit limits nothing; empty if it does."""
        if self.limit.metric is Metric.ALPHA:
            return self._idle_order
        if self.limit.metric is Metric.MANIPULATION:
            return self._idle_manipulation
        return _ANYTHING if self._is_trivial else self._unseen or self._kept_anyway

    @property
    def _idle_order(self) -> str:
        proved = self.cell.proved
        if proved is not None and proved.value == 0:
            return _NO_ORDER if proved.theorem == ORDER_FREE else _UNIFORM
        return _ANY_ORDER if self.limit.value >= _MOST_EPSILON else ""

    @property
    def _idle_manipulation(self) -> str:
        if self.limit.rung is not Rung.CLIENTS:
            return _NOT_CLIENTS
        if self.cell.proved is not None and self.cell.proved.value == 0:
            return _HONEST
        return _ANY_VALUE if self.limit.value >= 1 else ""

    @property
    def _is_trivial(self) -> bool:
        metric, value = self.limit.metric, self.limit.value
        if metric.protects:
            return value <= 0
        return not metric.is_epsilon and value >= 1

    @property
    def _unseen(self) -> str:
        proved = self.cell.proved
        if proved is None:
            return ""
        if proved.theorem == NO_ROWS:
            return _NO_REPORT
        return _BLIND if self.cell.exact and proved.value == self.blind.upper else ""

    @property
    def _kept_anyway(self) -> str:
        """Say if hardly any plan, publishing an answer, or the device alone, keeps the limit."""
        metric, proved = self.limit.metric, self.cell.proved
        if proved is not None and (proved.delta or 0) * self.people >= 1:
            return f"at delta {proved.delta:g} one of {self.people:,} answers may be published"
        # Nothing but the device limits what is learnt for ever.
        firm = self.firm or metric is Metric.EPSILON_PERMANENT
        if firm or self.alone.proved is None or not self.alone.met_by(self.limit.value):
            return _ANY_GUESS if self._allows_any_guess else ""
        return f"epsilon_local alone gives {proved_text(metric, self.alone.proved.value)}"

    @property
    def _allows_any_guess(self) -> bool:
        return allows_any_guess(self.limit.metric, self.limit.value)

    @property
    def against(self) -> str:
        """Name the adversary: as the limit does, and the rows of the plan if they differ.

        A limit that an organisation sets on `shuffler` is about `shuffler_1` and `shuffler_2` of a
        plan with two shufflers.
        """
        named = str(self.limit.rung)
        own = " and ".join(self.rows)
        return named if own == named else f"{named} ({own})"

    def __str__(self) -> str:
        value = self.cell.proved_value
        what = "nothing is" if value is None else f"{value.shown} is"
        text = f"{self.against} {self.limit.key} = {self.limit.value:g}: {what} proved"
        return f"{text}, but it limits nothing: {self.idle}" if self.idle else text


@dataclass(frozen=True)
class Demand:
    """A demand of a policy on a plan's assumptions, beside what the plan assumes.

    Attributes:
        key: The name in the policy's [assumptions].
        limit: What is demanded.
        value: What the plan assumes.
        met: True if the plan assumes as much.
    """

    key: str
    limit: float
    value: float
    met: bool

    def __str__(self) -> str:
        return f"{self.key} = {self.limit:g}: the plan has {self.value:g}"
