"""The analyzer: from released batches to estimates, or to a refusal.

1. Receipts are checked against the plan, files against their receipts.
2. An engine opens and counts the rows of every batch; duplicates, nulls, and what does not open or
   decode are dropped and counted.
3. What remains is counted again: a batch with fewer people than the plan's minimum less the corrupt
  ones, or with nulls that the plan's coins do not explain, is not published.
4. Rounds that ask the same question are pooled, and every question is estimated. Where shufflers
   add dummies, their mean is subtracted from each count.

What the result means for each adversary is proved elsewhere, from the numbers recorded here.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.analyzer.counting import CountReports, ReportCounts
from croupier.analyzer.dummies import DummySum, added_tail, estimate_with_dummies
from croupier.analyzer.keys import KeySource
from croupier.analyzer.released import (
    ReleasedBatch,
    first_signers,
    recoveries,
    verified_batches,
)
from croupier.engines.base import Engine
from croupier.errors import CroupierError, NotPublishedError, ParameterError
from croupier.model.estimate import Estimate
from croupier.model.randomizer import Randomizer
from croupier.model.result import Result
from croupier.numerics.binomial import binomial_tail
from croupier.plan.plan import Plan, require_plan
from croupier.protocol.key_directory import AbsentKeyError, KeyFileError
from croupier.protocol.party_keys import ShufflerKeys, signers_beside
from croupier.protocol.query import Query
from croupier.protocol.receipt import Receipt, ReceiptError
from croupier.protocol.seen_lists import SeenLists
from croupier.protocol.wire import question, question_index
from croupier.randomizers.parallel import ParallelRandomizer

__all__ = ["FALSE_ALARM", "MOST_UNOPENED", "Analysis", "BatchCounts", "QuestionEstimate"]
__all__ += ["analyze"]

FALSE_ALARM = 1e-9
"""The chance, per side, that honest people's coins look as if they were not the plan's."""

DUMMIES_FALSE_ALARM = 1e-12
"""The chance that an honest shuffler's dummies look as if they were not the plan's, at most."""

MOST_UNOPENED = 0.01
"""The share of a batch's rows that may fail to open, beyond the corrupt people of the plan."""

_NOTHING = "Nothing was written."


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
        taken_over: The first shuffler's receipt, if there are two.
    """

    receipt: Receipt
    asked: str | None
    counts: ReportCounts
    people: int
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
    """

    plan_digest: str
    estimates: tuple[QuestionEstimate, ...]
    batches: tuple[BatchCounts, ...]
    warnings: tuple[str, ...]

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


def analyze(  # noqa: PLR0913 - keyword-only facts about one analysis
    plan: Plan,
    files: Sequence[Path],
    *,
    key: KeySource,
    engine: Engine,
    shuffler: ShufflerKeys | None = None,
    queries: Sequence[Query] = (),
    confidence: float = 0.95,
    most_unopened: float = MOST_UNOPENED,
    advance: Callable[[int], None] = lambda _: None,
) -> Analysis:
    """Estimate what people answered, from batches that the plan's shuffler released.

    Args:
        plan: The plan of the collection.
        files: Released batches of one plan, each beside its receipt.
        key: The directory of the analyzer's keys, which also remembers the shuffler's newest list.
        engine: The engine that runs over the rows.
        shuffler: The list of the shuffler's keys; the one beside the receipts if left out.
        queries: The queries of the rounds, if they ask by query.
        confidence: The coverage of each interval.
        most_unopened: The share of a batch's rows that may fail to open, beyond as many as the plan
            has corrupt people.
        advance: A function that receives how many more rows are done.

    Raises:
        ReceiptError: A receipt, a chain or a file is not valid.
        KeyFileError: The key that a round was opened for is missing.
        NotPublishedError: Too many rows do not open; or the rest does not support the plan's
            promises.
        UntrustedError: The list of the shuffler's keys is older than one that was seen before.
    """
    folders = dict.fromkeys(file.parent for file in files)
    last = len(require_plan(plan).shufflers) - 1
    listed = shuffler or signers_beside(plan, folders, last).keys
    lists = SeenLists(key.directory, last)
    if listed is not None:
        lists.require(listed)
    if last and (first := first_signers(plan, folders).keys) is not None:
        SeenLists(key.directory).remember(first)
    batches = verified_batches(plan, files, shuffler=listed, queries=queries)
    set_back = recoveries(plan, folders, shuffler=listed)
    _require_fresh(plan, batches)
    for each in batches:  # find a missing key or a wrong passphrase before the work
        _require_key(plan, each, key)
    if listed is not None:
        lists.remember(listed)
    found = tuple(_counted(plan, batch, key, engine, advance) for batch in batches)
    for batch in found:
        _require_opened(plan, batch, most_unopened)
        _require_people(plan, batch)
        _require_coins(plan, batch)
        _require_dummies(plan, batch)
    return Analysis(
        plan_digest=plan.digest,
        estimates=tuple(_estimates(plan, found, confidence)),
        batches=found,
        warnings=(*map(_recovery_warning, set_back), *_warnings(plan, found)),
    )


