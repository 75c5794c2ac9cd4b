"""The way of a report from the device to the figures, as far as this plan protects it."""

import math
from collections.abc import Iterator

from croupier.documents.explain.people.parties import added, sends_answers, some_trace
from croupier.plan.plan import Plan

__all__ = ["found_again", "leaves_the_device", "way_of_reports"]


def way_of_reports(plan: Plan) -> Iterator[str]:
    """Yield what each party does and learns."""
    if sends_answers(plan):
        yield f"The device pads and seals the answer. {leaves_the_device(plan)}"
        yield from _mixed(plan)
        return
    yield (
        "The device draws one report from the answer with the plan's mechanism, pads and seals "
        f"it. {leaves_the_device(plan)}"
    )
    yield from _mixed(plan)


def _mixed(plan: Plan) -> Iterator[str]:
    """Yield what shufflers and analyzer do and learn."""
    if len(plan.shufflers) > 1:
        yield from _mixed_twice(plan)
        return
    mixes = "The shuffler removes the outer seal, waits for the minimum batch, mixes and releases."
    if any(plan.dummies):
        mixes += f" {_added(plan)}"
    if plan.operators == "same":
        yield f"{mixes} Its operator also runs the analyzer, and can open every report."
        yield "The analyzer opens the reports and estimates. Its operator can tell who sent which."
        return
    yield f"{mixes} It cannot open what is sealed for the analyzer."
    opens = "The analyzer opens the mixed reports and estimates."
    if plan.analyzer.publication == "released-order":
        yield f"{opens} Rows are published in released order: the shuffler can tell who sent which."
    else:
        yield f"{opens} It is not told who sent which."


def _mixed_twice(plan: Plan) -> Iterator[str]:
    yield (
        "The first shuffler removes its seal, waits for the minimum batch, mixes and hands over. "
        "It knows senders, and cannot open what is sealed for the others."
    )
    yield (
        "The second shuffler removes its seal, mixes again and releases. It is not told who sent "
        "which, and cannot open what is sealed for the analyzer."
    )
    if any(plan.dummies):
        yield _added(plan)
    yield "The analyzer opens the mixed reports and estimates. It is not told who sent which."


def _added(plan: Plan) -> str:
    told = added(plan)
    return f"{told[0].upper()}{told[1:]} again."


def leaves_the_device(plan: Plan) -> str:
    """Say if the answer itself may leave the device."""
    if math.isfinite(plan.epsilon_local):
        return "Only randomised reports leave a device."
    if sends_answers(plan):
        return "The answer itself leaves the device, sealed: only what is added later hides it."
    return "A report may give an answer away: the noise does not hide every answer."


def found_again(plan: Plan) -> str:
    """Say who could find the report of a person who asks for it."""
    one = len(plan.shufflers) == 1
    if plan.operators == "same" and one:
        return "The operator of shuffler and analyzer can find a person's report."
    if plan.analyzer.publication == "released-order" and one:
        return "The shuffler can find a person's report among the published rows."
    return (
        f"After release, nobody can tell for sure which report is whose unless {some_trace(plan)}."
    )
