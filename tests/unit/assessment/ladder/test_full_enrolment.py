"""What is said about everybody's reporting, and about several rounds, is about who really mixes."""

import math
from fractions import Fraction
from itertools import permutations, product

import pytest

from croupier.accounting.amplify import bracket
from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import PolicyNotMetError, check
from croupier.documents.explain.sentences import grown, inference, proved_for
from croupier.documents.plots.plan import PlanPlots
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

TEXT = """
schema = 2
randomizer = {mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}
population.enrolled = 6_000
protections.minimum_batch = 1_500
guarantee.delta = 1e-6
"""
REGIONS = f'shuffling = {{order = "uniform", groups = {{sha256 = "{"0" * 64}"}}}}\n'


def _plan(more=""):
    return Plan.from_toml(TEXT + more)


def test_groups_mixed_each_by_itself_promise_nothing_about_all_who_are_enrolled():
    plan = _plan(REGIONS)
    attained = bracket(plan.randomizer, n=1_500, delta=1e-6).lower.value
    together = assess(_plan()).everybody
    assert together is not None
    assert together.value < attained  # what was said of regions before
    ladder = assess(plan)
    assert ladder.everybody is None
    assert "own group, at least 1,500" in str(grown(ladder))
    assert "groups of 1,500 people, each mixed separately" in proved_for(plan)
    assert ladder["batch"].epsilon.value >= attained


def test_a_plot_of_such_a_plan_marks_no_size_as_that_of_all_enrolled():
    for plan, marked in ((_plan(REGIONS), False), (_plan(), True)):
        (plot,) = PlanPlots(plan).epsilon_over_people(lambda _: None)
        assert ("all enrolled" in plot.svg) is marked


@pytest.mark.parametrize(
    ("participation", "parts"),
    [
        ('{model = "divide", groups = 4}', 4),
        ('{model = "bins", bins = [[1, 1], [1, 1], [1, 1], [1, 1]]}', 4),
        ('{model = "multinomial", weights = 4}', 1),
    ],
)
def test_a_figure_for_all_enrolled_is_for_the_part_of_them_that_mixes(participation, parts):
    plan = Plan.from_toml(TEXT.replace("1_500", "1_000") + f"participation = {participation}\n")
    assert plan.full_batch == 6_000 // parts
    ladder = assess(plan)
    smallest = bracket(plan.randomizers[0], n=6_000 // parts, delta=1e-6).lower.value
    assert ladder.everybody.value >= smallest
    assert ("groups of equal size" in str(grown(ladder))) is (parts > 1)


def test_a_sample_is_not_said_to_be_safe_when_it_is_larger():
    plan = _plan('participation = {model = "subsample", repeats = 2}\n')
    assert "no more" in proved_for(plan)
    assert "larger" not in proved_for(plan)
    assert assess(plan).everybody is None


MALLOWS = f"""
schema = 2
randomizer = {{mechanism = "k-rr", k = 3, max_epsilon_local = 1.5}}
population.enrolled = 3
protections.minimum_batch = 3
guarantee.delta = 0.01
shuffling = {{order = "mallows", alpha = 1.0, groups = {{sha256 = "{"0" * 64}", sensitivity = 3}}}}
"""


def _orders_law(reports, theta):
    """The law of what is released when three reports, all in one group, are shuffled once."""
    law = {}
    for moves in permutations(range(3)):
        crossings = sum(moves[i] > moves[j] for i in range(3) for j in range(i + 1, 3))
        shown = "".join(reports[place] for place in moves)
        law[shown] = law.get(shown, 0.0) + math.exp(-theta * crossings)
    total = sum(law.values())
    return {shown: weight / total for shown, weight in law.items()}


@pytest.mark.parametrize("noise", ["fresh", "reused"])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_alpha_of_several_rounds_is_at_least_what_their_orders_betray(rounds, noise):
    kinds = f'participation = {{model = "single", noise = "{noise}"}}\n'
    kinds += f"collection.rounds = {rounds}\n"
    cell = assess(Plan.from_toml(MALLOWS + kinds))["batch"]["alpha"]
    one, other = (_orders_law(reports, 1 / 3) for reports in ("abc", "cba"))
    worst = max(
        sum(math.log(one[shown] / other[shown]) for shown in batches)
        for batches in product(one, repeat=rounds)
    )
    assert worst == pytest.approx(rounds)  # it is attained, so that less would be false
    assert cell.proved.value >= worst - 1e-12
    assert cell.proved.value <= float(Fraction(rounds))


def test_policy_and_sentence_take_alpha_of_all_rounds():
    text = MALLOWS + 'participation = {model = "single", noise = "reused"}\ncollection.rounds = 2\n'
    with pytest.raises(PolicyNotMetError, match=r"max_alpha = 1: 2\.00 is proved"):
        check(Plan.from_toml(text + "policy.batch.max_alpha = 1.0\n"))
    limits = "{max_alpha = 2.0, max_epsilon = 2.0}"
    limited = Plan.from_toml(f"{text}policy = {{batch = {limits}, clients = {limits}}}\n")
    assert check(limited).verdicts[0].met
    said = str(inference(assess(Plan.from_toml(text)), Rung.BATCH)[-1])
    assert "the orders of all 2 batches together make one at most 7.39 times" in said
    assert said.endswith("Alpha: 2.00.")


@pytest.mark.parametrize(
    ("participation", "batches"),
    [
        ('{model = "parallel", weights = 2}\ncollection.rounds = 2', 2),
        ('{model = "divide", groups = 2}', 1),
        ('{model = "multinomial", weights = 3}\ncollection.rounds = 2', 6),
        ('{model = "rectified-multinomial", weights = 3}', 3),
        ('{model = "bins", bins = [3, 2]}', 3),
        ('{model = "subsample", repeats = 4}\ncollection.rounds = 2', 8),
    ],
)
def test_batches_that_a_person_may_be_in(participation, batches):
    plan = Plan.from_toml(TEXT + f"participation = {participation}\n")
    assert plan.batches == batches