def _require_fresh(plan: Plan, batches: Sequence[ReleasedBatch]) -> None:
    if plan.participation.noise == "reused" and len(batches) > 1:
        raise ParameterError(
            "BATCH",
            must='be one where noise = "reused": the rounds hold the same reports',
            got=len(batches),
            hint="Analyse each round by itself.",
        )


def _require_key(plan: Plan, batch: ReleasedBatch, key: KeySource) -> None:
    """Refuse a directory without the key that a round was opened for: no other opens its rows."""
    try:
        key.load(batch.epoch(plan).analyzer)
    except AbsentKeyError:
        raise KeyFileError(
            str(key.directory),
            f"has no key that round {batch.receipt.round} was opened for",
            hint="Name the directory that the plan's analyzer signed from: croupier keys sign.",
        ) from None


def _require_opened(plan: Plan, batch: BatchCounts, most: float) -> None:
    """Refuse a batch with many rows that do not open.

    Corrupt people can send such rows. More come from a shuffler that spoils rows, or from people
    who were shown another key and whose rows it let pass.
    """
    counts = batch.counts
    if batch.taken_over is not None:
        second = batch.receipt.counts
        shut = second.received - second.accepted
        if shut > plan.corrupt + most * second.received:
            raise NotPublishedError(
                f"Round {batch.receipt.round}: the second shuffler refused {shut:,} of "
                f"{second.received:,} rows, more than {most:.2g} of them and the plan's "
                f"{plan.corrupt:,} corrupt people explain",
                hint=f"{_NOTHING} Ask both shufflers. --most-unopened sets another share.",
            )
    if counts.cannot_open > plan.corrupt + most * counts.rows:
        raise NotPublishedError(
            f"{_unopened(batch)}, more than {most:.2g} of them and the plan's {plan.corrupt:,} "
            "corrupt people explain",
            hint=f"{_NOTHING} Compare the key lists that people are shown: croupier mirror. "
            "--most-unopened sets another share.",
        )


def _unopened(batch: BatchCounts) -> str:
    counts = batch.counts
    return (
        f"Round {batch.receipt.round}: {counts.cannot_open:,} of {counts.rows:,} rows do not open"
    )


def _counted(
    plan: Plan,
    batch: ReleasedBatch,
    key: KeySource,
    engine: Engine,
    advance: Callable[[int], None],
) -> BatchCounts:
    receipt = batch.receipt
    step = CountReports(plan, batch.epoch(plan), key)
    table = engine.count([batch.file], step, advance=advance)
    counts = ReportCounts.of(table, plan=plan, round_number=receipt.round)
    if counts.rows != receipt.counts.released:
        problem = f"names {receipt.counts.released:,} rows, but its file has {counts.rows:,}"
        raise ReceiptError(problem, which=f"Receipt {receipt.number}")
    if counts.rows != counts.opened + counts.duplicate + counts.cannot_open:
        raise CroupierError(f"The engine lost rows of {batch.file.name}. Run again, or report it.")
    people = _people(plan, counts, _answering(plan, receipt))
    if any(plan.dummies):
        people = _people_without_dummies(plan, counts, batch)
    asked = None if batch.query is None else batch.query.question
    return BatchCounts(receipt, asked, counts, people, batch.taken_over)


