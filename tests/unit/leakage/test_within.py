"""Guesses of a number that may be off by w, against every batch of a few people."""

import itertools
import math

import numpy as np
import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked, enough_people
from croupier.leakage.informed import informed_upper_bound
from croupier.leakage.within import within_uninformed
from croupier.model import Grid
from croupier.model.metric import Metric
from croupier.plan.plan import Plan
from croupier.plan.window import Window

NUMERIC = [
    ("laplace", {"low": 0, "high": 4, "step": 1}),
    ("one-bit-mean", {"low": -1, "high": 1, "step": 0.5}),
    ("distribution", {"low": 0, "high": 4, "step": 1}),
]


def plan_of(mechanism, grid, *, n, within, epsilon=2.0):
    return Plan.from_document(
        {
            "schema": 2,
            "randomizer": {"mechanism": mechanism, "grid": grid, "max_epsilon_local": epsilon},
            "population": {"enrolled": n},
            "protections": {"minimum_batch": n},
            "guarantee": {"delta": 0.01, "within": within},
        }
    )


def merged_rows(made):
    """The law of each report, reports that tell the same about every number taken together."""
    columns = {}
    for column in made.channel().probabilities.T:
        key = tuple(np.round(column / column.sum(), 12))
        columns[key] = columns.get(key, 0) + column
    return np.array(list(columns.values())).T


def histograms(rows, values):
    """The chance of every histogram of the reports of these people."""
    law = {(0,) * rows.shape[1]: 1.0}
    for value in values:
        grown = {}
        for counts, chance in law.items():
            for report, share in enumerate(rows[value]):
                key = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                grown[key] = grown.get(key, 0.0) + chance * share
        law = grown
    return law


def best_guess(joint, near):
    """The chance of the best run of `near` numbers, given each histogram."""
    found = 0.0
    for seen in set().union(*joint):
        chances = [law.get(seen, 0.0) for law in joint]
        found += max(sum(chances[at : at + near]) for at in range(len(chances) - near + 1))
    return found


@pytest.mark.parametrize("within", [0.4, 0.5, 1.0, 1.6])
@pytest.mark.parametrize(("mechanism", "grid"), NUMERIC)
@pytest.mark.parametrize("n", [2, 3])
def test_no_guess_is_right_more_often_than_is_proved(mechanism, grid, within, n):
    width = grid["step"] * within
    plan = plan_of(mechanism, grid, n=n, within=width)
    [window] = plan.windows
    assert window.near == math.floor(2 * within) + 1
    rows = merged_rows(plan.randomizer)
    k = len(rows)
    laws = {
        others: [histograms(rows, (*others, x)) for x in range(k)]
        for others in itertools.combinations_with_replacement(range(k), n - 1)
    }
    informed = max(best_guess(own, window.near) / k for own in laws.values())
    joint = [{} for _ in range(k)]
    for others in itertools.product(range(k), repeat=n - 1):
        for x, law in enumerate(laws[tuple(sorted(others))]):
            for seen, chance in law.items():
                joint[x][seen] = joint[x].get(seen, 0.0) + chance / k**n
    alone = best_guess([dict(enumerate(row)) for row in rows], window.near) / k
    row, together = assess(plan)["batch"], assess(plan)["collusion"]
    assert row[Metric.WITHIN_INFORMED].upper >= informed - 1e-12
    assert row[Metric.WITHIN_UNINFORMED].upper >= best_guess(joint, window.near) - 1e-12
    assert together[Metric.WITHIN_INFORMED].upper >= alone - 1e-12
    assert together[Metric.WITHIN_INFORMED].upper <= (1 + 1e-9) * alone


def test_bernstein_holds_for_many_people():
    """Played: uniform values through a noisy channel, the best run guessed from the histogram."""
    rng = np.random.default_rng(26)
    k, near, n, epsilon = 32, 5, 200, 3.0
    rows = np.full((k, k), 1 / (math.exp(epsilon) + k - 1))
    np.fill_diagonal(rows, math.exp(epsilon) * rows[0, 0])
    posterior = rows / rows.sum(axis=0)
    runs = np.array([posterior[at : at + near].sum(axis=0) for at in range(k - near + 1)])
    chances = [(runs @ rng.multinomial(n, rows.mean(axis=0)) / n).max() for _ in range(2000)]
    bound = within_uninformed(k, near, epsilon_local=epsilon, n=n).value
    assert near / k < np.mean(chances) <= bound < 3 * np.mean(chances)


def test_one_value_near_is_the_guess_of_the_value():
    for k in (2, 7, 100):
        for epsilon in (0.0, 0.3, 2.0):
            given = {"k": k, "epsilons": [epsilon]}
            assert informed_upper_bound(lambda _: 0.01, **given, near=1) == informed_upper_bound(
                lambda _: 0.01, **given
            )
    assert informed_upper_bound(lambda _: 0.0, k=5, near=5, epsilons=[0.1]) == 1.0
    assert within_uninformed(5, 9, epsilon_local=1.0, n=10).value == 1.0


def test_a_window_holds_as_many_numbers_as_span_it():
    assert Window.of(Grid(0, 1, 0.1), within=0.05) == Window(11, 2, 0.05)
    assert Window.of(Grid(0, 1, 0.1), within=0.049).near == 1
    assert Window.of(Grid(0, 100, 1), within=None).within == 5.0
    assert Window.of(Grid(0, 4, 1), within=99).near == 5


def test_only_plans_about_numbers_have_the_columns():
    numeric = assess(plan_of(*NUMERIC[0], n=50, within=None))
    assert numeric["batch"].within_informed.value < 1
    assert numeric.blind.cells[Metric.WITHIN_INFORMED].proved.value == pytest.approx(1 / 5)
    answers = Plan.from_document(
        {
            "schema": 2,
            "randomizer": {"mechanism": "k-rr", "k": 5, "max_epsilon_local": 2.0},
            "population": {"enrolled": 50},
            "protections": {"minimum_batch": 50},
        }
    )
    assert Metric.WITHIN_INFORMED not in assess(answers)["batch"].cells
    limited = answers.replace(policy__batch__max_within_informed=0.5)
    [failed] = checked(assess(limited)).failed
    assert failed.cell.proved is None
    assert enough_people(limited, [failed]) is None, "no crowd bounds what is no number"


@pytest.mark.parametrize("keep", [1.0, 0.5])
def test_dummies_bound_it_for_every_reader(keep):
    plan = Plan.from_document(
        {
            "schema": 2,
            "randomizer": {"mechanism": "distribution", "grid": {"low": 0, "high": 9, "step": 1}},
            "population": {"enrolled": 50},
            "protections": {"minimum_batch": 20},
            "guarantee": {"delta": 1e-6},
            "shufflers": [
                {"operator": one, "dummies": {"epsilon": 1.0, "delta": 1e-8}, "keep": keep}
                for one in ("First", "Second")
            ],
        }
    )
    ladder = assess(plan)
    for rung in ("batch", "all_but_one"):
        row = ladder[rung]
        assert 0.1 < row[Metric.WITHIN_INFORMED].upper < 0.3
        assert row[Metric.WITHIN_UNINFORMED].upper <= row[Metric.WITHIN_INFORMED].upper
        assert row[Metric.WITHIN_INFORMED].upper >= row[Metric.GUESS_INFORMED].lower
    assert ladder["everybody"][Metric.WITHIN_INFORMED].upper == 1.0
