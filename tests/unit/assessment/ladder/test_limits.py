"""Where one case of the ladder must turn into another."""

import pytest

from croupier.accounting.exposure import hidden_exposure, local_exposure
from croupier.assessment.ladder.cell import Cell, Status, best
from croupier.assessment.ladder.known_prior import known_prior
from croupier.assessment.ladder.ladder import assess
from croupier.leakage.reidentification import reidentification
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

GROUPS = {"sha256": "0" * 64, "sensitivity": 7}


def numbers(step):
    return {metric: (cell.lower, cell.upper) for metric, cell in step.cells.items()}


def test_without_corrupt_clients_that_rung_is_the_batch(make_plan):
    ladder = assess(make_plan())
    assert numbers(ladder["clients"]) == numbers(ladder["batch"])
    assert numbers(ladder.combined) == numbers(ladder["network"])


@pytest.mark.parametrize(
    "participation",
    [
        {"model": "divide", "groups": 1},
        {"model": "parallel", "weights": 1},
        {"model": "multinomial", "weights": 1},
        {"model": "bins", "bins": [1]},
        {"model": "rectified-parallel", "weights": 1},
        {"model": "rectified-multinomial", "weights": 1},
        {"model": "rectified-bins", "bins": [1]},
    ],
)
def test_one_round_of_any_model_is_a_single_round(make_plan, participation):
    single = assess(make_plan(corrupt=0.1))
    ladder = assess(make_plan(corrupt=0.1, participation=participation))
    for one, other in zip(ladder, single, strict=True):
        assert numbers(one) == numbers(other)


def test_a_mallows_order_of_theta_zero_is_uniform(make_plan):
    uniform = assess(make_plan(corrupt=0.1))
    mallows = assess(
        make_plan(corrupt=0.1, shuffling={"order": "mallows", "alpha": 0.0, "groups": GROUPS})
    )
    for one, other in zip(mallows, uniform, strict=True):
        assert numbers(one).items() >= numbers(other).items()
    assert mallows["batch"].alpha.value == 0


def test_alpha_grows_with_theta_and_says_nothing_to_whoever_draws_the_order(make_plan):
    small, large = (
        assess(make_plan(shuffling={"order": "mallows", "alpha": alpha, "groups": GROUPS}))
        for alpha in (0.5, 4.0)
    )
    for rung in ("batch", "network", "clients"):
        assert small[rung].alpha.value < large[rung].alpha.value
    assert small["estimate"].alpha.value == large["estimate"].alpha.value == 0
    for rung in ("shuffler", "collusion"):
        assert large[rung].alpha is None
        assert large[rung]["alpha"].status is Status.NOT_BOUNDED


def test_a_mallows_order_links_more_than_the_uniform_bound(make_plan):
    """n = 4, 2-RR, epsilon_local 1, theta 0.2: .5571 > psi = .5455."""
    plan = make_plan(
        {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0},
        enrolled=4,
        batch=4,
        shuffling={"order": "mallows", "alpha": 0.2, "groups": GROUPS | {"sensitivity": 1}},
    )
    link = assess(plan)["batch"]["reidentification"]
    assert link.status is Status.NOT_BOUNDED
    uniform = reidentification(plan.randomizer, n=4).upper.value
    assert uniform == pytest.approx(0.5455, abs=5e-5)
    assert link.proved is None
    assert link.lower == pytest.approx(
        (1 - 2.718281828459045**-0.2) / (1 - 2.718281828459045**-0.8)
    )


def test_a_minimum_crowd_limits_who_is_found_in_a_mallows_order(make_plan):
    """As among as many in a uniform order; the corrupt count fully, wherever they are."""
    plan = make_plan(
        corrupt=0.02,
        shuffling={"order": "mallows", "alpha": 0.07, "groups": GROUPS},  # theta 0.01
        protections={"minimum_batch": 1000, "minimum_crowd": 40},
    )
    ladder = assess(plan)
    for rung, crowd in (("batch", 40), ("network", 40), ("clients", 20)):
        link = ladder[rung]["reidentification"]
        expected = reidentification(epsilon_local=2.0, n=crowd).upper.value
        assert link.upper == pytest.approx(expected, rel=1e-5)
        assert 0 < link.lower < link.upper
        assert "everybody present in a crowd of 40 by the order's law" in link.proved.assumptions
    assert ladder["estimate"]["reidentification"].upper == 1 / 1000
    assert ladder["collusion"]["reidentification"].upper == 1
    hopeless = assess(plan.replace(population__corrupt_fraction=0.039))
    assert (
        hopeless["clients"]["reidentification"].reason == "the whole minimum crowd may be corrupt"
    )
    assert hopeless["batch"]["reidentification"].upper == ladder["batch"]["reidentification"].upper


