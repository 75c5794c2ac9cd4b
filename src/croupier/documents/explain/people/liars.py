"""Words for people who lie: how far they move a result."""

from collections.abc import Iterator
from fractions import Fraction

from croupier.model.domain import Categories
from croupier.model.texts import Texts
from croupier.numerics.rounding import ceiling_digits, float_above
from croupier.plan.plan import Plan
from croupier.randomizers.distribution import Distribution
from croupier.randomizers.text import Text

__all__ = ["made_up_share", "shifted"]


def shifted(plan: Plan) -> Iterator[str]:
    """Say how far 1 % of liars, and the corrupt people of the plan, move an estimate."""
    worst, corrupt = plan.worst_shift, plan.manipulation
    what, unit = _estimated(plan)
    if worst is None or corrupt is None:
        yield f"How far liars move {what} is not bounded."
    else:
        yield f"1 % of liars in the smallest batch {_moved(worst / 100, what, unit)}."
        if plan.corrupt:
            share = 100 * plan.corrupt / plan.protections.minimum_batch
            yield (
                f"The plan's {plan.corrupt:,} corrupt people, {share:.3g} % of the batch, "
                f"{_moved(corrupt, what, unit)}."
            )
    made_up = made_up_share(plan)
    if made_up is not None:
        yield (
            f"{plan.corrupt:,} corrupt people can make up texts with shares of up to about "
            f"{ceiling_digits(100 * made_up)} %."
        )


def made_up_share(plan: Plan) -> float | None:
    """Return the share of a text that the plan's corrupt people can make up, about; None if none.

    Only where the text is the one question.
    """
    first, *more = plan.randomizers
    if more or not plan.corrupt or not isinstance(first, Text):
        return None
    return first.made_up(plan.answers, corrupt=plan.corrupt)


def _moved(shift: Fraction, what: str, unit: str) -> str:
    if shift >= 1:
        return f"can give {what} any value"
    return f"move {what} by at most {ceiling_digits(float_above(100 * shift))} {unit}"


def _estimated(plan: Plan) -> tuple[str, str]:
    """Name what is estimated, and the unit in which it is moved."""
    shares = [
        isinstance(made.domain, Categories | Texts) or isinstance(made, Distribution)
        for made in plan.randomizers
    ]
    if all(shares):
        return "a share", "percentage points"
    return ("an estimate" if any(shares) else "a mean"), "% of its range"
