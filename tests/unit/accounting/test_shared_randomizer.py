"""Whom a bound from epsilon_local alone is for: one randomizer, not one for each person."""

import math
from itertools import product

import pytest
from typer.testing import CliRunner

from croupier.accounting.amplify import amplify
from croupier.accounting.clones import clone_curve
from croupier.auditing.blackbox import games as blackbox_games
from croupier.cli.app import app
from croupier.leakage.reidentification import reidentification
from croupier.model.people import SHARED_RANDOMIZER
from croupier.randomizers import randomizer


def _named_answers_divergence(epsilon_local, n):
    """Enumerate delta(0) when person i sends (i, two-valued response), in any order."""
    truth = math.exp(epsilon_local) / (1 + math.exp(epsilon_local))
    total = 0.0
    for answers in product((0, 1), repeat=n):  # a batch is a set of named answers
        others = math.prod(truth if answer == 0 else 1 - truth for answer in answers[1:])
        first, second = (truth if answers[0] == value else 1 - truth for value in (0, 1))
        total += max(0.0, first - second) * others
    return total


def test_randomizers_that_belong_to_people_exceed_the_curve():
    found = _named_answers_divergence(1.0, 8)
    assert found == pytest.approx(0.4621, abs=5e-5)
    assert clone_curve(epsilon_local=1.0, n=8).delta(0.0) < found / 2


@pytest.mark.parametrize(
    "claim",
    [
        lambda: amplify(epsilon_local=1.0, n=8, delta=1e-3),
        lambda: reidentification(epsilon_local=1.0, n=8).upper,
    ],
)
def test_every_guarantee_from_epsilon_local_alone_says_whom_it_is_for(claim):
    assert SHARED_RANDOMIZER in claim().assumptions
    assert "independently of the person" in SHARED_RANDOMIZER


@pytest.mark.parametrize("command", [["amplify"], ["leakage", "reidentification"]])
def test_the_help_does_not_promise_it_for_different_randomizers(command):
    words = " ".join(CliRunner().invoke(app, [*command, "--help"]).output.split())
    assert "any randomizers" not in words
    assert "assigned independently of the person" in words


def test_won_games_are_about_one_randomizer_as_well():
    words = " ".join((blackbox_games.epsilon_local_from_games.__doc__ or "").split())
    assert "Whatever the randomizers" not in words
    assert "assigned independently of the person" in words


def test_a_prior_is_for_an_attacker_who_does_not_know_the_value():
    response = randomizer("k-rr", k=10, max_epsilon_local=5.0)
    by_prior = reidentification(response, n=1_000, prior=[0.1] * 10)
    by_value = reidentification(response, n=1_000)
    assert by_prior.upper.value < by_value.lower.value  # so the assumption is needed
    for end in (by_prior.lower, by_prior.upper):
        assert any("does not know the person's value" in text for text in end.assumptions)
    assert not any("value" in text for text in by_value.upper.assumptions)
