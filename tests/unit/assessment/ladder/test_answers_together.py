"""Several questions: the answer to one may be betrayed by a report about another."""

from fractions import Fraction

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

FIRST = [[66, 31], [68, 29]]
SECOND = [[0, 0, 97], [67, 3, 27], [7, 22, 68]]


def _plan(model):
    return Plan.from_toml(f"""
schema = 2
questions = [
  {{mechanism = "matrix", matrix = {FIRST}}},
  {{mechanism = "matrix", matrix = {SECOND}}},
]
population.enrolled = 6
participation = {{model = "{model}", weights = [1, 3]}}
protections.minimum_batch = 3
guarantee.delta = 0.01
""")


def _guessed(second_answers):
    """How often the first answer is guessed from one report, if it fixes the second answer."""
    right = Fraction(0)
    for share, rows, answers in ((1, FIRST, (0, 1)), (3, SECOND, second_answers)):
        for output in range(len(rows[0])):
            right += Fraction(share * max(rows[answer][output] for answer in answers), 4 * 97 * 2)
    return right


@pytest.mark.parametrize("model", ["parallel", "multinomial", "rectified-multinomial"])
def test_a_guess_of_one_answer_allows_for_answers_that_go_with_it(model):
    truth = max(_guessed((a, b)) for a in range(3) for b in range(3))
    assert truth > Fraction(77, 100)
    ladder = assess(_plan(model))
    for metric in ("guess_informed", "guess_uninformed"):
        assert Fraction(ladder[Rung.COLLUSION][metric].proved.value) >= truth
