"""Limits, comparisons, priors and trade-off curves of plans with dummies and two shufflers."""

import pytest

from croupier.assessment.compare import compare
from croupier.assessment.comparison_text import outcome
from croupier.assessment.ladder.gaussian import gaussian_row
from croupier.assessment.ladder.known_prior import known_prior
from croupier.assessment.ladder.ladder import assess, batch_epsilon
from croupier.assessment.policy import checked, enough_people
from croupier.model.judgement import Judgement
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.plan.plan import Plan
from croupier.plan.policy import Policy

FIRST = {"operator": "first", "dummies": {"epsilon": 1.0, "delta": 1e-8}}
SECOND = {"operator": "second", "dummies": {"epsilon": 0.5, "delta": 1e-8}}
BARE = {"operator": "second"}
PLAIN = {"mechanism": "plain", "k": 5}
KARY = {"mechanism": "k-rr", "k": 5, "max_epsilon_local": 3.0}
PLAN = Plan.from_toml("""
schema = 2
randomizer = {mechanism = "k-rr", k = 5, max_epsilon_local = 3.0}
population.enrolled = 2_000
protections.minimum_batch = 500
guarantee.delta = 1e-8
""")
ONE, TWO = PLAN.replace(shufflers=[FIRST]), PLAN.replace(shufflers=[FIRST, SECOND])
PLAIN_ONE, PLAIN_TWO = (plan.replace(randomizer=PLAIN) for plan in (ONE, TWO))


_LADDERS = {}


def _ladder(plan):
    key = plan.digest, plan.policy_digest
    if key not in _LADDERS:
        _LADDERS[key] = assess(plan)
    return _LADDERS[key]


def _judged(plan, limits):
    policy = Policy.from_document({"schema": 1, "policy": limits})
    return checked(_ladder(plan), policy)


def _limit(rung, value, key="max_epsilon"):
    return {rung: {key: value}}


@pytest.mark.parametrize("plan", [TWO, PLAIN_TWO], ids=["k-rr", "plain"])
def test_a_limit_on_the_shuffler_is_about_each_of_two(plan):
    ladder = _ladder(plan)
    first, second = (ladder[f"shuffler_{place}"].epsilon.value for place in (1, 2))
    assert first < second  # it does not know the better dummies
    (tight,) = _judged(plan, _limit("shuffler", (first + second) / 2))
    assert not tight.met
    assert tight.rows == (Rung.SHUFFLER_1, Rung.SHUFFLER_2)
    assert str(tight).startswith("shuffler (shuffler_1 and shuffler_2) max_epsilon = ")
    (loose,) = _judged(plan, _limit("shuffler", second * 1.01))
    assert loose.met


def test_a_limit_on_the_shuffler_limits_the_headline_of_two():
    found = _judged(PLAIN_TWO, _limit("batch", 1.1) | _limit("shuffler", 1.1))
    assert found.headline is Rung.SHUFFLER_2
    assert found.judgement is Judgement.MET
    assert _judged(PLAIN_TWO, _limit("batch", 1.1)).unlimited == (Rung.SHUFFLER_2,)


@pytest.mark.parametrize("rung", ["collusion", "everybody"])
def test_a_limit_on_collusion_is_about_everybody(rung):
    (verdict,) = _judged(TWO, _limit(rung, 2.9))
    assert verdict.rows == (Rung.EVERYBODY,)
    assert not verdict.met
    (verdict,) = _judged(TWO, _limit(rung, 3.0))
    assert verdict.met


@pytest.mark.parametrize("rung", ["collusion", "all_but_one", "everybody"])
def test_with_one_shuffler_every_limit_on_several_is_one_on_collusion(rung):
    (verdict,) = _judged(ONE, _limit(rung, 1.5))
    assert verdict.rows == (Rung.COLLUSION,)
    assert not verdict.met
    assert verdict.cell is _ladder(ONE)["collusion"][Metric.EPSILON]


LIMITS = [
    _limit(rung, value, key)
    for rung in Rung
    for key, value in {
        "max_epsilon": 1e9,
        "max_guess_of_two": 0.9994,
        "max_guess_informed": 0.9994,
        "min_bayes_security": 0.0006,
    }.items()
]


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("plan", [PLAIN_ONE, PLAIN_TWO], ids=["one", "two"])
def test_answers_that_are_sent_as_they_are_never_look_limited_where_nothing_protects(plan, limit):
    """Whatever the limit: on rows that learn the answer it is not met, or limits nothing."""
    (verdict,) = _judged(plan, limit)
    exposed = verdict.cell.proved is None or any(
        _ladder(plan)[rung].epsilon is None for rung in verdict.rows
    )
    if exposed:
        assert not (verdict.met and verdict.limits_answers)
    assert exposed == any(rung.sees_all or rung is Rung.SHUFFLER for rung in verdict.rows)