def _people_without_dummies(plan: Plan, counts: ReportCounts, batch: ReleasedBatch) -> int:
    """Return the number of people whom the first shuffler counted, less what is not a report.

    No dummy fails to open or to decode. Of what fails, shufflers kept their share. What the second
    shuffler refused was no report either: garbage that clients sealed to it, or what a corrupt
    first shuffler made of reports.
    """
    first = batch.taken_over or batch.receipt
    kept = math.prod(section.kept for section in plan.shufflers)
    failed = math.ceil((counts.rows - counts.answers) / kept)
    if batch.taken_over is not None:
        refused = batch.receipt.counts.received - batch.receipt.counts.accepted
        failed += math.ceil(refused / plan.shufflers[0].kept)
    return max(0, first.counts.accepted - failed)


def _people(plan: Plan, counts: ReportCounts, answering: Fraction) -> int:
    """Return the number of people among whom a person hides.

    If each group is mixed by itself, the shuffler keeps the minimum in every group, and all dropped
    rows may have been in the smallest.
    """
    people = counts.answers + (counts.nulls if answering < 1 else 0)
    shuffling = plan.shuffling
    if shuffling.groups is None or shuffling.order != "uniform":
        return people
    return max(0, min(people, plan.protections.minimum_batch - (counts.rows - people)))


def _answering(plan: Plan, receipt: Receipt) -> Fraction:
    """Return the chance that a person who sends in the round of a receipt answers."""
    return plan.participation_model.answering(receipt.round)


def _require_people(plan: Plan, batch: BatchCounts) -> None:
    """Count people again, now that reports are open.

    A released batch has the plan's minimum of distinct ciphertexts, and at most the corrupt people
    of the plan send something other than a report, so at least `plan.honest` remain. Fewer prove
    that an assumption of the plan is wrong.
    """
    if batch.people >= plan.honest:
        return
    minimum = plan.protections.minimum_batch
    less = f" less {plan.corrupt:,} corrupt" if plan.corrupt else ""
    raise NotPublishedError(
        f"Round {batch.receipt.round} has {batch.people:,} people with a valid report; "
        f"the plan needs {plan.honest:,}, its minimum of {minimum:,}{less} ({_dropped(batch)})",
        hint=f"{_NOTHING} Look for wrong keys or broken clients; never lower the minimum.",
    )


def _dropped(batch: BatchCounts) -> str:
    counts = batch.counts
    malformed = sum(counts.malformed.values())
    return (
        f"{counts.nulls:,} null, {malformed:,} malformed, {counts.duplicate:,} duplicate, "
        f"{counts.cannot_open:,} cannot be opened"
    )


def _require_coins(plan: Plan, batch: BatchCounts) -> None:
    """Refuse a round whose nulls are not those that the plan's coins leave.

    Among N people who sent, at most c of them corrupt, the answers A are

        Bin(N - c, p) <= A <= Bin(N - c, p) + c,

    where p is the chance to answer in the round. Outside the quantiles of `FALSE_ALARM`, more
    people than the plan allows do not draw their round as planned: too few answers hide nobody,
    too many come from people who answer more than once.
    """
    chance = _answering(plan, batch.receipt)
    if chance == 1:
        return
    answers, people = batch.counts.answers, batch.counts.answers + batch.counts.nulls
    corrupt = plan.population.corrupt(people)
    honest = max(0, people - corrupt)
    few = binomial_tail(honest - answers, honest, success=float(1 - chance))
    many = binomial_tail(answers - corrupt, honest, success=float(chance))
    if min(few, many) < FALSE_ALARM:
        wrong = "few" if few < many else "many"
        raise NotPublishedError(
            f"Round {batch.receipt.round} has {answers:,} answers from {people:,} people, "
            f"too {wrong} for a plan in which each answers with chance {float(chance):.3g}",
            hint=f"{_NOTHING} Clients do not draw their rounds as the plan says.",
        )


