"""The way of a report from the device to the figures, as far as this plan protects it."""

import math
from collections.abc import Iterator

from croupier.plan.plan import Plan

__all__ = ["found_again", "leaves_the_device", "way_of_reports"]


def way_of_reports(plan: Plan) -> Iterator[str]:
    """Yield what each party does and learns."""
    yield (
        "The device draws one report from the answer with the plan's mechanism, pads and seals "
        f"it. {leaves_the_device(plan)}"
    )
    mixes = "The shuffler removes the outer seal, waits for the minimum batch, mixes and releases."
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


def leaves_the_device(plan: Plan) -> str:
    """Say if the answer itself may leave the device."""
    if all(math.isfinite(each.epsilon_local) for each in plan.randomizers):
        return "Only randomised reports leave a device."
    return "A report may give an answer away: the noise does not hide every answer."


def found_again(plan: Plan) -> str:
    """Say who could find the report of a person who asks for it."""
    if plan.operators == "same":
        return "The operator of shuffler and analyzer can find a person's report."
    if plan.analyzer.publication == "released-order":
        return "The shuffler can find a person's report among the published rows."
    return (
        "After release, nobody can tell which report is whose unless shuffler and analyzer "
        "cooperate."
    )
