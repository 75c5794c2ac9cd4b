"""A first plan from what is known about a collection before anybody thought about privacy."""

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from croupier.errors import CroupierError
from croupier.model.randomizer import Randomizer
from croupier.model.rung import Rung
from croupier.plan.plan import Plan
from croupier.randomizers import randomizer

__all__ = ["first_plan", "least_error"]

_MECHANISMS = {
    "grid": ("one-bit-mean", "laplace", "gaussian"),
    "k": ("k-rr", "hadamard", "subset-selection", "local-hashing", "optimized-unary"),
}
_READERS = (Rung.BATCH, Rung.CLIENTS)
_MOST_CORRUPT = 0.05
"""Of the enrolled, and at most a quarter of the minimum batch."""
_DIGITS = 9
"""Errors that agree in so many digits are equal: the shorter report is better."""


def first_plan(  # noqa: PLR0913 - keyword-only, each a question of its own
    answers: Mapping[str, Any],
    *,
    enrolled: int,
    minimum_batch: int,
    max_epsilon_local: float,
    corrupt_fraction: float | None = None,
    delta: float | None = None,
    limits: Mapping[str, float] | None = None,
    name: str = "plan",
) -> Plan:
    """A plan with the mechanism that errs least and the limits that somebody set.

    No limit is made up: one that is fitted to what was proved would be kept by any plan.

    Args:
        answers: What people may say: ``{"k": 50}``, ``{"labels": [...]}`` or ``{"grid": {...}}``.
        enrolled: How many people may take part.
        minimum_batch: How many reports a batch must have.
        max_epsilon_local: What one report may be worth to somebody who knows its sender.
        corrupt_fraction: Of the enrolled; 5 %, or a quarter of the batch, if not given.
        delta: 0.01 over the enrolled, rounded down, if not given.
        limits: What may leak to readers of the batch, with and without corrupt clients:
            ``{"max_epsilon": 0.1}``.
        name: What the plan is called.

    Raises:
        PlanError: The numbers do not fit together.
    """
    chosen = least_error(answers, max_epsilon_local=max_epsilon_local, n=max(1, minimum_batch))
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
            "protections": {
                "minimum_batch": minimum_batch,
                "report_size": max(32, -(-(chosen.report_format.size + 2) // 16) * 16),
            },
            "guarantee": {"delta": _one_digit(1 / (100 * max(1, enrolled)), delta)},
            "policy": policy,
        }
    )


def least_error(answers: Mapping[str, Any], *, max_epsilon_local: float, n: int) -> Randomizer:
    """The mechanism for these answers whose estimates from `n` reports err least.

    >>> least_error({"k": 50}, max_epsilon_local=4.0, n=200_000).mechanism
    'k-rr'
    >>> least_error({"k": 50}, max_epsilon_local=1.0, n=200_000).mechanism
    'subset-selection'
    """
    names = _MECHANISMS["grid" if "grid" in answers else "k"]
    first = randomizer(names[0], max_epsilon_local=max_epsilon_local, **answers)
    made = [first]
    for name in names[1:]:
        try:
            made.append(randomizer(name, max_epsilon_local=max_epsilon_local, **answers))
        except CroupierError:  # too many categories, or too fine a grid, for this one
            continue
    return min(made, key=lambda one: (_rounded(one.rms_error(n)), one.report_format.size))


def _rounded(error: float) -> float:
    return float(f"{error:.{_DIGITS}g}")


def _one_digit(default: float, given: float | None) -> float:
    """What is given, or the default rounded down to a digit of how it is printed."""
    if given is not None:
        return given
    printed = Decimal(repr(default))
    return float(printed.quantize(Decimal(1).scaleb(printed.adjusted()), ROUND_FLOOR))
