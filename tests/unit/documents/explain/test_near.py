"""Where guesses of a number are spoken of, the distance that counts as right is said."""

import re

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked
from croupier.documents.dpia.draft import dpia
from croupier.documents.explain.near import heading
from croupier.documents.explain.page import explain_in_markdown
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

NUMBERS = Plan.from_toml("""
schema = 2
name = "waits"
randomizer.mechanism = "distribution"
randomizer.grid = {low = 0, high = 255, step = 1}
randomizer.max_epsilon_local = 1.5
population = {enrolled = 5_000, corrupt_fraction = 0.1}
protections.minimum_batch = 2_000
guarantee = {delta = 1e-6, within = 12}
policy.batch = {max_within_informed = 0.5, max_epsilon = 1.0}
""")


@pytest.fixture(scope="module")
def ladder():
    return assess(NUMBERS)


def test_the_page_says_it_in_its_limits_and_in_the_meanings(ladder):
    page = explain_in_markdown(ladder)
    limits = page.partition("## Limits")[2].partition("## ")[0]
    assert "| within, knows others (w = 12) |" in limits
    assert "| epsilon |" in limits
    assert "- within, knows others: a number to within w = 12, by somebody who knows" in page
    assert not re.search(r"to within w\b(?! = 12)", page)


def test_the_draft_says_it_in_both_tables(ladder):
    draft = dpia(ladder, checked(ladder), gaussian=())
    heads = [line for line in draft.splitlines() if line.startswith("| who is looking | epsilon |")]
    assert len(heads) == 1
    assert heads[0].count("(w = 12)") == 2
    assert re.search(r"\| batch[^|]*\| within, knows others \(w = 12\) \| at most 50 % \|", draft)


def test_other_metrics_and_plans_without_numbers_have_no_distance():
    assert heading(NUMBERS, Metric.GUESS_INFORMED) == "guess, knows others"
    words = NUMBERS.replace(randomizer={"mechanism": "k-rr", "k": 4, "max_epsilon_local": 1.5})
    assert heading(words, Metric.WITHIN_INFORMED) == "within, knows others"
