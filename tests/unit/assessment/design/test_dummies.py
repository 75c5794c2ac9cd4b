"""Plans with dummies, offered beside local noise where they win."""

import re

import pytest

from croupier.assessment.design.design import DUMMIES, design
from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked
from croupier.errors import ParameterError
from croupier.model.rung import Rung

ASKED = {"k": 10, "enrolled": 20_000, "target_error": 0.005, "max_epsilon": 0.3, "delta": 1e-6}
FEW = ["k-rr", "plain"]


def batch(found):
    return found.plan.protections.minimum_batch


def test_dummies_come_last_and_need_fewer_people():
    *local, hidden = design(**ASKED, mechanisms=FEW)
    assert {one.plan.randomizer.mechanism for one in local} == {"k-rr"}
    assert hidden.plan.randomizer.mechanism == "plain"
    assert hidden.strengths == (DUMMIES[0],)
    assert batch(hidden) < min(map(batch, local)) / 2
    assert not any(one.trade for one in local)


def test_the_plan_keeps_every_limit_and_just_reaches_the_error():
    hidden = design(**ASKED, mechanisms=["plain"])[-1]
    assert all(verdict.met for verdict in checked(assess(hidden.plan)))
    (table,) = hidden.plan.dummies
    deviation = float(table.variance) ** 0.5
    assert hidden.rms_error == pytest.approx(deviation / batch(hidden))
    assert hidden.rms_error <= 0.005 < deviation / (batch(hidden) - 1)
    assert hidden.epsilon.value <= 0.3
    assert hidden.plan.shufflers[0].dummies.epsilon == 0.3


def test_no_larger_epsilon_of_four_digits_keeps_other_limits():
    asked = ASKED | {"max_epsilon": None, "max_guess_of_two": 0.55, "max_guess_informed": 0.2}
    hidden = design(**asked, mechanisms=["plain"])[-1]
    made = hidden.plan.shufflers[0].dummies
    more = made.model_copy(update={"epsilon": round(made.epsilon + 0.001, 4)})
    wider = hidden.plan.replace(shufflers=[{"dummies": more.model_dump(exclude_none=True)}])
    assert all(verdict.met for verdict in checked(assess(hidden.plan)))
    assert not all(verdict.met for verdict in checked(assess(wider)))


def test_dummies_that_leak_less_are_offered_although_they_need_more_people():
    """Few ways to point at a report: each value needs thousands of dummies."""
    *local, hidden = design(
        k=50,
        enrolled=1_000_000,
        corrupt_fraction=0.05,
        target_error=5e-4,
        max_epsilon=0.1,
        max_reidentification=5e-4,
        mechanisms=FEW,
    )
    assert hidden.strengths == (DUMMIES[1],)
    assert batch(hidden) > min(map(batch, local))
    assert hidden.epsilon.value < min(one.epsilon.value for one in local)


def test_dummies_that_win_nothing_are_not_offered():
    """Ten million people hide each other better than a shuffler that must make as many dummies."""
    asked = {"k": 2, "enrolled": 10**7, "target_error": 0.001, "max_reidentification": 5e-5}
    found = design(**asked, mechanisms=["k-rr", "plain"])
    assert {one.plan.randomizer.mechanism for one in found} == {"k-rr"}


def test_dummies_are_all_that_is_left_where_no_local_noise_fits():
    asked = ASKED | {"enrolled": 2_000, "max_epsilon": 1.0}
    (hidden,) = design(**asked, mechanisms=FEW)
    assert hidden.plan.randomizer.mechanism == "plain"
    with pytest.raises(ParameterError, match="target_error"):
        design(**asked, mechanisms=["k-rr"])


def test_two_shufflers_each_add_dummies():
    one, two = (design(**ASKED, mechanisms=FEW, shufflers=number) for number in (1, 2))
    assert all(len(found.plan.shufflers) == 2 for found in two)
    assert batch(two[-1]) / batch(one[-1]) == pytest.approx(2**0.5, rel=0.01)
    ladder = assess(two[-1].plan)
    assert ladder["all_but_one"].epsilon.value <= 0.3
    assert ladder["everybody"].epsilon is None
    assert [found.plan.randomizer for found in two[:-1]] == [
        found.plan.randomizer for found in one[:-1]
    ]


def test_what_is_traded_is_said_in_one_sentence():
    (one,) = design(**ASKED, mechanisms=["plain"])
    assert one.trade == (
        "The device sends the answer itself, hidden by about 800 made-up reports per batch: "
        "whoever runs the shuffler knows these, so that nothing protects on the rows shuffler and "
        "collusion."
    )
    (two,) = design(**ASKED, mechanisms=["plain"], shufflers=2)
    assert two.trade == (
        "The device sends the answer itself, hidden by about 1,600 made-up reports per batch, half "
        "of them from each shuffler: any one honest shuffler suffices, and nothing protects on the "
        "row everybody."
    )


