"""Ways through a gate, a comparison and a page that must stay shut."""

import pytest

from croupier.accounting.blanket import lower_curve
from croupier.assessment.compare import compare
from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import NoLimitError, check, checked
from croupier.documents.explain.limits import verdict_line
from croupier.documents.explain.sentences import grown, repeated, singling_out, two_values
from croupier.model.judgement import Judgement
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.numerics.binomial import binomial_pmf
from croupier.plan.plan import Plan
from croupier.plan.policy import Policy


def _plan(*lines):
    return Plan.from_toml("\n".join(["schema = 2", *lines]))


NO_NOISE = 'randomizer = {mechanism = "matrix", matrix = [[1, 0], [0, 1]]}'
NOISE = 'randomizer = {mechanism = "k-rr", k = 4, max_epsilon_local = 4.0}'
PEOPLE = ("population.enrolled = 200", "protections.minimum_batch = 100", "guarantee.delta = 1e-4")


@pytest.mark.parametrize("noise", [NO_NOISE, NOISE])
@pytest.mark.parametrize(
    "lines",
    [
        ("policy.estimate.max_reidentification = 0.5",),
        ("policy.shuffler.max_reidentification = 0.01",),
        ('analyzer.publication = "none"', "policy.estimate.max_epsilon = 0.0"),
        ('analyzer.publication = "none"', "policy.shuffler.max_guess_of_two = 0.5"),
        ('analyzer.publication = "none"', "policy.estimate.min_bayes_security = 1.0"),
    ],
)
def test_a_limit_about_somebody_who_sees_nothing_opens_no_gate(noise, lines):
    plan = _plan(noise, *PEOPLE, *lines)
    with pytest.raises(NoLimitError, match=r"(nothing is seen|no report is shown) there"):
        check(plan)


def test_a_limit_that_any_plan_keeps_is_met_although_nothing_is_proved():
    groups = f'groups = {{sha256 = "{"0" * 64}", sensitivity = 3}}'
    plan = _plan(
        NOISE,
        *PEOPLE,
        f'shuffling = {{order = "mallows", alpha = 1.0, {groups}}}',
        "policy.batch = {max_reidentification = 1.0, max_alpha = 2.0, max_epsilon = 4.0}",
        "policy.clients.max_epsilon = 4.0",
    )
    found = checked(assess(plan))
    assert found.judgement is Judgement.MET
    assert [verdict.limits_something for verdict in found] == [True, False, True, True]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("policy.estimate.max_alpha = 2.0",), "no order is shown there"),
        (("policy.batch.max_alpha = 8.0",), "told apart 99.95 % of the time"),
        (("policy.batch.max_epsilon = 3.5", "guarantee.delta = 0.01"), "may be published"),
    ],
)
def test_a_limit_that_a_known_order_or_a_published_answer_keeps_opens_no_gate(lines, why):
    groups = f'groups = {{sha256 = "{"0" * 64}", sensitivity = 3}}'
    order = f'shuffling = {{order = "mallows", alpha = 1.0, {groups}}}'
    plan = _plan(NOISE, *PEOPLE[:2], *lines, *([order] if "alpha" in lines[0] else []))
    with pytest.raises(NoLimitError, match=why):
        check(plan)


READERS = ("policy.clients.max_epsilon = 3.9", "policy.batch.max_epsilon = 3.9")
ONE_OPERATOR = {"shufflers__operator": "Example", "analyzer__operator": "Example"}


@pytest.mark.parametrize(
    ("keys", "changes"),
    [
        ("guarantee.delta", {"guarantee__delta": 0.1}),
        ("population.corrupt_fraction", {"population__corrupt_fraction": 0.0}),
        ("population.corrupt_fraction_of", {"population__corrupt_fraction_of": "batch"}),
        ("population.enrolled", {"population__enrolled": 15_000}),
        ("shufflers.operator analyzer.operator", ONE_OPERATOR),
    ],
)
def test_limits_that_come_to_mean_less_do_not_pass_a_comparison(keys, changes):
    plan = _plan(
        NOISE,
        "population = {enrolled = 20_000, corrupt_fraction = 0.1}",
        "protections.minimum_batch = 10_000",
        "guarantee.delta = 1e-6",
        *READERS,
    )
    found = compare(plan, plan.replace(**changes))
    assert [change.key for change in found.easier] == keys.split()
    assert not found.passed
    assert compare(plan, plan).passed
    assert compare(plan.replace(**changes), plan).easier == ()


def test_the_lead_of_the_page_is_about_the_most_exposed_who_do_not_collude():
    rounds = 'participation = {model = "multinomial", weights = 50}'
    people = ("population.enrolled = 400", "protections.minimum_batch = 200")
    plan = _plan(NOISE.replace("4.0", "2.0"), *people, rounds, "guarantee.delta = 1e-4")
    ladder = assess(plan)
    attained = 0.5 + 0.5 * sum(
        float(binomial_pmf(others, 199, success=1 / 50))
        * lower_curve(plan.randomizer, n=others + 1).delta(0.0)
        for others in range(16)
    )
    assert attained > 0.7
    said = two_values(ladder).numbers[0]
    assert said.rung == ladder.headline.rung == Rung.NETWORK
    assert said.value >= attained
    assert "watches the network" in str(two_values(ladder))


