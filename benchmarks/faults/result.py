"""The outcome of one harness, and the table of several."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

from benchmarks.faults.verdict import Verdict

__all__ = ["Result", "Skipped", "as_json", "as_table", "timed"]


class Skipped(Exception):  # noqa: N818 - nothing went wrong
    """A harness that cannot run here, with the reason."""


@dataclass
class Result:
    """The result of one harness.

    Attributes:
        harness: Its name.
        faults: The number of faults injected.
        verdict: The fate of the reports.
        seconds: The time it took.
        remarks: Figures of its own, in words.
        skipped: The reason why it did not run, if it did not.
    """

    harness: str
    faults: int = 0
    verdict: Verdict = field(default_factory=Verdict)
    seconds: float = 0.0
    remarks: list[str] = field(default_factory=list)
    skipped: str | None = None

    @property
    def is_clean(self) -> bool:
        """True if nothing forbidden happened."""
        return self.verdict.is_clean


@contextmanager
def timed(harness: str) -> Iterator[Result]:
    """Run a harness; return its result with the time it took, or the reason why it was skipped."""
    result, start = Result(harness), monotonic()
    try:
        yield result
    except Skipped as reason:
        result.skipped = str(reason)
    result.seconds = round(monotonic() - start, 1)


def as_table(results: Sequence[Result]) -> str:
    """One line per harness, then the remarks of each."""
    head = ("harness", "faults", "acknowledged", "lost", "doubled", "violations", "seconds")
    lines = [_line(head), *map(_row, results)]
    for result in results:
        lines += [f"{result.harness}: {sentence}" for sentence in result.remarks]
        lines += [f"{result.harness}: VIOLATION: {text}" for text in result.verdict.faults]
    return "\n".join(lines)


def as_json(results: Sequence[Result]) -> str:
    """The same, for programs."""
    return json.dumps([_document(result) for result in results])


def _row(result: Result) -> str:
    if result.skipped is not None:
        return f"{result.harness:<10} skipped: {result.skipped}"
    verdict = result.verdict
    others = len(verdict.faults) - bool(verdict.lost) - bool(verdict.doubled)
    counts = (result.faults, verdict.acknowledged, verdict.lost, verdict.doubled, others)
    return _line((result.harness, *(f"{count:,}" for count in counts), f"{result.seconds:,.0f}"))


def _line(cells: Sequence[str]) -> str:
    first, *others = cells
    return f"{first:<10}" + "".join(f"{cell:>13}" for cell in others)


def _document(result: Result) -> dict[str, object]:
    return {
        "harness": result.harness,
        "faults": result.faults,
        "acknowledged": result.verdict.acknowledged,
        "lost": result.verdict.lost,
        "doubled": result.verdict.doubled,
        "violations": result.verdict.faults,
        "seconds": result.seconds,
        "remarks": result.remarks,
        "skipped": result.skipped,
    }