def test_limits_on_all_but_one_are_written_where_dummies_keep_them():
    asked = ASKED | {"max_guess_of_two": 0.6, "shufflers": 2}
    *local, hidden = design(**asked, mechanisms=FEW)
    written = {
        limit.key: limit.value for limit in hidden.plan.limits if limit.rung == "all_but_one"
    }
    assert written == {"max_epsilon": 0.3, "max_guess_of_two": 0.6}
    assert all(verdict.met for verdict in checked(assess(hidden.plan)))
    assert local
    assert all("all_but_one" not in one.plan.policy for one in local)
    (single,) = design(**ASKED, mechanisms=["plain"])
    assert set(single.plan.policy) == {"batch", "clients"}


def test_a_second_shuffler_without_dummies_improves_no_row():
    one, two = (design(**ASKED, mechanisms=["k-rr"], shufflers=number)[0] for number in (1, 2))
    assert not one.trade
    assert "the second one improves no row of the ladder" in two.trade
    assert two.to_frame("pandas")["epsilon_local"][0] == two.epsilon_local
    alone, chain = assess(one.plan), assess(two.plan)
    for row in chain:
        (own,) = Rung(row.rung).among(1)
        values = [
            {m: cell.proved_value for m, cell in each.cells.items()} for each in (row, alone[own])
        ]
        assert values[0] == values[1], row.rung


@pytest.mark.parametrize("shufflers", [1, 2])
def test_a_limit_of_epsilon_local_excludes_plain(shufflers):
    asked = ASKED | {"max_epsilon_local": 3.0, "shufflers": shufflers}
    found = design(**asked, mechanisms=None if shufflers == 1 else ["k-rr"])
    assert all(one.plan.randomizer.mechanism != "plain" for one in found)
    assert all(one.epsilon_local <= 3 for one in found)
    with pytest.raises(ParameterError, match="must not be plain where epsilon_local is limited"):
        design(**asked, mechanisms=FEW)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"questions": 2}, "`mechanism` must not be plain for several questions"),
        ({"target_error": 1e-6}, "`target_error` must be at least 0.000942 within these limits"),
        ({"max_guess_of_two": 0.4}, "must be reachable with dummies"),
        ({"shufflers": 3}, "`shufflers` must be a whole number in [1, 2]; got 3."),
        ({"k": None, "grid": {"low": 0, "high": 1, "step": 0.5}}, "`mechanism` must be one of"),
    ],
)
def test_what_cannot_be_designed_is_refused(change, said):
    with pytest.raises(ParameterError, match=re.escape(said)):
        design(**ASKED | change, mechanisms=["plain"])


LEAST = re.compile(r"`target_error` must be at least (\S+) within these limits")
STATED = {
    "dummies-reach-less": ({}, "With dummies max_epsilon = 0.3 binds."),
    "two-shufflers": ({"shufflers": 2}, "Without dummies it is at least 0.00235."),
    "nobody-without": (
        {"enrolled": 60, "max_epsilon": 1.0, "max_reidentification": 0.02},
        "Without dummies the limits are not kept.",
    ),
    "local-noise-reaches-less": (
        {"k": 2, "enrolled": 100_000, "max_epsilon": 0.05, "max_reidentification": 1e-3},
        "At 50,000 people max_epsilon = 0.05 binds",
    ),
}


@pytest.mark.parametrize("name", STATED)
def test_the_least_error_is_that_of_the_better_family(name):
    """The stated minimum can be designed for, and nothing below it can."""
    change, said = STATED[name]
    asked = ASKED | change
    with pytest.raises(ParameterError) as refused:
        design(**asked | {"target_error": 1e-9}, mechanisms=FEW)
    assert said in str(refused.value)
    least = float(LEAST.search(str(refused.value))[1])
    assert design(**asked | {"target_error": least}, mechanisms=FEW)
    with pytest.raises(ParameterError, match="target_error"):
        design(**asked | {"target_error": least * 0.98}, mechanisms=FEW)


def test_the_limit_that_no_dummies_keep_is_named():
    asked = ASKED | {"max_guess_of_two": 0.4}
    with pytest.raises(ParameterError, match="`max_guess_of_two` must be reachable with dummies"):
        design(**asked, mechanisms=["plain"])


def test_too_few_honest_people_are_named_as_the_cause():
    asked = ASKED | {"corrupt_fraction": 0.6}
    with pytest.raises(ParameterError, match="`max_batch` must leave 2 honest people"):
        design(**asked, mechanisms=["plain"])


def test_other_questions_are_searched_as_before():
    several = design(**ASKED | {"questions": 2, "target_error": 0.05}, mechanisms=["k-rr"])
    assert len(several) <= 3
