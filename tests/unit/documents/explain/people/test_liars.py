"""How far people who lie move a result, in words and as numbers of a plan."""

from fractions import Fraction

import pytest

from croupier import Plan
from croupier.documents.explain.people.liars import shifted

KARY = 'mechanism = "k-rr", k = 50, max_epsilon_local = 4.0'


def plan_of(question=KARY, people="enrolled = 1000, corrupt_fraction = 0.05", more=""):
    return Plan.from_toml(f"""
    schema = 2
    questions = [{{{question}}}]
    population = {{{people}}}
    protections.minimum_batch = 500
    {more}
    """)


def test_one_percent_and_the_corrupt_people_of_the_plan():
    plan, move = plan_of(), "move a share by at most"
    assert list(shifted(plan)) == [
        f"1 % of liars in the smallest batch {move} 1.94 percentage points.",
        f"The plan's 50 corrupt people, 10 % of the batch, {move} 19.4 percentage points.",
    ]
    assert plan.worst_shift == plan.randomizer.worst_shift
    assert plan.manipulation == plan.worst_shift / 10


def test_more_than_the_range_is_any_value():
    *_, corrupt = shifted(plan_of(KARY.replace("4.0", "1.0")))
    assert corrupt == "The plan's 50 corrupt people, 10 % of the batch, can give a share any value."


def test_means_are_moved_within_their_range():
    number = 'mechanism = "laplace", grid = {low = 0, high = 50, step = 1}, max_epsilon_local = 4.0'
    (said,) = shifted(plan_of(number, people="enrolled = 1000"))
    assert said == "1 % of liars in the smallest batch move a mean by at most 1.49 % of its range."


@pytest.mark.parametrize("mechanism", ["dictionary", "text"])
def test_what_is_not_bounded_is_said(mechanism):
    about = "longest = 9" if mechanism == "text" else "k = 5000"
    plan = plan_of(f'mechanism = "{mechanism}", {about}, max_epsilon_local = 4.0')
    assert plan.worst_shift is plan.manipulation is None
    first, *more = shifted(plan)
    assert first == "How far liars move a share is not bounded."
    assert ("make up texts" in "".join(more)) is (mechanism == "text")


def test_liars_all_answer_the_question_that_fewest_answer():
    """Of three questions in one batch, and of rounds drawn by lot."""
    together = "participation = {model = 'parallel', weights = [1, 1, 3]}"
    by_lot = "participation = {model = 'multinomial', weights = [1, 1, 3]}"
    alone = plan_of()
    for more in (together, by_lot):
        assert plan_of(more=more).worst_shift == 5 * alone.worst_shift


def test_a_shuffler_that_samples_may_keep_all_lies():
    more = "shufflers = [{dummies = {epsilon = 1.0, delta = 1e-8}, keep = 0.5}]"
    plan = plan_of(more=more)
    assert plan.worst_shift == plan.randomizer.worst_shift / Fraction(1, 2)
