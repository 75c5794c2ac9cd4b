"""A first plan from basic facts about a collection."""

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from croupier.assessment.design.family import MANY_VALUES
from croupier.assessment.design.pace import Pace
from croupier.errors import CroupierError
from croupier.model.randomizer import Randomizer
from croupier.model.rung import Rung
from croupier.plan.plan import Plan
from croupier.randomizers import randomizer

__all__ = ["ONCE", "first_plan", "least_error", "report_size"]

_MECHANISMS = {
    "grid": ("one-bit-mean", "laplace", "gaussian"),
    "k": ("k-rr", "hadamard", "subset-selection", "local-hashing", "optimized-unary"),
    "many": ("dictionary", "k-rr", "hadamard"),
    "longest": ("text",),
}
ONCE = Pace(every=None)
_READERS = (Rung.BATCH, Rung.CLIENTS)
_MOST_CORRUPT = 0.05
"""The default share of the enrolled, at most a quarter of the minimum batch."""
_DIGITS = 9
"""Errors that agree to this many digits count as equal: the shorter report is better."""


def first_plan(  # noqa: PLR0913 - keyword-only, each a question of its own
    answers: Mapping[str, Any],
    *,
    enrolled: int,
    minimum_batch: int,
    max_epsilon_local: float,
    corrupt_fraction: float | None = None,
    delta: float | None = None,
    limits: Mapping[str, float] | None = None,
    pace: Pace = ONCE,
    max_epsilon_permanent: float | None = None,
    name: str = "plan",
) -> Plan:
    """Make a plan with the mechanism of least error and the given limits.

    No limit is invented: a limit fitted to the proved number would be kept by any plan.

    Args:
        answers: The possible answers: ``{"k": 50}``, ``{"labels": [...]}``, ``{"grid": {...}}`` or
            ``{"longest": 12, ...}``, texts.
        enrolled: The number of people who may take part.
        minimum_batch: The least number of reports in a batch.
        max_epsilon_local: The ceiling of one report's epsilon against somebody who knows its
            sender.
        corrupt_fraction: The share of the enrolled; 5 %, or a quarter of the batch, if not given.
        delta: The failure probability; 0.01 over the enrolled, rounded down, if not given.
        limits: The limits against readers of the batch, with and without corrupt clients:
            ``{"max_epsilon": 0.1}``.
        pace: How often people are asked; one round if left out.
        max_epsilon_permanent: The ceiling of all that a person ever answers, if devices are to keep
            a permanent answer.
        name: The name of the plan.

    Raises:
        PlanError: The numbers contradict each other.
    """
    if max_epsilon_permanent is None:
        chosen = least_error(answers, max_epsilon_local=max_epsilon_local, n=max(1, minimum_batch))
    else:
        ceilings = {"max_epsilon_local": max_epsilon_local}
        ceilings |= {"max_epsilon_permanent": max_epsilon_permanent}
        chosen = randomizer("memoised-k-rr", **ceilings, **answers)
    corrupt = min(_MOST_CORRUPT, 0.25 * minimum_batch / max(1, enrolled))
    policy = {str(rung): dict(limits) for rung in _READERS} if limits else {}
    return Plan.from_document(
        {
            "schema": 2,
            "name": name,
            "randomizer": chosen,
            "population": {
                "enrolled": enrolled,
                "corrupt_fraction": _one_digit(corrupt, corrupt_fraction),
            },
            **({"collection": pace.section} if pace.section else {}),
            "protections": {
                "minimum_batch": minimum_batch,
                "report_size": report_size(chosen),
            },
            "guarantee": {"delta": _one_digit(1 / (100 * max(1, enrolled)), delta)},
            "policy": policy,
        }
    )


def least_error(answers: Mapping[str, Any], *, max_epsilon_local: float, n: int) -> Randomizer:
    """Find the mechanism for these answers whose estimates from `n` reports err least.

    >>> least_error({"k": 50}, max_epsilon_local=4.0, n=200_000).mechanism
    'k-rr'
    >>> least_error({"k": 50}, max_epsilon_local=1.0, n=200_000).mechanism
    'subset-selection'
    """
    kind = next((each for each in ("grid", "longest") if each in answers), "k")
    if max(answers.get("k", 0), len(answers.get("labels", ()))) >= MANY_VALUES:
        kind = "many"
    names = _MECHANISMS[kind]
    first = randomizer(names[0], max_epsilon_local=max_epsilon_local, **answers)
    made = [first]
    for name in names[1:]:
        try:
            made.append(randomizer(name, max_epsilon_local=max_epsilon_local, **answers))
        except CroupierError:  # too many categories, or too fine a grid, for this one
            continue
    return min(made, key=lambda one: (_rounded(one.rms_error(n)), one.report_format.size))


def report_size(randomizer: Randomizer) -> int:
    """Return the bytes that a report needs: a multiple of 16, and at least 32.

    >>> report_size(randomizer("k-rr", k=50, max_epsilon_local=4.0))
    32
    """
    return max(32, -(-(randomizer.report_format.size + 2) // 16) * 16)


def _rounded(error: float) -> float:
    return float(f"{error:.{_DIGITS}g}")


def _one_digit(default: float, given: float | None) -> float:
    """The given number, or the default rounded down to one printed digit."""
    if given is not None:
        return given
    printed = Decimal(repr(default))
    return float(printed.quantize(Decimal(1).scaleb(printed.adjusted()), ROUND_FLOOR))
