"""The analyzer: from released batches to estimates, or to a refusal.

1. Receipts are checked against the plan, files against their receipts.
2. An engine opens and counts the rows of every batch; duplicates, nulls, and what does not open or
   decode are dropped and counted.
3. What remains is counted again: a batch with fewer people than the plan's minimum less the corrupt
  ones, or with nulls that the plan's coins do not explain, is not published.
4. Counts that no honest people's reports explain are named, with the fewest liars behind them.
5. Rounds that ask the same question are pooled, and every question is estimated. Where shufflers
   add dummies, their mean is subtracted from each count.

What the result means for each adversary is proved elsewhere, from the numbers recorded here.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from croupier.analyzer.analysis import Analysis, BatchCounts, QuestionEstimate
from croupier.analyzer.counting import CountReports, ReportCounts
from croupier.analyzer.crossing import AnsweredTogether
from croupier.analyzer.dummies import DummySum, estimate_with_dummies
from croupier.analyzer.keys import KeySource
from croupier.analyzer.liars import signs_of_liars
from croupier.analyzer.parts import (
    AskedByPart,
    FileParts,
    PartEstimates,
    pooled_parts,
    require_by_part,
)
from croupier.analyzer.plausible import (
    MOST_UNOPENED,
    NOTHING,
    answering,
    recovery_warning,
    require_plausible,
    warnings,
)
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
from croupier.plan.plan import Plan, require_plan
from croupier.protocol.batch_file import PLACE, require_places
from croupier.protocol.key_directory import AbsentKeyError, KeyFileError
from croupier.protocol.party_keys import ShufflerKeys, signers_beside
from croupier.protocol.query import Query
from croupier.protocol.receipt import ReceiptError
from croupier.protocol.seen_lists import SeenLists
from croupier.protocol.wire import question, question_index
from croupier.randomizers.several import SeveralQuestions
from croupier.randomizers.text import Text
from croupier.randomizers.together import TogetherRandomizer

__all__ = ["analyze"]


def analyze(  # noqa: PLR0913 - keyword-only facts about one analysis
    plan: Plan,
    files: Sequence[Path],
    *,
    key: KeySource,
    engine: Engine,
    shuffler: ShufflerKeys | None = None,
    queries: Sequence[Query] = (),
    confidence: float = 0.95,
    simultaneous: bool = False,
    most_unopened: float = MOST_UNOPENED,
    candidates: Sequence[str] = (),
    parts: FileParts | None = None,
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
        simultaneous: True if that is to be the coverage of all intervals of all questions together.
        most_unopened: The share of a batch's rows that may fail to open, beyond as many as the plan
            has corrupt people.
        candidates: Texts to look for, beside those that stand out, where a question asks for text.
        parts: The parts of the plan's public file to estimate one by one as well.
        advance: A function that receives how many more rows are done.

    Raises:
        ReceiptError: A receipt, a chain or a file is not valid.
        KeyFileError: The key that a round was opened for is missing.
        NotPublishedError: Too many rows do not open; or the rest does not support the plan's
            promises.
        UntrustedError: The list of the shuffler's keys is older than one that was seen before.
    """
    _require_candidates(require_plan(plan), candidates)
    if parts is not None:
        require_by_part(plan.randomizers)
    folders = dict.fromkeys(file.parent for file in files)
    last = len(plan.shufflers) - 1
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
    step = partial(_count, plan, key=key, engine=engine, parts=parts, advance=advance)
    found = tuple(_counted(plan, batch, step(batch)) for batch in batches)
    for batch in found:
        require_plausible(plan, batch, most_unopened=most_unopened)
    liars = signs_of_liars(plan, found)
    return Analysis(
        plan_digest=plan.digest,
        estimates=tuple(_estimates(plan, found, confidence, candidates, together=simultaneous)),
        batches=found,
        warnings=(*map(recovery_warning, set_back), *warnings(plan, found), *liars.warnings),
        liars=liars,
        answered_together=_answered_together(plan, found),
        parts=None
        if parts is None
        else _by_part(plan, found, parts, confidence, together=simultaneous),
    )


def _require_candidates(plan: Plan, candidates: Sequence[str]) -> None:
    """Refuse texts to look for that no question can have, before the work."""
    asked = [made.domain for made in plan.randomizers if isinstance(made, Text)]
    if candidates and not asked:
        raise ParameterError("candidates", must="be left out: no question asks for text")
    for texts in asked:
        texts.require_all(candidates, name="candidates")


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


def _count(  # noqa: PLR0913 - keyword-only facts about one analysis
    plan: Plan,
    batch: ReleasedBatch,
    *,
    key: KeySource,
    engine: Engine,
    parts: FileParts | None,
    advance: Callable[[int], None],
) -> pa.Table:
    """Run the engine over the rows of a batch."""
    if parts is None:
        step = CountReports(plan, batch.epoch(plan), key)
        return engine.count([batch.file], step, advance=advance)
    require_places(batch.file, batch.receipt, people=len(parts.part_of))
    step = CountReports(plan, batch.epoch(plan), key, parts.part_of)
    return engine.count([batch.file], step, beside=PLACE, advance=advance)