def _require_dummies(plan: Plan, batch: BatchCounts) -> None:
    """Refuse a batch to which a shuffler did not add as many rows as its table makes.

    A shuffler that leaves out a share of the reports signs the dummies less those reports.
    """
    bins = question(plan, batch.receipt.round).alphabet_size or 0
    signed = [each for each in (batch.taken_over, batch.receipt) if each is not None]
    for section, table, receipt in zip(plan.shufflers, plan.dummies, signed, strict=True):
        added, accepted = receipt.counts.added, receipt.counts.accepted
        if (table is None) != (added is None):
            which = f"Receipt {receipt.number}"
            raise ReceiptError("has dummies where the plan has none, or none", which=which)
        if table is None or added is None:
            continue
        kept = float(section.kept)
        if added_tail(table, bins, added, accepted=accepted, kept=kept) < DUMMIES_FALSE_ALARM:
            expected = float(table.mean) * bins - (1 - kept) * accepted
            less = "" if kept == 1 else " less reports that were left out"
            raise NotPublishedError(
                f"Round {receipt.round} has {added:,} dummies{less}; {expected:,.0f} are "
                "expected, and so many or few have a chance below 1 in a trillion",
                hint=f"{_NOTHING} The shuffler does not draw its dummies as the plan says.",
            )


def _estimates(
    plan: Plan, batches: Sequence[BatchCounts], confidence: float
) -> Iterator[QuestionEstimate]:
    pooled: dict[tuple[int, str | None], list[BatchCounts]] = {}
    for batch in sorted(batches, key=lambda batch: batch.receipt.round):
        index = question_index(plan, batch.receipt.round)
        pooled.setdefault((index, batch.asked), []).append(batch)
    for (first, asked), own in pooled.items():
        rounds = tuple(batch.receipt.round for batch in own)
        randomizer = question(plan, rounds[0])
        tally = sum((batch.counts.tally for batch in own[1:]), own[0].counts.tally)
        n = sum(batch.reports for batch in own)
        if any(plan.dummies):
            dummies = DummySum.of(plan, batches=len(own))
            found = [_without_dummies(randomizer, tally, n, dummies, confidence)]
        else:
            found = _estimated(randomizer, tally, n, confidence)
        for index, estimate in enumerate(found, start=first):
            words = asked or plan.questions[index % len(plan.questions)].text
            yield QuestionEstimate(plan.question_name(index), words, rounds, estimate)


def _without_dummies(
    randomizer: Randomizer,
    tally: NDArray[np.int64],
    n: int,
    dummies: DummySum,
    confidence: float,
) -> Estimate:
    if not n:
        raise NotPublishedError("Nobody answered", hint=_NOTHING)
    return estimate_with_dummies(randomizer, tally, n, dummies=dummies, confidence=confidence)


def _estimated(
    randomizer: Randomizer, tally: NDArray[np.int64], n: int, confidence: float
) -> list[Estimate]:
    """Return one estimate, or one per parallel question."""
    if not n:
        raise NotPublishedError("Nobody answered", hint=_NOTHING)
    if not isinstance(randomizer, ParallelRandomizer):
        return [randomizer.estimate_tally(tally, n, confidence=confidence)]
    try:
        return randomizer.estimate_tallies(tally, n, confidence=confidence)
    except ParameterError as error:
        raise NotPublishedError(f"The reports must {error.must}", hint=_NOTHING) from None


def _recovery_warning(receipt: Receipt) -> str:
    lost = "" if receipt.recovery is None else receipt.recovery.rounds
    return (
        f"Receipt {receipt.number}: the shuffler says that its database was set back to an older "
        f"copy. Lost: {lost}. It signed that it releases none of them, and later rounds continue "
        "the chain; this alone is no sign of an attack. Ask the operator what happened."
    )


def _warnings(plan: Plan, batches: Sequence[BatchCounts]) -> Iterator[str]:
    for batch in batches:
        counts, which = batch.counts, f"Round {batch.receipt.round}"
        if counts.nulls and _answering(plan, batch.receipt) == 1:
            yield f"{which} has {counts.nulls:,} nulls, but the plan asks nobody for one."
        if counts.cannot_open:
            yield (
                f"{_unopened(batch)}. They were altered, or sealed for something other than this "
                "round: compare the key lists that people are shown (croupier mirror)."
            )
        if counts.duplicate:
            yield f"{which} was released with {counts.duplicate:,} duplicates: ask the shuffler."
        if batch.people < plan.protections.minimum_batch:
            yield (
                f"{which} has {batch.people:,} valid reports, fewer than the minimum of "
                f"{plan.protections.minimum_batch:,}; at most {plan.corrupt:,} may be corrupt."
            )
