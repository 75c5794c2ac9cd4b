"""Liars move estimates as far as is proved, and not further."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from croupier.auditing.attacks.attacks import attack
from croupier.auditing.attacks.liars import LiarGame, honest_reports, liar_games, worst_lies
from croupier.errors import ParameterError
from croupier.model import Grid
from croupier.plan.plan import Plan
from croupier.randomizers import (
    DiscreteGaussian,
    DiscreteLaplace,
    HadamardResponse,
    KaryRandomizedResponse,
    LocalHashing,
    MatrixRandomizer,
    OneBitMean,
    OptimizedUnaryEncoding,
    Plain,
    Rappor,
    SampledSign,
    SubsetSelection,
    SymmetricUnaryEncoding,
)

ROOT = Path(__file__).parents[4]
GRID = Grid(0, 5, 1)
MECHANISMS = [
    KaryRandomizedResponse(k=20, max_epsilon_local=1.0),
    SymmetricUnaryEncoding(k=20, max_epsilon_local=2.0),
    OptimizedUnaryEncoding(k=20, max_epsilon_local=2.0),
    Rappor(k=4, max_epsilon_local=4.0),
    LocalHashing(k=20, max_epsilon_local=2.0),
    HadamardResponse(k=20, max_epsilon_local=2.0),
    SubsetSelection(k=20, max_epsilon_local=1.0),
    DiscreteLaplace(grid=GRID, max_epsilon_local=2.0),
    DiscreteGaussian(grid=GRID, max_epsilon_local=2.0),
    OneBitMean(grid=GRID, max_epsilon_local=2.0),
    SampledSign(dimension=5, max_epsilon_local=2.0),
    MatrixRandomizer(matrix=((0.75, 0.25), (0.25, 0.75))),
    Plain(k=20),
]
PLAN = """
schema = 2
randomizer = {mechanism = "optimized-unary", k = 10, max_epsilon_local = 2.0}
population.enrolled = 4_000
protections.minimum_batch = 4_000
guarantee.delta = 1e-6
"""
SMALL = """
schema = 2
randomizer = {mechanism = "k-rr", k = 3, max_epsilon_local = 2.0}
population.enrolled = 100
protections.minimum_batch = 100
guarantee.delta = 1e-3
"""
SEVERAL = """
schema = 2
population.enrolled = 9_000
protections.minimum_batch = 9_000
guarantee.delta = 1e-6
[[questions]]
name = "which"
mechanism = "k-rr"
k = 5
max_epsilon_local = 2.0
[[questions]]
name = "words"
mechanism = "text"
longest = 2
alphabet = "ab"
functions = 64
max_epsilon_local = 2.0
"""


@pytest.mark.parametrize("randomizer", MECHANISMS, ids=lambda made: made.mechanism)
def test_lies_move_an_estimate_up_to_the_limit(randomizer):
    """Every lie is a report that the analyzer takes; the best one comes close, none exceeds."""
    game = LiarGame(question="q", randomizer=randomizer, people=3000, share=0.02)
    rng = np.random.default_rng(5)
    for lie in worst_lies(randomizer, 60, rng):
        assert len(lie.reports) == 60
        assert not randomizer.refused(lie.reports).any()
    shifts = game.play(rng)
    assert not any(shift.refuted for shift in shifts)
    best = max(shifts, key=lambda shift: shift.measured)
    assert best.limit == pytest.approx(float(randomizer.worst_shift) * 0.02)
    # Whoever lies would else have sent something: in a matrix or of two signs, half of the lie.
    assert 0.2 * best.limit < best.measured <= best.limit * (1 + 1e-9)
    assert all(shift.found is None or shift.found <= shift.liars for shift in shifts)


@pytest.mark.parametrize("keep", [1, 0.5])
@pytest.mark.parametrize(
    "mechanism", ['mechanism = "plain"', 'mechanism = "k-rr", max_epsilon_local = 2.0']
)
def test_liars_among_dummies_reach_the_limit_of_the_plan(mechanism, keep):
    """Dummies are drawn and subtracted; where the shuffler drops half, it may keep all lies."""
    plan = Plan.from_toml(
        "schema = 2"
        f"""
        randomizer = {{k = 3, {mechanism}}}
        population.enrolled = 1_000
        protections.minimum_batch = 1_000
        guarantee.delta = 1e-6
        shufflers = [{{operator = "A", dummies = {{epsilon = 1.0, delta = 1e-6}}, keep = {keep}}}]
        """
    )
    (game,), left_out = liar_games(plan, 0.1)
    shifts = game.play(np.random.default_rng(3))
    assert not left_out
    assert not any(shift.refuted for shift in shifts)
    assert [shift.found for shift in shifts] == [None] * len(shifts)
    best = max(shifts, key=lambda shift: shift.measured)
    assert best.limit == pytest.approx(float(plan.worst_shift) * 0.1)
    assert 0.6 * best.limit < best.measured


def test_a_limit_that_is_too_low_is_refuted(monkeypatch):
    made = KaryRandomizedResponse(k=3, max_epsilon_local=2.0)
    low = Fraction(6, 10) * made.worst_shift
    monkeypatch.setattr(KaryRandomizedResponse, "worst_shift", low)
    found = attack(Plan.from_toml(SMALL), games=100, insecure_seed=1, liars=0.1)
    assert all(shift.refuted for shift in found.liars)
    assert found.refuted == len(found.liars) > 0


def test_honest_reports_are_those_of_the_mechanism(alarm):
    """Half of the reports of two opposite rows each, as the channel says."""
    made = MatrixRandomizer(matrix=((0.9, 0.1), (0.3, 0.7)))
    n = 40_000
    reports = honest_reports(made, n, np.random.default_rng(2))
    ones = int(reports.sum())
    radius = 8 * (n * 0.4 * 0.6) ** 0.5
    assert alarm < 1e-6
    assert abs(ones - 0.4 * n) < radius
    assert abs(ones - 0.5 * n) > radius


def test_attacks_play_liars():
    (game,), _ = liar_games(Plan.from_toml(PLAN), 0.05)
    every, one = game.play(np.random.default_rng(1))
    assert (every.lie, one.lie) == ("every bit", "one value's bits")
    assert (every.people, every.liars) == (4000, 200)
    assert 198 <= every.found <= 200
    assert every.to_dict()["refuted"] is False
    first, second = (
        [
            shift.measured
            for shift in attack(Plan.from_toml(SMALL), games=100, insecure_seed=7).liars
        ]
        for _ in range(2)
    )
    assert first == second
    with pytest.raises(ParameterError, match="liars"):
        attack(Plan.from_toml(SMALL), games=100, liars=1.0)


def test_liars_lie_about_one_question_of_several_in_a_report():
    """Their other answers stay honest; each question alone is moved as far."""
    plan = Plan.load(ROOT / "examples" / "plans" / "habits.toml")
    games, left_out = liar_games(plan, 0.02)
    assert 1 < len(games) <= len(plan.randomizers)
    (alike,), _ = liar_games(Plan.load(ROOT / "examples" / "plans" / "features.toml"), 0.02)
    assert alike.part == 0
    assert not left_out
    for game in games:
        for shift in replace(game, people=2000).play(np.random.default_rng(1)):
            assert not shift.refuted
            assert shift.limit == pytest.approx(0.02 * float(game.own.worst_shift))
            assert shift.measured > 0.3 * shift.limit


def test_liars_who_know_the_questions_all_answer_one():
    games, left_out = liar_games(Plan.from_toml(SEVERAL), 0.01)
    assert left_out == ["words, liars: text has no lies here"]
    (game,) = games
    (shift,) = game.play(np.random.default_rng(1))
    assert shift.question == "which"
    alone = replace(game, randomizer=game.own, part=None).play(np.random.default_rng(1))[0]
    assert 1.8 < shift.limit / alone.limit < 2.1
    assert not shift.refuted
    assert shift.measured > 1.5 * alone.measured
