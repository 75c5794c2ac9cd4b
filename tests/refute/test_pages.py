"""Every number of the explain page and of `croupier assess`, as it is printed."""

from dataclasses import replace
from functools import partial

import pytest

from benchmarks.refute import pages
from benchmarks.refute.found import Found
from benchmarks.refute.plans import MODELS
from benchmarks.refute.reached import reached
from croupier.accounting.amplify import bracket
from croupier.assessment.ladder.ladder import assess
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

CASES = [1, pytest.param(6, marks=pytest.mark.proof)]
"""Of each of nine models, and of any: 10 plans, and 60 where there is time."""

REGIONS = {
    "schema": 2,
    "name": "regions",
    "randomizer": {"mechanism": "k-rr", "k": 4, "max_epsilon_local": 2.0},
    "population": {"enrolled": 6000},
    "participation": {"model": "single"},
    "protections": {"minimum_batch": 1500},
    "guarantee": {"delta": 1e-6},
    "shuffling": {"order": "uniform", "groups": {"sha256": "0" * 64}},
}


@pytest.mark.slow
@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("model", [*MODELS, None])
def test_every_printed_number(refuted, require_true, model, cases):
    search = partial(pages.search, model=model)
    require_true(refuted(f"pages, {model}", search, cases=cases), cells=100 * cases)


def test_groups_that_are_mixed_each_by_itself_at_full_enrolment(require_true):
    """Four regions of 1,500: nobody hides among all 6,000."""
    plan, found = Plan.from_document(REGIONS), Found()
    ladder = assess(plan)
    pages.check_page(found, ladder)
    pages.check_lines(found, ladder)
    require_true(found, cells=100)
    if ladder.everybody is not None:
        least = bracket(plan.randomizer, n=1500, delta=1e-6).lower.value
        assert ladder.everybody.value >= least


def test_what_attacks_reach_is_never_more_than_what_is_proved():
    """The attacks themselves, where the package's two ends are close."""
    plan = Plan.from_document(REGIONS)
    found = reached(plan, "batch").gains[Metric.EPSILON]
    both = bracket(plan.randomizer, n=1500, delta=1e-6)
    assert 0.5 * both.lower.value < found <= both.upper.value


@pytest.mark.parametrize(
    ("metric", "factor"),
    [
        (Metric.EPSILON, 0.3),
        (Metric.GUESS_OF_TWO, 0.5),
        (Metric.REIDENTIFICATION, 0.2),
        (Metric.BAYES_SECURITY, 3.0),
    ],
)
def test_a_page_that_says_too_little_is_caught(metric, factor):
    plan, found = Plan.from_document(REGIONS), Found()
    ladder = assess(plan)
    rows = []
    for row in ladder.rows:
        proved = row[metric].proved
        cell = replace(row[metric], proved=replace(proved, value=factor * proved.value))
        rows.append(replace(row, cells={**row.cells, metric: cell}))
    pages.check_page(found, replace(ladder, rows=tuple(rows)))
    assert any(violation.kind == f"page, {metric}" for violation in found.violations)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("<= 0.5", (0.5, 0.5)),
        ("0.0253-1.42", (0.0253, 1.42)),
        ("1e-05-2e-05", (1e-5, 2e-5)),
        ("at most 0.5", (0.5, 0.5)),
        ("50.4 %", (0.504, 0.504)),
        ("1 in 3,660", (1 / 3660, 1 / 3660)),
        ("certain", (1.0, 1.0)),
        ("10^7", (1e7, 1e7)),
        ("98.7 %", (0.987, 0.987)),
        ("at most 1 in 646", (1 / 646, 1 / 646)),
        ("at most 98.7 %", (0.987, 0.987)),
        ("no protection", (1.0, 1.0)),
    ],
)
def test_what_is_printed_is_read(text, ends):
    assert pages.printed(text) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("key", "limit", "factor"),
    [("max_epsilon", 3.0, 0.3), ("max_guess_of_two", 0.95, 0.5), ("min_bayes_security", 0.1, 3.0)],
)
def test_what_the_noise_alone_gives_is_checked(require_true, key, limit, factor):
    """Beside a limit that limits nothing: true as it is, and caught where it is too good."""
    plan = Plan.from_document({**REGIONS, "policy": {"batch": {key: limit}}})
    found, ladder = Found(), assess(plan)
    pages.check_page(found, ladder)
    require_true(found, cells=100)
    (metric,), shown = (each.metric for each in plan.limits), pages.page.limit_rows

    def better(check):
        for verdict in check:
            proved = verdict.alone.proved
            alone = replace(proved, value=factor * proved.value)
            changed = replace(verdict, alone=replace(verdict.alone, proved=alone))
            yield from shown(replace(check, verdicts=(changed,)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages.page, "limit_rows", better)
        pages.check_page(found, ladder)
    (violation,) = found.violations
    assert violation.kind == f"page, {metric}"
    assert "epsilon_local alone gives" in violation.case


def test_a_bound_that_is_not_marked_is_caught():
    """A new sentence with a number of its own that is no fact of the plan."""
    plan, found = Plan.from_document(REGIONS), Found()
    ladder = assess(plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages.page, "seen_on_the_wire", lambda _: "Found at most 1 in 4,321.")
        pages.check_page(found, ladder)
    assert any("4,321" in violation.said for violation in found.violations)