def test_batches_that_show_permanent_answers_leave_the_fresh_noise(make_plan):
    """Found in one batch by somebody who knows everybody's permanent answer from the others."""
    shuffling = {"order": "mallows", "alpha": 0.07, "groups": GROUPS}
    memoised = {"mechanism": "memoised-k-rr", "k": 4, "max_epsilon_local": 1.0}
    memoised["max_epsilon_permanent"] = 2.0
    protections = {"minimum_batch": 1000, "minimum_crowd": 40, "report_size": 64}
    links = [
        assess(
            make_plan(
                memoised, shuffling=shuffling, protections=protections, collection={"rounds": r}
            )
        )["batch"]["reidentification"].upper
        for r in (1, 5)
    ]
    fresh = make_plan(memoised).randomizer.instantaneous.checked_epsilon_local
    assert fresh > 1.01
    expected = [reidentification(epsilon_local=e, n=40).upper.value for e in (1.0, fresh)]
    assert links == pytest.approx(expected, rel=1e-4)


def test_a_report_with_all_answers_is_found_by_all_of_them(make_plan):
    shuffling = {"order": "mallows", "alpha": 0.07, "groups": GROUPS}
    response = {"mechanism": "k-rr", "k": 3, "max_epsilon_local": 0.5}
    plan = make_plan(
        questions=[response | {"name": "a"}, response | {"name": "b"}],
        participation={"model": "together"},
        shuffling=shuffling,
        protections={"minimum_batch": 1000, "minimum_crowd": 40, "report_size": 64},
    )
    link = assess(plan)["batch"]["reidentification"].upper
    assert link == pytest.approx(reidentification(epsilon_local=1.0, n=40).upper.value, rel=1e-4)


@pytest.mark.parametrize(
    "change",
    [
        {"protections__minimum_crowd": None},
        {"participation__noise": "reused", "collection__rounds": 2},
        {"participation": {"model": "multinomial", "weights": 3}},
    ],
)
def test_no_crowd_no_limit(make_plan, change):
    """Nor if batches can be matched, or a batch has some of the people only."""
    shuffling = {"order": "mallows", "alpha": 0.07, "groups": GROUPS}
    protections = {"minimum_batch": 1000, "minimum_crowd": 40}
    plan = make_plan(shuffling=shuffling, protections=protections).replace(**change)
    assert assess(plan)["batch"]["reidentification"].proved is None


def test_one_honest_person_has_only_the_noise_of_the_device(make_plan):
    plan = make_plan(batch=50)
    alone = hidden_exposure(plan, rounds_seen=False, corrupt=49)
    local = local_exposure(plan)
    assert alone.hidden.honest == 1
    assert alone.epsilon(1e-6) == pytest.approx(local.epsilon(1e-6), rel=1e-9)
    assert alone.deltas((0.5,), at=1e-6)[0] == pytest.approx(
        local.deltas((0.5,), at=1e-6)[0], rel=1e-9
    )
    assert reidentification(plan.randomizer, n=50, corrupt=49).upper.value == 1.0


def test_reused_noise_is_not_composed(make_plan):
    """50-RR, e0 = 5, n = 20, 2 rounds, epsilon 3: true delta >= .6056, composed bound .5992."""
    response = {"mechanism": "k-rr", "k": 50, "max_epsilon_local": 5.0}
    reused = make_plan(
        response, enrolled=20, batch=20, participation={"noise": "reused"}, collection={"rounds": 2}
    )
    fresh = make_plan(response, enrolled=20, batch=20, collection={"rounds": 2})
    composed = hidden_exposure(fresh, rounds_seen=False, corrupt=0).deltas((3.0,), at=1e-6)[0]
    assert composed == pytest.approx(0.5992, abs=2e-3)
    assert local_exposure(reused).deltas((3.0,), at=1e-6)[0] >= 0.6056
    ladder = assess(reused)
    assert ladder["batch"].epsilon.value == pytest.approx(5.0, rel=1e-3)
    assert ladder["batch"].reidentification is None


def test_the_distance_is_read_from_the_curve_not_converted(make_plan):
    """2-RR, e0 = 2.81, n = 1e4: coin .5105, against .5500 by conversion; true >= .5076."""
    plan = make_plan(
        {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 2.81}, enrolled=10**4, batch=10**4
    )
    coin = assess(plan)["batch"]["guess_of_two"]
    assert coin.upper == pytest.approx(0.5105, abs=5e-5)
    assert coin.lower >= 0.5076


def test_nothing_published_tells_nothing(make_plan):
    ladder = assess(make_plan(analyzer={"publication": "none"}))
    for rung in ("estimate", "shuffler"):
        assert numbers(ladder[rung]) == numbers(ladder.blind)