def _counted(plan: Plan, batch: ReleasedBatch, table: pa.Table) -> BatchCounts:
    receipt = batch.receipt
    counts = ReportCounts.of(table, plan=plan, round_number=receipt.round)
    if counts.rows != receipt.counts.released:
        problem = f"names {receipt.counts.released:,} rows, but its file has {counts.rows:,}"
        raise ReceiptError(problem, which=f"Receipt {receipt.number}")
    if counts.rows != counts.opened + counts.duplicate + counts.cannot_open:
        raise CroupierError(f"The engine lost rows of {batch.file.name}. Run again, or report it.")
    people = _people(plan, counts, answering(plan, receipt))
    if any(plan.dummies):
        people = _people_without_dummies(plan, counts, batch)
    asked = None if batch.query is None else batch.query.question
    return BatchCounts(receipt, asked, counts, people, batch.epoch(plan).name, batch.taken_over)


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


def _estimates(
    plan: Plan,
    batches: Sequence[BatchCounts],
    confidence: float,
    candidates: Sequence[str],
    *,
    together: bool,
) -> Iterator[QuestionEstimate]:
    pooled = _pooled(plan, batches)
    sent = question(plan, batches[0].receipt.round)
    at_once = len(sent.queries) if isinstance(sent, SeveralQuestions) else 1
    questions = len(pooled) * at_once
    # Texts and distributions hold together by themselves, each with its part of the doubt.
    each = 1 - (1 - confidence) / questions if together else confidence
    for (first, asked), own in pooled.items():
        rounds = tuple(batch.receipt.round for batch in own)
        randomizer = question(plan, rounds[0]).in_batches([batch.name for batch in own])
        tally = randomizer.pool([batch.counts.tally for batch in own])
        n = sum(batch.reports for batch in own)
        if any(plan.dummies):
            dummies = DummySum.of(plan, batches=len(own))
            found = [_without_dummies(randomizer, tally, n, dummies, each)]
        else:
            found = _estimated(randomizer, tally, n, each, candidates)
        if together:
            found = [_together(one, questions, confidence) for one in found]
        for index, estimate in enumerate(found, start=first):
            words = asked or plan.questions[index % len(plan.questions)].text
            yield QuestionEstimate(plan.question_name(index), words, rounds, estimate)


def _answered_together(plan: Plan, batches: Sequence[BatchCounts]) -> AnsweredTogether | None:
    """Keep the counts of which two-way tables are made; None if people answer one question."""
    sent = question(plan, batches[0].receipt.round)
    if not isinstance(sent, TogetherRandomizer):
        return None
    made = sent.in_batches([batch.name for batch in batches])
    return AnsweredTogether(
        names=tuple(map(plan.question_name, range(len(plan.questions)))),
        randomizer=made,
        tally=made.pool([batch.counts.tally for batch in batches]),
        n=sum(batch.reports for batch in batches),
    )


def _together(estimate: Estimate, questions: int, confidence: float) -> Estimate:
    """Make its intervals hold together with those of the other questions, an equal part each."""
    if estimate.holds_together:
        return estimate
    alone = replace(estimate, confidence=confidence)
    return alone.simultaneous(questions * len(estimate.values))


def _pooled(
    plan: Plan, batches: Sequence[BatchCounts]
) -> dict[tuple[int, str | None], list[BatchCounts]]:
    """Return the batches of every question that was asked."""
    pooled: dict[tuple[int, str | None], list[BatchCounts]] = {}
    for batch in sorted(batches, key=lambda batch: batch.receipt.round):
        index = question_index(plan, batch.receipt.round)
        pooled.setdefault((index, batch.asked), []).append(batch)
    return pooled


def _by_part(
    plan: Plan,
    batches: Sequence[BatchCounts],
    parts: FileParts,
    confidence: float,
    *,
    together: bool,
) -> PartEstimates:
    """Estimate every question in every part of the public file."""
    asked = []
    for (first, _), own in _pooled(plan, batches).items():
        randomizer = question(plan, own[0].receipt.round)
        sums = pooled_parts(batch.counts.parts for batch in own)
        many = len(randomizer.queries) if isinstance(randomizer, SeveralQuestions) else 1
        for index in range(many):
            name = plan.question_name(first + index)
            asked.append(AskedByPart(name, randomizer, index, sums))
    found = PartEstimates.of(parts, asked, confidence=confidence)
    return found.simultaneous() if together else found


def _without_dummies(
    randomizer: Randomizer,
    tally: NDArray[np.int64],
    n: int,
    dummies: DummySum,
    confidence: float,
) -> Estimate:
    if not n:
        raise NotPublishedError("Nobody answered", hint=NOTHING)
    return estimate_with_dummies(randomizer, tally, n, dummies=dummies, confidence=confidence)


def _estimated(
    randomizer: Randomizer,
    tally: NDArray[np.int64],
    n: int,
    confidence: float,
    candidates: Sequence[str],
) -> list[Estimate]:
    """Return one estimate, or one per question of a shared batch."""
    if not n:
        raise NotPublishedError("Nobody answered", hint=NOTHING)
    try:
        if isinstance(randomizer, Text):
            return [randomizer.find(tally, n, confidence=confidence, listed=candidates)]
        if isinstance(randomizer, SeveralQuestions):
            return randomizer.estimate_tallies(tally, n, confidence=confidence, listed=candidates)
        return [randomizer.estimate_tally(tally, n, confidence=confidence)]
    except ParameterError as error:
        if error.parameter != "reports":
            raise
        raise NotPublishedError(f"The reports must {error.must}", hint=NOTHING) from None