def test_a_shuffler_that_knows_every_sender_is_not_all_clear():
    plan = _plan(
        NOISE,
        *(line.replace("00", "0_000") for line in PEOPLE[:2]),
        'analyzer.publication = "released-order"',
        "policy.batch.max_epsilon = 3.9",
    )
    ladder = assess(plan)
    assert ladder.headline.rung == Rung.SHUFFLER
    assert ladder.most_exposed(Metric.GUESS_OF_TWO).rung == Rung.SHUFFLER
    assert checked(ladder).unlimited == (Rung.SHUFFLER,)
    assert verdict_line(ladder, checked(ladder)).kind == "no-limits"
    organisation = Policy.from_toml(
        "schema = 1\npolicy = {batch.max_epsilon = 3.9, shuffler.max_epsilon = 4.0}"
    )
    found = checked(ladder, organisation)
    assert found.met
    assert verdict_line(ladder, found).kind == "partly"


LOTS = (
    NOISE,
    "population.enrolled = 3_000",
    "protections.minimum_batch = 1_500",
    "guarantee.delta = 1e-6",
    'participation = {model = "multinomial", weights = [1, 1]}',
)


def test_whoever_sees_the_round_guesses_among_those_of_the_round():
    ladder = assess(_plan(*LOTS))
    assert ladder["shuffler"][Metric.REIDENTIFICATION].upper == pytest.approx(1 / 750)
    for rung in (Rung.NETWORK, Rung.SHUFFLER):
        assert "by luck alone, 1 in 750." in str(singling_out(ladder, rung))
    assert "by luck alone, 1 in 1,500." in str(singling_out(ladder, Rung.BATCH))


def test_an_epsilon_of_many_collections_or_of_everybody_names_its_delta():
    ladder = assess(_plan(NOISE, *PEOPLE))
    assert "at delta 0.0001" in str(repeated(ladder))
    assert "at delta 0.0001" in str(grown(ladder))


@pytest.mark.parametrize(
    ("epsilon_local", "batch", "delta"), [(20.0, 3, 1e-8), (16.0, 2, 1e-3), (1e-7, 1_000, 1e-3)]
)
def test_two_rounds_are_assessed_where_noise_is_hardly_any_or_nearly_all(
    epsilon_local, batch, delta
):
    plan = _plan(
        f'randomizer = {{mechanism = "k-rr", k = 2, max_epsilon_local = {epsilon_local}}}',
        f"population.enrolled = {batch}",
        f"protections.minimum_batch = {batch}",
        f"guarantee.delta = {delta}",
        "collection.rounds = 2",
    )
    assert assess(plan)["batch"][Metric.EPSILON].upper <= 2 * epsilon_local


@pytest.mark.parametrize(
    "noise", [NO_NOISE, NOISE.replace("4.0", "20.0").replace("k = 4", "k = 2")]
)
def test_a_limit_that_is_not_about_answers_opens_no_gate(noise):
    """Among many, a guess by somebody who knows nobody is poor although answers are sent as is."""
    people = ("population.enrolled = 20_000", "protections.minimum_batch = 10_000")
    ladder = assess(_plan(noise, *people, "guarantee.delta = 1e-6"))
    for limit in ("max_guess_uninformed = 0.9", "max_reidentification = 0.9"):
        rows = f"batch = {{{limit}}}, clients = {{{limit}}}"
        found = checked(ladder, Policy.from_toml(f"schema = 1\npolicy = {{{rows}}}"))
        assert found.unlimited == (Rung.BATCH, Rung.CLIENTS)
        assert verdict_line(ladder, found).kind != "met"


def test_a_delta_that_publishes_some_of_the_enrolled_limits_nothing():
    plan = _plan(
        NOISE,
        "population.enrolled = 1_000",
        "protections.minimum_batch = 2",
        "guarantee.delta = 0.49",
    )
    rows = "{batch.max_epsilon = 0.1, clients.max_epsilon = 0.1}"
    found = checked(assess(plan), Policy.from_toml(f"schema = 1\npolicy = {rows}"))
    assert [verdict.limits_something for verdict in found] == [False, False]
    assert not found.met


def test_the_share_of_corrupt_people_is_compared_in_people():
    policy = Policy.from_toml("schema = 1\nassumptions.min_corrupt_fraction = 0.05")
    for enrolled, met in ((1_010, True), (1_000, False)):
        people = f"population = {{enrolled = {enrolled}, corrupt_fraction = 0.05}}"
        plan = _plan(NOISE, people, f"protections.minimum_batch = {enrolled}")
        plan = plan if met else plan.replace(population__corrupt_fraction=0.049)
        assert [demand.met for demand in checked(assess(plan), policy).demands] == [met]


@pytest.mark.parametrize(
    ("shuffler", "analyzer"),
    [
        ('operator = "B\u00fcro"', 'operator = "Bu\u0308ro"'),
        ('operator = "Example Inc."', 'operator = "EXAMPLE Inc."'),
        (f'operator = "A", key = "{"5e" * 32}"', f'operator = "B", key = "{"5e" * 32}"'),
    ],
)
def test_operators_that_look_alike_or_share_a_key_are_one(shuffler, analyzer):
    plan = _plan(NOISE, *PEOPLE, f"shufflers = [{{{shuffler}}}]", f"analyzer = {{{analyzer}}}")
    assert plan.operators == "same"