def test_a_plan_with_plain_and_one_shuffler_is_never_met():
    rows = {str(rung): {"max_epsilon": 1e9, "max_guess_of_two": 0.9994} for rung in PLAN.rungs}
    assert _judged(PLAIN_ONE, rows).judgement is Judgement.NOT_MET
    assert _judged(PLAIN_ONE, _limit("batch", 1.1)).unlimited == (Rung.SHUFFLER,)


def test_what_the_device_alone_keeps_is_no_limit_of_the_plans_own_on_all_but_one():
    """Without dummies of both shufflers, everybody but one knows as much as everybody."""
    bare = PLAN.replace(shufflers=[FIRST, BARE], policy={"all_but_one": {"max_epsilon": 3.0}})
    (verdict,) = checked(_ladder(bare))
    assert verdict.met
    assert "epsilon_local alone" in verdict.idle
    joined = bare.replace(analyzer__operator="first")
    (verdict,) = checked(_ladder(joined))
    assert verdict.limits_something  # one operator makes that adversary real


def test_no_number_of_people_helps_against_everybody_but_one():
    found = _judged(TWO, _limit("all_but_one", 0.5))
    assert found.failed
    assert enough_people(TWO, found.failed) is None
    crowd = PLAN.replace(shufflers=[FIRST | {"dummies": None}, BARE])
    few = _judged(crowd, _limit("shuffler", 0.9 * _ladder(crowd)["shuffler_1"].epsilon.value))
    assert crowd.protections.minimum_batch < enough_people(crowd, few.failed) <= 2_000


def test_one_and_two_shufflers_are_compared_row_by_row():
    found = compare(ONE, PLAIN_TWO)
    rows = {(one.rung, one.metric): one for one in found.differences}
    assert {one.rung for one in found.differences} <= set(ONE.rungs)
    worst = max(_ladder(PLAIN_TWO)[rung].epsilon.value for rung in Rung.SHUFFLER.among(2))
    assert rows[Rung.SHUFFLER, Metric.EPSILON].after.proved.value == worst
    assert rows[Rung.COLLUSION, Metric.EPSILON].after.proved is None
    assert not rows[Rung.COLLUSION, Metric.EPSILON].better
    assert any("the worse of two" in line for line in outcome(found))
    assert not any("the worse of two" in line for line in outcome(compare(TWO, PLAIN_TWO)))
    back = {(one.rung, one.metric): one for one in compare(PLAIN_TWO, ONE).differences}
    assert back.keys() == rows.keys()
    assert all(back[key].before == rows[key].after for key in rows)


def test_the_worse_of_two_is_found_metric_by_metric():
    """A long flat table has a worse epsilon at this delta, and a better guess of two."""
    flat = {"dummies": {"epsilon": 20.0, "delta": 0.05, "weights": [1] * 40}}
    two = PLAIN_TWO.replace(shufflers=[FIRST, {"operator": "second", **flat}])
    cells = [_ladder(two)[rung] for rung in Rung.SHUFFLER.among(2)]
    assert cells[0].epsilon is None
    assert cells[0].guess_of_two.value < cells[1].guess_of_two.value
    rows = {(one.rung, one.metric): one for one in compare(ONE, two).differences}
    assert rows[Rung.SHUFFLER, Metric.EPSILON].after.proved is None
    guess = rows[Rung.SHUFFLER, Metric.GUESS_OF_TWO].after
    assert guess.proved.value == cells[1].guess_of_two.value


def test_keys_of_the_only_shuffler_are_those_of_the_first():
    keys = [change.key for change in compare(ONE, TWO).keys]
    assert keys
    assert all(key.startswith("shufflers.2.") for key in keys)


def test_limits_follow_a_second_shuffler():
    limits = {"max_epsilon": 1.2}
    before = ONE.replace(policy={"batch": limits, "shuffler": limits})
    split = {"batch": limits, "shuffler_1": limits, "shuffler_2": limits}
    assert compare(before, TWO.replace(policy=split)).weakened == ()
    (lost,) = compare(before, TWO.replace(policy=split | {"shuffler_1": {}})).weakened
    assert (lost.limit.rung, lost.word) == (Rung.SHUFFLER, "removed")
    loose = TWO.replace(policy=split | {"shuffler_2": {"max_epsilon": 1.3}})
    (lost,) = compare(before, loose).weakened
    assert (lost.limit.rung, lost.word) == (Rung.SHUFFLER_2, "loosened")
    (lost,) = compare(TWO.replace(policy=split | {"all_but_one": limits}), before).weakened
    assert (lost.limit.rung, lost.word) == (Rung.ALL_BUT_ONE, "removed")


def test_operators_that_join_are_noticed_with_two_shufflers():
    limits = {"batch": {"max_epsilon": 1.2}, "shuffler_2": {"max_epsilon": 1.2}}
    before = TWO.replace(policy=limits, analyzer__operator="analyst")
    renamed = [FIRST, SECOND | {"operator": "analyst"}]
    assert "shufflers.2.operator" in [
        change.key for change in compare(before, before.replace(shufflers=renamed)).easier
    ]


