"""Every cell of the ladders of tiny plans of every kind, by listing all that can happen."""

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from benchmarks.refute import ladders
from benchmarks.refute.found import Found
from benchmarks.refute.plans import MODELS
from croupier.assessment.ladder.ladder import assess
from croupier.model.metric import Metric


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_every_cell(refuted, require_true, model):
    search = partial(ladders.search, model=model)
    require_true(refuted(f"plans, {model}", search, cases=2), cells=150)


def test_alpha_adds_up_over_rounds(refuted, require_true):
    """Single rounds in Mallows orders, as many as it takes to meet several rounds."""
    found = refuted("alpha", partial(ladders.search, model="single"), cases=8, seed=2)
    found.violations = [v for v in found.violations if v.kind == "ladder alpha"]
    assert found.cells["ladder alpha"] >= 8
    require_true(found, cells=8)


@pytest.fixture(scope="module")
def proved():
    """Plans with what is seen of them and their ladders; two of them in a Mallows order."""
    found = []
    for number in range(6):
        random = Random(f"proved {number}")  # noqa: S311 - to be drawn again
        truth, views = ladders.listed(random, model="single")
        found.append((assess(truth.plan), truth, views))
    assert sum(bool(truth.plan.shuffling.alpha) for _, truth, _ in found) >= 2
    return found


@pytest.mark.parametrize(
    ("metric", "factor"),
    [
        (Metric.EPSILON, 0.6),
        (Metric.REIDENTIFICATION, 0.9),
        (Metric.GUESS_OF_TWO, 0.9),
        (Metric.GUESS_UNINFORMED, 0.95),
        (Metric.GUESS_INFORMED, 0.9),
        (Metric.BAYES_SECURITY, 1.2),
        (Metric.ALPHA, 0.99),
    ],
)
def test_a_promise_that_is_too_good_is_caught(proved, metric, factor):
    found = Found()
    for ladder, truth, views in proved:
        rows = tuple(_row(row, metric, factor) for row in ladder.rows)
        ladders.check_ladder(found, replace(ladder, rows=rows), truth, views)
    assert any(violation.kind == f"ladder {metric}" for violation in found.violations)


def _row(row, metric, factor):
    cell = row.cells.get(metric)
    if cell is None or cell.proved is None:
        return row
    proved = replace(cell.proved, value=factor * cell.proved.value)
    return replace(row, cells={**row.cells, metric: replace(cell, proved=proved)})