def test_a_shuffler_that_is_shown_its_own_order_is_collusion(make_plan):
    ladder = assess(make_plan(analyzer={"publication": "released-order"}))
    assert numbers(ladder["shuffler"]) == numbers(ladder["collusion"])


@pytest.mark.parametrize("publication", ["estimate", "histogram"])
def test_without_rows_nobody_is_linked(make_plan, publication):
    ladder = assess(make_plan(analyzer={"publication": publication}))
    for rung in ("estimate", "shuffler"):
        assert ladder[rung]["reidentification"].exact
        assert ladder[rung].reidentification.value == pytest.approx(1 / 1000)


def test_sorted_rows_link_as_in_the_network(make_plan):
    ladder = assess(make_plan(analyzer={"publication": "sorted"}))
    link = ladder["network"].reidentification.value
    assert ladder["shuffler"].reidentification.value == link
    assert ladder["estimate"].reidentification.value == link


def test_one_operator_makes_collusion_the_headline(make_plan):
    assert (
        assess(
            make_plan(shufflers=[{"operator": "Example"}], analyzer={"operator": "Example"})
        ).headline.rung
        == "collusion"
    )
    assert assess(make_plan()).headline.rung == "clients"


def test_corrupt_people_gather_in_the_stratum_of_the_victim(make_plan):
    """n_k - m, never n_k (1 - x)."""
    plan = make_plan(
        enrolled=1000, corrupt=0.02, participation={"model": "multinomial", "weights": 4}
    )
    seen = hidden_exposure(plan, rounds_seen=True, corrupt=plan.corrupt)
    assert seen.hidden.honest * seen.hidden.share == pytest.approx(250 - 20)


def test_all_rounds_asked_again_are_composed(make_plan):
    once, again = (assess(make_plan(collection={"rounds": rounds})) for rounds in (1, 30))
    assert once.repeated.value == pytest.approx(again["batch"].epsilon.value, rel=1e-9)
    assert once["batch"].epsilon.value < once.repeated.value < 30 * once["batch"].epsilon.value


def test_a_prior_that_is_uniform_changes_nothing(make_plan):
    plan = make_plan()
    ladder = assess(plan)
    for guess in known_prior(plan, [0.25] * 4)[1:]:
        cells = ladder[guess.rung]
        assert guess.informed.value >= cells["guess_informed"].upper * (1 - 1e-9)
        assert guess.uninformed >= cells["guess_uninformed"].upper * (1 - 1e-9)
        assert guess.blind == 0.25


def test_a_prior_that_leaves_no_doubt_stays_certain(make_plan):
    for guess in known_prior(make_plan(), [1.0, 0.0, 0.0, 0.0]):
        assert guess.blind == guess.informed.value == 1


def test_a_vacuous_promise_does_not_hide_that_nothing_is_bounded():
    open_cell = Cell(metric=Metric.REIDENTIFICATION, reason="the order is seen")
    plan = Plan.from_toml(
        'schema = 2\nrandomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}\n'
        "population.enrolled = 9\nprotections.minimum_batch = 9"
    )
    certain = assess(plan)["collusion"]["reidentification"]
    assert certain.proved.value == 1
    assert best(open_cell, stronger=certain).status is Status.NOT_BOUNDED


def test_what_is_exact_for_somebody_else_is_a_bound_here(make_plan):
    """Two people with much noise: shuffling adds nothing that is proved."""
    response = {"mechanism": "k-rr", "k": 4, "max_epsilon_local": 8.0}
    ladder = assess(make_plan(response, enrolled=2, batch=2, delta=1e-9))
    assert ladder["collusion"]["epsilon"].exact
    for rung in ("estimate", "batch", "network", "clients"):
        for metric in (Metric.EPSILON, Metric.GUESS_OF_TWO, Metric.BAYES_SECURITY):
            assert not ladder[rung][metric].exact


NOISY, LOUD = [[3, 1], [1, 3]], [[9, 1], [1, 9]]


def matrix(rows):
    return {"mechanism": "matrix", "matrix": rows}


def test_corrupt_people_know_whether_they_were_asked(make_plan):
    """n = 4, sample of 3, one corrupt: if it was not asked, the target was. Truth 1.0889."""
    plan = make_plan(
        matrix(NOISY),
        enrolled=4,
        batch=3,
        corrupt=0.3,
        delta=1e-3,
        participation={"model": "subsample", "repeats": 1},
    )
    assert assess(plan)["clients"].epsilon.value >= 1.0889
    assert assess(plan)["batch"].epsilon.value < 1.0889


