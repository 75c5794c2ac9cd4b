"""An analysis in words, as JSON and as a table on disk."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from croupier.cli.output.distributions import Statements, distribution_document
from croupier.cli.output.estimates import (
    PROJECTED,
    estimate_document,
    how_intervals_hold,
    is_projectable,
    print_estimate,
    print_shared,
)
from croupier.cli.output.parts import part_rows, parts_document, print_parts
from croupier.cli.output.terminal import err, out, say
from croupier.cli.output.texts import texts_document
from croupier.cli.output.two_way import print_two_way
from croupier.documents.plots.estimates import estimates_inches, plot_estimates
from croupier.documents.plots.figure import save_plot
from croupier.documents.plots.places import places_inches, plot_places
from croupier.documents.yes_or_no import shared_answer
from croupier.errors import ParameterError
from croupier.model.estimate import Estimate
from croupier.model.guarantee import Guarantee
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.plan import Plan
from croupier.randomizers.estimates.distribution import DistributionEstimate
from croupier.randomizers.estimates.found_texts import FoundTexts

if TYPE_CHECKING:
    from croupier.analyzer.analysis import Analysis, QuestionEstimate
    from croupier.analyzer.crossing import TwoWayTable
    from croupier.analyzer.parts import PartEstimates

__all__ = ["Found"]


@dataclass(frozen=True, eq=False)
class Found:
    """The estimates, and what the batches leak to their readers.

    Attributes:
        plan: The plan of the collection.
        analysis: The counts and estimates.
        planned: Epsilon at the minimum batch.
        realised: Epsilon at the actual size of the batches.
        asked: What is asked about distributions.
        projected: True if shares were moved to the nearest possible ones.
        crossed: The two-way tables that are asked for.
        value: The value that is shown by part; the last if None.
    """

    plan: Plan
    analysis: "Analysis"
    planned: Guarantee | None
    realised: Guarantee | None
    asked: Statements = field(default_factory=Statements)
    projected: bool = False
    crossed: tuple["TwoWayTable", ...] = ()
    value: str | None = None

    @property
    def estimates(self) -> list[Estimate]:
        """The estimates of all questions."""
        return [own.estimate for own in self.analysis.estimates]

    def with_projected(self) -> "Found":
        """Return the same with the shares of each question moved to the nearest possible ones."""
        own = self.analysis.estimates
        if not any(is_projectable(one.estimate) for one in own):
            must = "be left out: no question asks for shares that add up to one"
            raise ParameterError("--project", must=must)
        moved = tuple(
            replace(one, estimate=one.estimate.projected()) if is_projectable(one.estimate) else one
            for one in own
        )
        analysis = replace(self.analysis, estimates=moved)
        return replace(self, analysis=analysis, projected=True)

    def show(self, confidence: float, *, everything: bool, quiet: bool) -> None:
        """Print warnings, what was counted, one table per question, and what is proved."""
        for warning in self.analysis.warnings:
            err.print(f"Warning: {warning}", soft_wrap=True)
        if quiet:
            return
        self._print_counts()
        answer = shared_answer(self.estimates)
        if answer is not None:
            self._print_shares(answer, confidence)
        for own in self.analysis.estimates if answer is None else ():
            if len(self.analysis.estimates) > 1 or own.asked is not None:
                words = "" if own.asked is None else f": {own.asked}"
                out.print()
                say(f"{own.question}{words} ({own.estimate.n:,} answers)")
            print_estimate(
                own.estimate,
                confidence,
                everything=everything,
                asked=self.asked,
                corrupt=self._corrupt(own),
                projected=self.projected,
            )
        for table in self.crossed:
            print_two_way(table, confidence)
        out.print()
        if self.projected:
            say(PROJECTED)
        cut = not everything and answer is None
        out.print(how_intervals_hold(self.estimates, everything=not cut))
        if self.analysis.parts is not None:
            print_parts(
                self.analysis.parts,
                confidence=confidence,
                value=self.value,
                everything=everything,
            )
            out.print()
        out.print(self.proved)
        if self.analysis.parts is not None:
            say("Estimates by part show where rows lie: the line above holds for their readers.")

    def _print_shares(self, answer: str, confidence: float) -> None:
        """Print one line per question: the share of one of its two answers, the largest first."""
        own = self.analysis.estimates
        out.print()
        print_shared(
            {one.question: one.estimate for one in own},
            answer,
            confidence,
            projected=self.projected,
        )

    def _corrupt(self, own: "QuestionEstimate") -> int:
        """The number of corrupt people that the plan allows for in the batches of a question."""
        corrupt = self.plan.population.corrupt
        batches = self.analysis.batches
        return sum(corrupt(each.reports) for each in batches if each.receipt.round in own.rounds)

    def _print_counts(self) -> None:
        analysis = self.analysis
        many = len(analysis.batches)
        receipts = "Receipt valid" if many == 1 else f"{many:,} receipts valid"
        if analysis.taken_over:
            receipts = "Receipts of both shufflers valid"
        counts = {name.replace("_", " "): count for name, count in analysis.counts.items()}
        always = ("null", "malformed")
        dropped = [f"{count:,} {name}" for name, count in counts.items() if count or name in always]
        plan = f"plan {self.plan.digest[:8]}"
        out.print(f"{receipts} | {plan} | {analysis.n:,} counted, {', '.join(dropped)}")
        if analysis.added is not None:
            out.print(f"{analysis.rows:,} rows; the number of dummies to be expected is subtracted")
        if analysis.malformed:
            reasons = (f"{count:,} {reason}" for reason, count in analysis.malformed.items())
            out.print(f"malformed: {', '.join(reasons)}")

    @property
    def proved(self) -> str:
        """The last line: epsilon for a reader of the batches."""
        planned, realised = _bound(self.planned), _bound(self.realised)
        protocol = self.plan.participation_model
        if any(protocol.answering(number) < 1 for number in range(protocol.rounds)):
            return (
                f"batch: epsilon {planned} as planned, if nobody missed a round; "
                f"{realised} at this size, each round by itself"
            )
        return f"batch: epsilon {planned} as planned, {realised} at this size"

    def document(self) -> dict[str, Any]:
        """The whole result as JSON."""
        analysis = self.analysis
        return {
            "n": analysis.n,
            "people": analysis.people,
            "rounds": list(analysis.rounds),
            "counts": analysis.counts,
            "malformed": dict(analysis.malformed),
            "confidence": self.estimates[0].confidence,
            "projected": self.projected,
            "estimates": list(self._rows()),
            "epsilon_upper": None if self.realised is None else self.realised.value,
            "epsilon_planned": None if self.planned is None else self.planned.value,
            "receipts": [batch.receipt.model_dump(mode="json") for batch in analysis.batches],
            "taken_over": [receipt.model_dump(mode="json") for receipt in analysis.taken_over],
            "texts": list(self._texts()),
            "distributions": list(self._distributions()),
            "liars": analysis.liars.to_dict(),
            "crossed": [table.to_dict() for table in self.crossed],
            "parts": None if analysis.parts is None else parts_document(analysis.parts),
            "warnings": list(analysis.warnings),
        }

    def _texts(self) -> Iterator[dict[str, Any]]:
        """Yield what was tested to find texts, per question that asks for some."""
        for own in self.analysis.estimates:
            if isinstance(own.estimate, FoundTexts):
                corrupt = {"corrupt": self._corrupt(own)}
                yield {"question": own.question} | texts_document(own.estimate) | corrupt

    def _distributions(self) -> Iterator[dict[str, Any]]:
        """Yield what is known of the distribution of each question that asks for one."""
        for own in self.analysis.estimates:
            if isinstance(own.estimate, DistributionEstimate):
                document = distribution_document(own.estimate, self.asked)
                yield {"question": own.question} | document

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Yield every value of every question; of texts, also whether they could be made up."""
        for own in self.analysis.estimates:
            entries = estimate_document(own.estimate)
            if isinstance(own.estimate, FoundTexts):
                doubtful = own.estimate.doubtful(self._corrupt(own))
                pairs = zip(entries, doubtful, strict=True)
                entries = [entry | {"doubtful": doubt} for entry, doubt in pairs]
            for entry in entries:
                yield {"question": own.question, "asked": own.asked} | entry

    def save(self, output: Path | None, plot: Path | None) -> None:
        """Write the table, and draw the plot, where a file is named."""
        if output is not None:
            self._write(output)
        if plot is not None and self.analysis.parts is not None:
            self._draw_parts(plot, self.analysis.parts)
        elif plot is not None:
            save_plot(
                plot,
                plot_estimates,
                self.estimates,
                title=self._title,
                questions=[own.question for own in self.analysis.estimates],
                corrupt=[self._corrupt(own) for own in self.analysis.estimates],
                inches=estimates_inches(self.estimates),
            )

    @property
    def _title(self) -> str:
        headline = self.plan.headline
        comma = "" if headline.endswith(("?", "!", ".")) else ","
        return f"{headline}{comma} {self.analysis.n:,} reports"

    def _draw_parts(self, plot: Path, parts: "PartEstimates") -> None:
        """Draw a map, or one row per part."""
        save_plot(
            plot,
            plot_places,
            parts,
            title=self._title,
            value=self.value,
            inches=places_inches(parts),
        )

    def _table(self) -> Iterator[dict[str, Any]]:
        """Yield one row per value; if there are parts, rows about everybody have none."""
        parts = self.analysis.parts
        for own in self.analysis.estimates:
            about: dict[str, Any] = {"question": own.question, "asked": own.asked}
            more: dict[str, Any] = {}
            if parts is not None:
                more = {"part": None, "sent_from_there": None}
            for entry in estimate_document(own.estimate):
                yield about | _row(own.estimate, entry) | more
        asked = {own.question: own.asked for own in self.analysis.estimates}
        for one, entry in () if parts is None else part_rows(parts):
            about = {"question": one.question, "asked": asked.get(one.question)}
            more = {"part": str(one.part), "sent_from_there": one.stayed}
            yield about | _row(one.estimate, entry) | more

    def _write(self, output: Path) -> None:
        """Write one row per value in Parquet; values of several kinds become text."""
        import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import
        import pyarrow.parquet as pq  # noqa: PLC0415 - as above

        rows = list(self._table())
        if len({type(row["value"]) for row in rows}) > 1:
            rows = [row | {"value": str(row["value"])} for row in rows]
        about = {
            "plan_digest": self.plan.digest,
            "people": str(self.analysis.people),
            "rounds": " ".join(map(str, self.analysis.rounds)),
            "confidence": repr(self.estimates[0].confidence),
        }
        table = pa.Table.from_pylist(rows)
        asked = table.schema.get_field_index("asked")
        table = table.set_column(asked, "asked", table["asked"].cast(pa.utf8()))
        pq.write_table(table.replace_schema_metadata(about), output)


def _row(estimate: Estimate, entry: dict[str, Any]) -> dict[str, Any]:
    """Return a value as a row of the table."""
    return {
        "value": entry["value"],
        "quantity": estimate.quantity,
        "estimate": entry[estimate.quantity],
        "standard_error": entry["standard_error"],
        "lower": entry["interval"][0],
        "upper": entry["interval"][1],
        "answers": estimate.n,
    }


def _bound(found: Guarantee | None) -> str:
    return "not bounded" if found is None else f"<= {ceiling_digits(found.value)}"
