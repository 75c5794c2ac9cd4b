"""Liars: counts that honest people's reports do not explain, whatever their values are."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from croupier.numerics.odd_counts import OddCount, fewest_dishonest, odd_counts, statements
from croupier.numerics.rounding import ceiling_digits, float_above
from croupier.plan.plan import Plan
from croupier.protocol.wire import question, question_index
from croupier.randomizers.several import SeveralQuestions

if TYPE_CHECKING:
    from croupier.analyzer.analysis import BatchCounts

__all__ = ["LIARS_FALSE_ALARM", "UNTESTED", "BatchLiars", "Liars", "signs_of_liars"]

LIARS_FALSE_ALARM = 1e-9
"""The chance that an analysis of honest people's reports alone, of any values, finds a liar."""

_SHOWN = 10
"""Signs per batch that are listed, the clearest first: one lie shows in many counts."""


@dataclass(frozen=True, kw_only=True)
class BatchLiars:
    """The liars of one batch, as far as counts show them.

    Attributes:
        round: Its round.
        questions: The names of the questions that it answers.
        reports: The number of reports with an answer.
        at_least: The fewest of them that are not honest clients' reports.
        allowed: The number of corrupt people whom the plan allows for.
        moved: The most by which so many move an estimate: a share, or a mean in units of its range;
            None if nothing is proved.
        signs: The counts that show it, the clearest first.
    """

    round: int
    questions: tuple[str, ...]
    reports: int
    at_least: int
    allowed: int
    moved: float | None
    signs: tuple[OddCount, ...]

    @property
    def warning(self) -> str:
        """The clearest sign, and what it means."""
        sign = self.signs[0]
        among = "" if sign.part is None else f" of {sign.n:,} to {self._part(sign.part)}"
        more = " More than the plan allows for." if self.at_least > self.allowed else ""
        if self.moved is not None and self.moved >= 1:
            more += " So many can give an estimate any value."
        elif self.moved is not None:
            points = f"{ceiling_digits(100 * self.moved)} percentage points"
            more += f" So many move an estimate by up to {points}, a mean by so many of its range."
        return (
            f"Round {self.round}: at least {self.at_least:,} of {self.reports:,} reports were not "
            f"made as the plan says: {sign.count:,}{among} {sign.name}, "
            f"{sign.limit} of honest people.{more} By chance at most 1 in a billion. "
            "Look for a client that is broken, or altered to move the result."
        )

    def _part(self, index: int) -> str:
        return self.questions[index] if len(self.questions) > 1 else f"part {index + 1}"


@dataclass(frozen=True, kw_only=True)
class Liars:
    """The liars of all batches of an analysis, as far as counts show them.

    Attributes:
        batches: The liars of each batch.
        tested: The number of statements that were tested in all batches together.
        false_alarm: The chance that honest people's reports alone raise any alarm, for every truth.
    """

    batches: tuple[BatchLiars, ...]
    tested: int
    false_alarm: float = LIARS_FALSE_ALARM

    @property
    def warnings(self) -> Iterator[str]:
        """One per batch that shows liars."""
        return (batch.warning for batch in self.batches if batch.at_least)

    @property
    def meaning(self) -> str:
        """The result in words."""
        if not self.tested:
            return "Not tested: no count of this plan's reports tells liars from honest people."
        if any(batch.at_least for batch in self.batches):
            return (
                "At least so many reports were not made by the plan's client, whatever people's "
                "values are. There may be more: lies that look like honest reports are not seen."
            )
        return (
            "Honest people's reports explain every count. Lies that look like honest reports are "
            "not seen."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as in JSON."""
        return {
            "false_alarm": self.false_alarm,
            "tested": self.tested,
            "meaning": self.meaning,
            "batches": [asdict(batch) for batch in self.batches],
        }


UNTESTED = Liars(batches=(), tested=0)
"""The result where nothing can be tested."""


def signs_of_liars(plan: Plan, batches: "Sequence[BatchCounts]") -> Liars:
    """Test in every batch which counts honest people's reports do not explain.

    All statements about all batches together raise a false alarm with a chance of at most
    `LIARS_FALSE_ALARM`, whatever the values of honest people are: see `odd_counts`. Batches with
    dummies are not tested, since their counts are not those of people.
    """
    if any(plan.dummies):
        return UNTESTED
    groups = [
        question(plan, batch.receipt.round).honest_chances(
            batch.counts.tally, batch.counts.traits, batch.counts.answers
        )
        for batch in batches
    ]
    tested = sum(map(statements, groups))
    found = []
    for batch, own in zip(batches, groups, strict=True):
        worst = question(plan, batch.receipt.round).worst_shift
        signs = odd_counts(own, level=LIARS_FALSE_ALARM / tested) if tested else []
        fewest = fewest_dishonest(signs)
        number = batch.receipt.round
        found.append(
            BatchLiars(
                round=number,
                questions=tuple(map(plan.question_name, _asked(plan, number))),
                reports=batch.counts.answers,
                at_least=fewest,
                allowed=plan.population.corrupt(batch.counts.answers),
                moved=None if worst is None else _above(worst * fewest, batch.counts.answers),
                signs=tuple(signs[:_SHOWN]),
            )
        )
    return Liars(batches=tuple(found), tested=tested)


def _above(shift: Fraction, answers: int) -> float:
    return float_above(shift / answers) if answers else 0.0


def _asked(plan: Plan, number: int) -> Sequence[int]:
    """The questions that a round asks: all of them, where they share a batch."""
    made = question(plan, number)
    if isinstance(made, SeveralQuestions):
        return range(len(made.queries))
    return [question_index(plan, number)]
