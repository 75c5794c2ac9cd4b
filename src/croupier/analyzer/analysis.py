"""The result of an analysis: what may be published, and the counts that it rests on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from croupier.analyzer.counting import ReportCounts
from croupier.analyzer.crossing import AnsweredTogether, TwoWayTable
from croupier.analyzer.liars import UNTESTED, Liars
from croupier.analyzer.parts import PartEstimates
from croupier.errors import ParameterError
from croupier.model.estimate import Estimate
from croupier.model.result import Result
from croupier.protocol.receipt import Receipt

__all__ = ["Analysis", "BatchCounts", "QuestionEstimate"]


@dataclass(frozen=True, eq=False)
class BatchCounts:
    """The counts of one batch of an analysis.

    Attributes:
        receipt: The shuffler's signed statement about it.
        asked: The query that the analyzer signed for the round; None if the plan fixes it.
        counts: The sums over its rows.
        people: The number among whom a person hides: distinct, well-formed reports with an answer,
            and nulls if the plan asks for them. If each group is mixed by itself, a lower limit
            for the smallest group. With dummies, those that the first shuffler accepted, less what
            is not a report.
        name: The name of the batch, from which mechanisms derive public functions.
        taken_over: The first shuffler's receipt, if there are two.
    """

    receipt: Receipt
    asked: str | None
    counts: ReportCounts
    people: int
    name: bytes
    taken_over: Receipt | None = None

    @property
    def reports(self) -> int:
        """The number of people's reports with an answer, without dummies."""
        signed = [each for each in (self.taken_over, self.receipt) if each is not None]
        added = any(each.counts.added is not None for each in signed)
        return self.people if added else self.counts.answers


@dataclass(frozen=True, eq=False)
class QuestionEstimate:
    """The estimate of one question.

    Attributes:
        question: Its name, as the plan gives it or numbered from 1.
        asked: Its words, in the plan or in the query of its rounds.
        rounds: The rounds that asked it.
        estimate: About those who answered it; of parallel questions, about all who reported.
    """

    question: str
    asked: str | None
    rounds: tuple[int, ...]
    estimate: Estimate


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Analysis(Result):
    """The estimates that may be published, and their basis.

    Attributes:
        plan_digest: The digest of the plan that clients, shuffler and analyzer share.
        estimates: One per question that was asked.
        batches: The counts, by the number of the receipts.
        warnings: Anything the operator should look at.
        liars: The fewest liars in each batch, and the counts that show them.
        answered_together: The counts of questions that are answered in one report, if they are.
        parts: The estimates by part of the public file, if they were asked for.
    """

    plan_digest: str
    estimates: tuple[QuestionEstimate, ...]
    batches: tuple[BatchCounts, ...]
    warnings: tuple[str, ...]
    liars: Liars = UNTESTED
    parts: PartEstimates | None = None
    answered_together: AnsweredTogether | None = field(default=None, repr=False)

    def crossing(
        self, pairs: Sequence[tuple[str, str]], *, confidence: float = 0.95, together: bool = False
    ) -> tuple[TwoWayTable, ...]:
        """Estimate a two-way table for each pair of questions, by their names.

        Args:
            pairs: The question of the rows and that of the columns, for each table.
            confidence: The coverage of each interval, or of all together.
            together: True to make all intervals of all tables hold together.

        Raises:
            ParameterError: People do not answer these questions together.
        """
        if self.answered_together is None:
            raise ParameterError(
                "pairs",
                must="be left out: nobody answers two questions in one report",
                hint='A plan asks for that: participation.model = "together".',
            )
        return self.answered_together.crossing(pairs, confidence=confidence, together=together)

    @property
    def _summary(self) -> str:
        counted = f"{len(self.estimates)} estimates from {self.n:,} reports"
        return f"{self.plan_digest[:8]}, {counted} in {len(self.batches)} batches"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "question": one.question,
                "value": value,
                "quantity": one.estimate.quantity,
                "estimate": point,
                "standard_error": error,
                "lower": lower,
                "upper": upper,
            }
            for one in self.estimates
            for value, point, error, lower, upper in zip(
                one.estimate.values,
                one.estimate.points.tolist(),
                one.estimate.standard_errors.tolist(),
                one.estimate.lower.tolist(),
                one.estimate.upper.tolist(),
                strict=True,
            )
        ]

    @property
    def n(self) -> int:
        """The number of reports with an answer, without dummies."""
        return sum(batch.reports for batch in self.batches)

    @property
    def rows(self) -> int:
        """The number of released rows."""
        return sum(batch.counts.rows for batch in self.batches)

    @property
    def taken_over(self) -> tuple[Receipt, ...]:
        """The first shuffler's receipts, if there are two shufflers."""
        found = (batch.taken_over for batch in self.batches)
        return tuple(receipt for receipt in found if receipt is not None)

    @property
    def added(self) -> int | None:
        """The number of dummies, less reports that were left out; None if nobody adds any."""
        signed = (*self.taken_over, *(batch.receipt for batch in self.batches))
        added = [each.counts.added for each in signed if each.counts.added is not None]
        return sum(added) if added else None

    @property
    def people(self) -> int:
        """The number of people in the smallest batch; the realised guarantee is proved at it."""
        return min(batch.people for batch in self.batches)

    @property
    def rounds(self) -> tuple[int, ...]:
        """The analysed rounds."""
        return tuple(sorted(batch.receipt.round for batch in self.batches))

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows dropped from all batches together, by reason."""
        return {
            "null": sum(batch.counts.nulls for batch in self.batches),
            "malformed": sum(self.malformed.values()),
            "duplicate": sum(batch.counts.duplicate for batch in self.batches),
            "cannot_open": sum(batch.counts.cannot_open for batch in self.batches),
        }

    @property
    def malformed(self) -> Mapping[str, int]:
        """The number of reports that were not of the plan, by reason."""
        return sum((Counter(batch.counts.malformed) for batch in self.batches), Counter[str]())
