"""Turns follow the plan's weights and never a value."""

import asyncio
from collections import Counter

import pytest

from croupier.client.client import Client
from croupier.client.memory import MemoryState
from croupier.client.schedule import Turn, draw_turn, rounds_of_a_collection
from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream
from croupier.shuffler.release.rounds import open_round
from croupier.testing import law_p_value


def drawn(parties, group=None, **participation):
    plan = parties(participation=participation).plan
    return plan, draw_turn(plan, group=group, rng=Keystream())


@pytest.mark.parametrize(
    ("participation", "rounds"),
    [
        ({"model": "single"}, 1),
        ({"model": "parallel", "weights": 3}, 1),
        ({"model": "rectified-parallel", "weights": 3}, 1),
        ({"model": "divide", "groups": 4}, 4),
        ({"model": "multinomial", "weights": 5}, 5),
        ({"model": "rectified-bins", "bins": [2, [1, 2, 3]]}, 5),
    ],
)
def test_rounds_of_a_collection(make_parties, participation, rounds):
    plan, _ = drawn(make_parties, 0 if "groups" in participation else None, **participation)
    assert rounds_of_a_collection(plan) == rounds


@pytest.mark.parametrize("repeats", [1, 5])
def test_a_plan_whose_sample_nobody_draws_is_not_run(make_parties, repeats, tmp_path):
    plan = make_parties(participation={"model": "subsample", "repeats": repeats}).plan
    with pytest.raises(ParameterError, match=r"participation.model.* nobody draws the sample"):
        Client(plan, attribute="a", budget=9.0, memory=MemoryState())
    with pytest.raises(ParameterError, match=r"participation.model.* nobody draws the sample"):
        asyncio.run(open_round(plan, store=None, keys=None, shuffler=None, handover=None))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model", ["single", "parallel"])
def test_everybody_answers_where_there_is_one_round(make_parties, model):
    own = {"weights": 3} if model == "parallel" else {}
    assert drawn(make_parties, model=model, **own)[1] == Turn(answers=0, first=0, last=0)


def test_a_public_group_answers_in_its_own_round(make_parties):
    _, turn = drawn(make_parties, 2, model="divide", groups=4)
    assert turn == Turn(answers=2, first=2, last=2)


def test_nulls_fill_all_rounds_of_a_rectified_model_and_of_no_other(make_parties):
    _, turn = drawn(make_parties, model="rectified-multinomial", weights=6)
    assert (turn.first, turn.last) == (0, 5)
    _, turn = drawn(make_parties, model="multinomial", weights=6)
    assert turn.first == turn.answers == turn.last
    _, turn = drawn(make_parties, 1, model="rectified-bins", bins=[2, 3])
    assert (turn.first, turn.last) == (2, 4)
    assert turn.answers in {2, 3, 4}


@pytest.mark.parametrize("weights", [[1, 3, 6], [5, 1]])
def test_rounds_are_drawn_with_their_weights(make_parties, weights, alarm):
    plan, _ = drawn(make_parties, model="rectified-multinomial", weights=weights)
    rng = Keystream(insecure_seed=5)
    counts = Counter(draw_turn(plan, group=None, rng=rng).answers for _ in range(20_000))
    observed = [counts[place] for place in range(len(weights))]
    assert law_p_value(observed, [weight / sum(weights) for weight in weights]) > alarm
    assert law_p_value(observed, [1 / len(weights)] * len(weights)) < alarm


def test_a_bin_is_drawn_where_nobody_chose(make_parties):
    plan, _ = drawn(make_parties, model="rectified-bins", bins=[1, 1, 1])
    rng = Keystream(insecure_seed=5)
    assert {draw_turn(plan, group=None, rng=rng).first for _ in range(100)} == {0, 1, 2}


@pytest.mark.parametrize(
    ("group", "participation"),
    [
        (None, {"model": "divide", "groups": 4}),
        (4, {"model": "divide", "groups": 4}),
        (-1, {"model": "bins", "bins": [1, 1]}),
        (0, {"model": "multinomial", "weights": 3}),
    ],
)
def test_groups_that_cannot_be(make_parties, group, participation):
    with pytest.raises(ParameterError, match="group"):
        drawn(make_parties, group, **participation)