@pytest.mark.parametrize(
    "participation",
    [
        {"model": "multinomial", "weights": [1, 9]},
        {"model": "bins", "bins": [2, [1, 3]]},
        {"model": "subsample", "repeats": 2},
    ],
)
def test_the_worst_crowd_is_not_called_attained(make_plan, participation):
    """A person is in it by chance only, so that the whole view gains less."""
    plan = make_plan(
        matrix(NOISY),
        enrolled=8,
        batch=2,
        delta=0.1,
        participation=participation,
        analyzer={"publication": "histogram"},
    )
    ladder = assess(plan)
    for step in (ladder["network"], ladder.combined):
        assert step["epsilon"].lower == ladder["batch"]["epsilon"].lower
        assert step["guess_of_two"].lower == ladder["batch"]["guess_of_two"].lower
        assert step["bayes_security"].upper == ladder["batch"]["bayes_security"].upper
        assert step["reidentification"].lower == pytest.approx(1 / 2)


@pytest.mark.parametrize("model", ["multinomial", "rectified-multinomial", "parallel"])
def test_collusion_is_not_exact_where_the_question_is_drawn(make_plan, model):
    """Truth of the coin: 0.825, the mean of 0.75 and 0.9."""
    plan = make_plan(
        questions=[matrix(NOISY), matrix(LOUD)],
        enrolled=4,
        batch=2,
        participation={"model": model, "weights": [1, 1]},
    )
    collusion = assess(plan)["collusion"]
    if model == "parallel":
        assert collusion["guess_of_two"].upper == pytest.approx(0.825)
    else:
        assert not collusion["guess_of_two"].exact
        assert collusion["guess_of_two"].lower <= 0.825 <= collusion["guess_of_two"].upper
    assert not collusion["guess_informed"].exact


def test_a_guess_is_of_the_answer_to_one_question(make_plan):
    """However many questions there are, a yes or no is guessed half of the time."""
    queries = [{"mechanism": "k-rr", "k": k, "max_epsilon_local": 1.0} for k in (2, 3, 50)]
    ladder = assess(make_plan(questions=queries))
    for step in ladder:
        assert step["guess_informed"].upper >= 0.5
        assert step["guess_uninformed"].upper >= 0.5


def test_a_secret_round_is_not_found_by_the_order(make_plan):
    plan = make_plan(
        batch=10,
        participation={"model": "multinomial", "weights": 2},
        shuffling={"order": "mallows", "alpha": 20.0, "groups": GROUPS | {"sensitivity": 1}},
    )
    assert assess(plan)["batch"]["reidentification"].lower == pytest.approx(1 / 10)


def test_a_claim_says_all_that_it_rests_on(make_plan):
    shuffler = assess(make_plan())["shuffler"]
    assert any("HPKE" in text for text in shuffler.epsilon.assumptions)
    silent = assess(make_plan(analyzer={"publication": "none"}))["shuffler"]
    assert any("HPKE" in text for text in silent.epsilon.assumptions)
    mallows = assess(make_plan(shuffling={"order": "mallows", "alpha": 1.0, "groups": GROUPS}))
    assert "uniform order" not in mallows["estimate"].epsilon.assumptions
    grouped = assess(make_plan(shuffling={"order": "uniform", "groups": {"sha256": "0" * 64}}))
    assert "the minimum batch is kept in each group" in grouped["batch"].epsilon.assumptions
    repeated = assess(make_plan(collection={"rounds": 2})).repeated
    assert repeated.assumptions[-1] == "60 rounds of one person, fresh noise in each"
    assert len([text for text in repeated.assumptions if "fresh noise" in text]) == 1
    assert repeated.theorem.endswith("rounds composed (Zhu, Dong and Wang 2022)")
    assert "composed" not in assess(make_plan())["batch"].epsilon.theorem


@pytest.mark.parametrize("rows", [[[3, 1, 0], [1, 3, 0], [0, 1, 3]], [[3, 1], [0, 4]]])
@pytest.mark.parametrize("model", ["single", "divide", "multinomial", "subsample"])
def test_a_report_that_gives_a_value_away_is_assessed_too(make_plan, rows, model):
    own = {"divide": "groups", "multinomial": "weights", "subsample": "repeats"}.get(model)
    participation = {"model": model} | ({own: 2} if own else {})
    ladder = assess(make_plan(matrix(rows), enrolled=40, batch=10, participation=participation))
    assert ladder["collusion"].epsilon is None
    assert ladder["collusion"]["guess_of_two"].upper <= 1


@pytest.mark.parametrize("model", ["single", "multinomial", "subsample"])
def test_a_report_that_says_nothing_leaks_nothing(make_plan, model):
    own = {"multinomial": "weights", "subsample": "repeats"}.get(model)
    tables = {
        "participation": {"model": model} | ({own: 2} if own else {}),
        "collection": {"rounds": 3},
    }
    ladder = assess(make_plan(matrix([[1, 1], [1, 1]]), enrolled=40, batch=10, **tables))
    assert ladder["collusion"].epsilon.value == 0
    assert ladder["network"].epsilon.value == 0
