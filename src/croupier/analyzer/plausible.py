"""Counts that the plan explains: a batch with others is not published, or gets a warning."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from croupier.analyzer.analysis import BatchCounts
from croupier.analyzer.dummies import added_tail
from croupier.errors import NotPublishedError
from croupier.numerics.binomial import binomial_tail
from croupier.plan.plan import Plan
from croupier.protocol.receipt import Receipt, ReceiptError
from croupier.protocol.wire import question

__all__ = ["FALSE_ALARM", "MOST_UNOPENED", "NOTHING", "answering", "recovery_warning"]
__all__ += ["require_plausible", "warnings"]

FALSE_ALARM = 1e-9
"""The chance, per side, that honest people's coins look as if they were not the plan's."""

DUMMIES_FALSE_ALARM = 1e-12
"""The same for an honest shuffler's dummies, per side."""

MOST_UNOPENED = 0.01
"""The share of a batch's rows that may fail to open, beyond the corrupt people of the plan."""

NOTHING = "Nothing was written."


def require_plausible(plan: Plan, batch: BatchCounts, *, most_unopened: float) -> None:
    """Refuse a batch whose counts the plan does not explain.

    Raises:
        NotPublishedError: Too many rows do not open, too few people remain, or the coins of people
            or the dummies of a shuffler are not the plan's.
        ReceiptError: A shuffler signed dummies where the plan has none, or none where it has.
    """
    _require_opened(plan, batch, most_unopened)
    _require_people(plan, batch)
    _require_coins(plan, batch)
    _require_lots(plan, batch)
    _require_dummies(plan, batch)


def answering(plan: Plan, receipt: Receipt) -> Fraction:
    """Return the chance that a person who sends in the round of a receipt answers."""
    return plan.participation_model.answering(receipt.round)


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
                hint=f"{NOTHING} Ask both shufflers. --most-unopened sets another share.",
            )
    if counts.cannot_open > plan.corrupt + most * counts.rows:
        raise NotPublishedError(
            f"{_unopened(batch)}, more than {most:.2g} of them and the plan's {plan.corrupt:,} "
            "corrupt people explain",
            hint=f"{NOTHING} Compare the key lists that people are shown: croupier mirror. "
            "--most-unopened sets another share.",
        )


def _unopened(batch: BatchCounts) -> str:
    counts = batch.counts
    return (
        f"Round {batch.receipt.round}: {counts.cannot_open:,} of {counts.rows:,} rows do not open"
    )


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
        hint=f"{NOTHING} Look for wrong keys or broken clients; never lower the minimum.",
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
    chance = answering(plan, batch.receipt)
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
            hint=f"{NOTHING} Clients do not draw their rounds as the plan says.",
        )


def _require_lots(plan: Plan, batch: BatchCounts) -> None:
    """Refuse a batch in which some part of a question has more or fewer answers than coins give.

    Each person draws one question of several, or one level of a tree. With A answers, c of them of
    corrupt people who choose, a part with the chance p has between Bin(A - c, p) and
    Bin(A - c, p) + c.
    """
    lots = question(plan, batch.receipt.round).lots(batch.counts.tally)
    answers = batch.counts.answers
    corrupt = plan.population.corrupt(answers)
    honest = max(0, answers - corrupt)
    for place, (count, chance) in enumerate(lots, start=1):
        few = binomial_tail(honest - count, honest, success=float(1 - chance))
        many = binomial_tail(count - corrupt, honest, success=float(chance))
        if min(few, many) < FALSE_ALARM / len(lots):
            raise NotPublishedError(
                f"Round {batch.receipt.round} has {count:,} of {answers:,} answers to part {place} "
                f"of {len(lots)}; each person draws it with chance {float(chance):.3g}",
                hint=f"{NOTHING} Clients do not draw what they answer as the plan says.",
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
                hint=f"{NOTHING} The shuffler does not draw its dummies as the plan says.",
            )


def recovery_warning(receipt: Receipt) -> str:
    """Say that the shuffler signed that its database was set back."""
    lost = "" if receipt.recovery is None else receipt.recovery.rounds
    return (
        f"Receipt {receipt.number}: the shuffler says that its database was set back to an older "
        f"copy. Lost: {lost}. It signed that it releases none of them, and later rounds continue "
        "the chain; this alone is no sign of an attack. Ask the operator what happened."
    )


def warnings(plan: Plan, batches: Sequence[BatchCounts]) -> Iterator[str]:
    """Yield what the operator should look at in batches that are published."""
    for batch in batches:
        counts, which = batch.counts, f"Round {batch.receipt.round}"
        if counts.nulls and answering(plan, batch.receipt) == 1:
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
