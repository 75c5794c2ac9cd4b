"""An analysis in words, as JSON and as a table on disk."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from croupier.cli.output.distributions import Statements, distribution_document
from croupier.cli.output.estimates import estimate_document, how_intervals_hold, print_estimate
from croupier.cli.output.terminal import err, out, say
from croupier.cli.output.texts import texts_document
from croupier.documents.plots.estimates import estimates_inches, plot_estimates
from croupier.documents.plots.figure import save_plot
from croupier.model.estimate import Estimate
from croupier.model.guarantee import Guarantee
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.plan import Plan
from croupier.randomizers.estimates.distribution import DistributionEstimate
from croupier.randomizers.estimates.found_texts import FoundTexts

if TYPE_CHECKING:
    from croupier.analyzer.analysis import Analysis, QuestionEstimate

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
    """

    plan: Plan
    analysis: "Analysis"
    planned: Guarantee | None
    realised: Guarantee | None
    asked: Statements = field(default_factory=Statements)

    @property
    def estimates(self) -> list[Estimate]:
        """The estimates of all questions."""
        return [own.estimate for own in self.analysis.estimates]

    def simultaneous(self) -> "Found":
        """Return the same with intervals that hold together, for all values of each question."""
        own = self.analysis.estimates
        wider = tuple(replace(one, estimate=one.estimate.simultaneous()) for one in own)
        return replace(self, analysis=replace(self.analysis, estimates=wider))

    def show(self, confidence: float, *, everything: bool, quiet: bool) -> None:
        """Print warnings, what was counted, one table per question, and what is proved."""
        for warning in self.analysis.warnings:
            err.print(f"Warning: {warning}", soft_wrap=True)
        if quiet:
            return
        self._print_counts()
        for own in self.analysis.estimates:
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
            )
        out.print()
        out.print(how_intervals_hold(self.estimates, everything=everything))
        out.print(self.proved)

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
            "estimates": list(self._rows()),
            "epsilon_upper": None if self.realised is None else self.realised.value,
            "epsilon_planned": None if self.planned is None else self.planned.value,
            "receipts": [batch.receipt.model_dump(mode="json") for batch in analysis.batches],
            "taken_over": [receipt.model_dump(mode="json") for receipt in analysis.taken_over],
            "texts": list(self._texts()),
            "distributions": list(self._distributions()),
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
        if plot is not None:
            title = f"{self.plan.headline}, {self.analysis.n:,} reports"
            save_plot(
                plot,
                plot_estimates,
                self.estimates,
                title=title,
                questions=[own.question for own in self.analysis.estimates],
                corrupt=[self._corrupt(own) for own in self.analysis.estimates],
                inches=estimates_inches(self.estimates),
            )

    def _write(self, output: Path) -> None:
        """Write one row per value in Parquet; values of several kinds become text."""
        import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import
        import pyarrow.parquet as pq  # noqa: PLC0415 - as above

        rows = [
            {
                "question": own.question,
                "asked": own.asked,
                "value": entry["value"],
                "quantity": own.estimate.quantity,
                "estimate": entry[own.estimate.quantity],
                "standard_error": entry["standard_error"],
                "lower": entry["interval"][0],
                "upper": entry["interval"][1],
                "answers": own.estimate.n,
            }
            for own in self.analysis.estimates
            for entry in estimate_document(own.estimate)
        ]
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


def _bound(found: Guarantee | None) -> str:
    return "not bounded" if found is None else f"<= {ceiling_digits(found.value)}"
