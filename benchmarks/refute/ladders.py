"""Every cell of the trust ladder of a tiny plan, against the enumerated truth."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

from benchmarks.refute.found import Found
from benchmarks.refute.oracle import exp_between
from benchmarks.refute.plan_truth import (
    COMBINED,
    PlanTruth,
    TooManyCasesError,
    View,
    alpha_of_order,
)
from benchmarks.refute.plans import tiny_plan
from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import REPEATED, Ladder, Row, assess
from croupier.model.domain import Grid
from croupier.model.guarantee import Guarantee
from croupier.model.metric import NEAR, Metric
from croupier.model.participation import Crowd
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["check_ladder", "listed", "search"]

SLACK = Fraction(1, 10**9)
"""The relative tolerance if the enumeration itself is in doubles."""

ROUNDED = Fraction(1, 10**12)
"""The tolerance by which an exact number may be rounded to the safe side."""

SHARPNESS = 1e-7
"""The relative precision of an epsilon that is called exact."""

NO_ROWS = ("none", "estimate", "histogram")
EDGES = (
    (Rung.ESTIMATE, Rung.BATCH),
    (Rung.BATCH, Rung.NETWORK),
    (Rung.BATCH, Rung.CLIENTS),
    (Rung.NETWORK, COMBINED),
    (Rung.CLIENTS, COMBINED),
    (COMBINED, Rung.COLLUSION),
    (Rung.ESTIMATE, Rung.SHUFFLER),
    (Rung.SHUFFLER, Rung.COLLUSION),
)
"""Pairs of rungs of which the first sees no more than the second."""


def search(
    random: Random,
    found: Found,
    *,
    model: str | None = None,
    assessed: Callable[[Plan], Ladder] = assess,
) -> None:
    """Try one random plan, of any kind or of one model; redraw those that are too large."""
    truth, views = listed(random, model=model)
    check_ladder(found, assessed(truth.plan), truth, views)


def listed(random: Random, *, model: str | None = None) -> tuple[PlanTruth, dict[str, View]]:
    """A random plan that is small enough, and the views of its rungs."""
    while True:
        truth = PlanTruth(tiny_plan(random, model=model))
        try:
            return truth, _views(truth)
        except TooManyCasesError:
            continue


def _views(truth: PlanTruth) -> dict[str, View]:
    rungs = (Rung.BATCH, Rung.NETWORK, Rung.CLIENTS, COMBINED, Rung.COLLUSION)
    return {rung: truth.view(rung) for rung in rungs}


def check_ladder(found: Found, ladder: Ladder, truth: PlanTruth, views: dict[str, View]) -> None:
    """Check all cells, the order of the rungs, and the two figures below the table."""
    plan = ladder.plan
    case = f"plan {plan.document()}"
    for step in (*ladder, ladder.combined):
        view, linked = _seen(truth, views, step.rung)
        for cell in _compared(truth, step):
            name = f"{step.rung} {cell.metric}, {case}"
            if cell.metric is Metric.ALPHA:
                _check_alpha(found, cell, truth, step.rung, name)
            elif cell.metric is Metric.REIDENTIFICATION:
                _check_value(found, cell, linked, name, exact=not plan.shuffling.alpha)
            elif view is None:
                _check_blind(found, cell, ladder.blind, name)
            elif cell.metric is Metric.EPSILON:
                _check_epsilon(found, cell, view, plan.guarantee.delta or 0.0, name)
            else:
                value = _value(cell.metric, view)
                _check_value(found, cell, value, name, exact=view.exact)
    _check_edges(found, ladder, case)
    _check_figures(found, ladder, truth, views, case)


def _compared(truth: PlanTruth, step: Row) -> list[Cell]:
    """The cells to compare; of estimates that say less than the counts, only attained values.

    The guess that is enumerated is of any question: it says nothing about a number beside others.
    """
    numbers = all(isinstance(made.domain, Grid) for made in truth.plan.randomizers)
    cells = [cell for cell in step.cells.values() if numbers or cell.metric not in NEAR]
    less = truth.plan.analyzer.publication == "estimate" and not truth.estimate_is_counts
    if step.rung not in (Rung.ESTIMATE, Rung.SHUFFLER) or not less:
        return cells
    return [replace(cell, proved=None) for cell in cells]


def _seen(
    truth: PlanTruth, views: dict[str, View], rung: str
) -> tuple[View | None, Fraction | None]:
    """The view of a rung, None for nothing, and the chance that a report is traced there."""
    plan = truth.plan
    shown = plan.analyzer.publication
    if rung in (Rung.ESTIMATE, Rung.SHUFFLER):
        blind = Fraction(1, plan.protections.minimum_batch)
        if rung == Rung.SHUFFLER and shown != "none":
            blind = max(
                map(_pointed, plan.participation_model.crowds(plan.people, rounds_seen=True))
            )
        if shown == "none":
            return None, blind
        if rung == Rung.SHUFFLER and shown == "released-order":
            return views[Rung.COLLUSION], views[Rung.COLLUSION].linked
        weaker = views[Rung.BATCH if rung == Rung.ESTIMATE else Rung.NETWORK]
        if shown in NO_ROWS:
            return weaker, blind
        return weaker, weaker.linked if shown == "sorted" or not plan.shuffling.alpha else None
    if plan.shuffling.alpha and rung != Rung.COLLUSION:
        return views[rung], None  # the order says more: `orders` checks that
    return views[rung], views[rung].linked


def _pointed(crowd: Crowd) -> Fraction:
    """The chance that a guess at one of a crowd is right: the mean of 1/(1 + others)."""
    others, chance = crowd.people - 1, crowd.share
    return sum(
        (
            math.comb(others, there)
            * chance**there
            * (1 - chance) ** (others - there)
            / (1 + there)
            for there in range(others + 1)
        ),
        Fraction(0),
    )


def _value(metric: Metric, view: View) -> Fraction:
    if metric is Metric.GUESS_OF_TWO:
        return (1 + view.distance) / 2
    if metric is Metric.BAYES_SECURITY:
        return 1 - view.distance
    return view.informed if metric is Metric.GUESS_INFORMED else view.uniform


def _check_value(
    found: Found, cell: Cell, truth: Fraction | None, name: str, *, exact: bool
) -> None:
    """Compare both ends; an attained value may be an exact number, rounded to the safe side."""
    if truth is None:
        return
    slack = Fraction(0) if exact else SLACK
    above, below = truth * (1 - slack), truth * (1 + slack)
    if cell.metric.protects:
        above -= ROUNDED
    else:
        below += ROUNDED
    kind = f"ladder {cell.metric}"
    if cell.upper is not None:
        found.at_least(kind, cell.upper, above, f"at most, {name}")
    if cell.lower is not None:
        found.at_most(kind, cell.lower, below, f"at least, {name}")


def _check_blind(found: Found, cell: Cell, blind: Row, name: str) -> None:
    """Check a rung that is shown nothing: its cell is that of luck alone."""
    known = blind[cell.metric].proved
    assert known is not None  # noqa: S101 - always there
    found.expect(f"ladder {cell.metric}", cell.upper == known.value, cell.upper, known.value, name)


def _check_epsilon(found: Found, cell: Cell, view: View, delta: float, name: str) -> None:
    if cell.upper is not None:
        _check_promise(found, "ladder epsilon", cell.upper, view, delta, f"at most, {name}")
    if cell.lower:
        slack = Fraction(0) if view.exact else SLACK
        lower = cell.lower * (1 - SHARPNESS) if _rounded(cell) else cell.lower
        reached = view.delta(exp_between(lower)[0])
        case = f"epsilon {cell.lower!r} at least, {name}"
        found.at_most("ladder epsilon", Fraction(delta) * (1 - slack), reached, case)


def _rounded(cell: Cell) -> bool:
    """Tell whether the attained value is an exact promise, here or on another rung."""
    return cell.attained is not None and cell.attained.theorem.startswith("exact, from the integ")


def _check_promise(  # noqa: PLR0913, PLR0917 - one comparison, and what it is about
    found: Found, kind: str, epsilon: float, view: View, delta: float, name: str
) -> None:
    slack = Fraction(0) if view.exact else SLACK
    reached = view.delta(exp_between(epsilon)[1])
    case = f"epsilon {epsilon!r}, {name}"
    found.at_least(kind, Fraction(delta) * (1 + slack), reached, case)


def _check_alpha(found: Found, cell: Cell, truth: PlanTruth, rung: str, name: str) -> None:
    """Check alpha: each batch of a person has its own order, and the alphas add up."""
    plan = truth.plan
    if cell.proved is None or not plan.shuffling.alpha:
        return
    if rung == Rung.ESTIMATE and plan.analyzer.publication != "released-order":
        found.expect("ladder alpha", cell.proved.value == 0, cell.proved.value, 0, name)
        return
    once = alpha_of_order(plan.protections.minimum_batch, truth.theta)
    reached = Fraction(once) * plan.reports * (1 - SLACK)
    found.at_least("ladder alpha", cell.proved.value, reached, name)


def _check_edges(found: Found, ladder: Ladder, case: str) -> None:
    """Check that no rung that sees more is promised to gain less."""
    steps = {step.rung: step for step in (*ladder, ladder.combined)}
    for low, high in EDGES:
        for metric in steps[low].cells:
            first, second = steps[low][metric].proved, steps[high][metric].proved
            if second is None:
                continue
            worst = math.inf if metric in (Metric.EPSILON, Metric.ALPHA) else not metric.protects
            said = float(worst) if first is None else first.value
            more = said >= second.value if metric.protects else said <= second.value
            name = f"{low}, {high}, {metric}, {case}"
            found.expect("ladder edges", more, said, second.value, name)


def _check_figures(
    found: Found, ladder: Ladder, truth: PlanTruth, views: dict[str, View], case: str
) -> None:
    if (many := ladder.repeated) is not None:
        reached = views[Rung.BATCH].repeated(REPEATED, many.value) if not truth.resent else 0.0
        allowed = Fraction(many.delta or 0.0) * (1 + SLACK)
        found.at_least("ladder repeated", allowed, reached, f"epsilon {many.value!r}, {case}")
    if (full := ladder.everybody) is not None:
        check_everybody(found, full, truth, case)


def check_everybody(found: Found, full: Guarantee, truth: PlanTruth, case: str) -> None:
    """Check the figure at full enrolment, where people hide among those shuffled with them."""
    plan = truth.plan
    if plan.shuffling.groups is not None and not plan.shuffling.alpha:
        crowded = plan.protections.minimum_batch  # a group need not be larger
    else:
        crowded = plan.population.enrolled // (plan.people // plan.protections.minimum_batch)
    try:
        view = truth.view(Rung.BATCH, batch=crowded)
    except TooManyCasesError:
        return
    _check_promise(found, "ladder everybody", full.value, view, plan.guarantee.delta or 0.0, case)