@pytest.mark.parametrize("plan", [ONE, TWO, PLAIN_ONE, PLAIN_TWO], ids=range(4))
def test_a_uniform_prior_is_bounded_by_what_the_ladder_says(plan):
    """The bound of a law holds at the uniform one, where the ladder's may only be better."""
    found = {guess.rung: guess for guess in known_prior(plan, [0.2] * 5)}
    assert tuple(found) == plan.rungs
    for rung, guess in found.items():
        assert _ladder(plan)[rung].guess_informed.value <= guess.informed.value * (1 + 1e-9)
        assert guess.uninformed <= guess.informed.value
    alone = float(plan.randomizer.answer_chances[0])
    assert found[plan.rungs[-1]].informed.value >= alone


@pytest.mark.parametrize("mechanism", [KARY, PLAIN], ids=["k-rr", "plain"])
def test_no_crowd_hides_anybody_from_everybody_but_one(mechanism):
    """Ten times the people change neither the guess nor the test."""
    plan = TWO.replace(randomizer=mechanism)
    more = plan.replace(population__enrolled=20_000, protections__minimum_batch=5_000)
    rung = Rung.ALL_BUT_ONE
    guesses = [
        {guess.rung: guess for guess in known_prior(each, [0.6, 0.1, 0.1, 0.1, 0.1])}[rung]
        for each in (plan, more)
    ]
    assert guesses[0].informed.value == guesses[1].informed.value
    assert guesses[0].uninformed == guesses[1].uninformed == guesses[0].informed.value
    curves = [gaussian_row(each, rung).trade_off for each in (plan, more)]
    assert curves[0] == curves[1]
    alone = gaussian_row(plan.replace(shufflers=[FIRST, BARE]), rung).trade_off
    assert alone == gaussian_row(plan, Rung.EVERYBODY).trade_off
    assert all(least <= ours for (_, least), (_, ours) in zip(alone, curves[0], strict=True))


def test_misses_of_a_test_are_those_of_the_exact_law_of_the_dummies():
    """At epsilon 0 the misses and false alarms add up to 1 - D(0), which the ladder states."""
    security = _ladder(PLAIN_TWO)["all_but_one"].bayes_security.value
    points = gaussian_row(PLAIN_TWO, Rung.ALL_BUT_ONE).trade_off
    sums = [rate + least for rate, least in points]
    assert min(sums) <= security
    assert min(sums) == pytest.approx(security, abs=1e-3)


def test_repeated_collections_count_dummies_and_their_deltas():
    assert batch_epsilon(PLAIN_TWO, times=30) is None  # each round fails with a chance of 1e-8
    strict = {"dummies": {"epsilon": 0.1, "delta": 1e-12}}
    plan = PLAIN_TWO.replace(shufflers=[FIRST | strict])
    once, often = (batch_epsilon(plan, times=times).value for times in (1, 30))
    assert once < often < 30 * once


def test_a_report_that_is_sent_again_counts_no_noise_of_the_device_beside_dummies():
    """Otherwise the same noise would be counted once per collection."""
    strict = {"dummies": {"epsilon": 0.1, "delta": 1e-12}}
    fresh = ONE.replace(shufflers=[FIRST | strict])
    again = fresh.replace(participation__noise="reused")
    plain = fresh.replace(randomizer=PLAIN)
    found = [batch_epsilon(plan, times=20).value for plan in (fresh, again, plain)]
    assert found[0] < found[1] == found[2]


def test_whoever_draws_every_order_knows_it():
    ladder = _ladder(TWO)
    assert ladder["everybody"][Metric.ALPHA].proved is None
    assert ladder["all_but_one"][Metric.ALPHA].upper == 0


@pytest.mark.parametrize("plan", [PLAIN_ONE, PLAIN_TWO], ids=["one", "two"])
def test_repeated_collections_are_those_of_a_plan_with_as_many_rounds(plan):
    """What is proved at the added-up delta is what the ladder proves for 30 rounds at it."""
    ladder = _ladder(plan)
    assert batch_epsilon(plan, times=30) is None
    found = ladder.repeated
    again = plan.replace(collection__rounds=30, guarantee__delta=found.delta)
    assert found.delta == pytest.approx(30 * plan.guarantee.delta)
    assert found.value == _ladder(again)["batch"].epsilon.value
    assert ladder["batch"].epsilon.value < found.value <= 30 * ladder["batch"].epsilon.value
    few = {"dummies": {"epsilon": 1.0, "delta": 0.05}}
    loose = plan.replace(guarantee__delta=0.05, shufflers=[few for _ in plan.shufflers])
    assert _ladder(loose).repeated is None
