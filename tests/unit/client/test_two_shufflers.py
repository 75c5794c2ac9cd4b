"""A client of two shufflers: three seals, both lists followed, and each seal counted (A9)."""

import json
from itertools import pairwise

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.client.client import Client
from croupier.client.conversation import Get, Outcome, Post, Response, Server, Wait, converse
from croupier.client.memory import BudgetError, FileState, MemoryState, State
from croupier.client.mirror import Look, Served
from croupier.client.relay import send_all
from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.key_list import NotAccepted, sent_digest
from tests.unit.two_shufflers import Pair

SERVER = Server(url="https://reports.example", credential="letmein")
MANY = {"rounds": 200}
NOISY = {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0}


def client(pair, **given):
    given = {"attribute": "emoji", "budget": 100.0, "memory": MemoryState()} | given
    return Client(pair.plan, **given)


def refused(pair, submission, *, signing_key=None):
    word = NotAccepted.make(
        pair.plan,
        batch=bytes.fromhex(submission.batch),
        sent=sent_digest(SERVER.authorization.encode(), submission.body),
        signing_key=signing_key or pair.intake,
    )
    return {"refusal": word.to_bytes(), "authorization": SERVER.authorization}


@pytest.fixture(scope="module")
def pair():
    return Pair(collection=MANY)


def test_a_report_reaches_the_analyzer_through_both(pair):
    key = pair.open()
    sent = client(pair).report(7, key_list=pair.key_list(key).to_bytes())
    assert pair.read(sent.body, key) == (7, [176, 128, 80, 32])
    assert client(pair).report(7, key_list=pair.key_list(key).to_bytes()).body != sent.body


def test_a_retry_sends_the_same_bytes(pair):
    person, keys = client(pair), pair.key_list(pair.open()).to_bytes()
    first = person.report(1, key_list=keys)
    assert person.report(2, key_list=keys).body == first.body


def test_a_list_whose_second_part_is_wrong_seals_nothing(pair):
    one, two = pair.open(0), pair.open(0)
    shown = pair.key_list(one).model_copy(update={"onward": (pair.onward(two),)})
    memory = MemoryState()
    for onward in (shown.onward, None, ()):
        wrong = shown.model_copy(update={"onward": onward}).to_bytes()
        with pytest.raises(UntrustedError):
            client(pair, memory=memory).report(1, key_list=wrong)
    with memory.update() as state:
        assert (state.sealed, state.spent) == ({}, {})


@pytest.mark.parametrize("hop", [0, 1])
def test_a_list_of_either_shuffler_that_was_rolled_back_is_refused(pair, hop):
    """Its owner replaced a stolen release key; a thief shows the list that still names it."""
    key = pair.open()
    own = pair.mixers[hop]
    replaced = own.listed(pair.plan, 2, release=[(9, Ed25519PrivateKey.generate())])
    named = "later" if hop else "keys"
    memory = MemoryState()
    newer = pair.key_list(key, **{named: replaced}).to_bytes()
    sent = client(pair, memory=memory).report(1, key_list=newer)
    older = pair.key_list(key).to_bytes()
    for attempt in (
        lambda: client(pair, memory=memory).report(1, key_list=older),
        lambda: client(pair, memory=memory).chosen_round(key_list=older),
    ):
        with pytest.raises(UntrustedError, match="is version 1, and 2 was seen before"):
            attempt()
    second = own.listed(pair.plan, 2, release=[(8, Ed25519PrivateKey.generate())])
    with pytest.raises(UntrustedError, match="second one of version 2"):
        client(pair, memory=memory).report(
            1, key_list=pair.key_list(key, **{named: second}).to_bytes()
        )
    assert client(pair, memory=memory).report(1, key_list=newer).body == sent.body


@pytest.mark.parametrize("hop", [0, 1])
def test_a_replaced_release_key_of_either_shuffler_opens_no_earlier_round(pair, hop):
    """The newest round was opened with the new key; the stolen one still signs for its rounds."""
    own, stolen = pair.mixers[hop], pair.mixers[hop].release
    fresh = Ed25519PrivateKey.generate()
    listed = own.listed(pair.plan, 2, release=[(5, fresh)])
    named = {"later" if hop else "keys": listed}
    own.release = fresh
    late = pair.open(5, pair.first.release)
    own.release = stolen
    early = pair.open(4)
    memory = MemoryState()
    assert client(pair, memory=memory).chosen_round(
        key_list=pair.key_list(late, **named).to_bytes()
    )
    with pytest.raises(UntrustedError, match="replaced before a round seen earlier"):
        client(pair, memory=memory).chosen_round(key_list=pair.key_list(early, **named).to_bytes())
    fresh_memory = client(pair)
    assert fresh_memory.chosen_round(key_list=pair.key_list(early, **named).to_bytes()) == 4


def test_after_a_refusal_nothing_is_sealed_again(pair):
    """A corrupt first shuffler signs it, yet hands the report on: it would be in two batches."""
    first, second = pair.open(0), pair.open(1)
    person = client(pair)
    lost = person.report(1, key_list=pair.key_list(first).to_bytes())
    for later in (pair.key_list(second), pair.key_list(pair.open(0)), pair.key_list()):
        assert person.reseal(lost, **refused(pair, lost), key_list=later.to_bytes()) is None
    for key in (pair.second.intake, pair.first.release):
        with pytest.raises(UntrustedError, match="first shuffler's intake key"):
            person.reseal(
                lost,
                **refused(pair, lost, signing_key=key),
                key_list=pair.key_list(second).to_bytes(),
            )
    assert person.report(2, key_list=pair.key_list(first).to_bytes()).body == lost.body


def talk(steps, key_list, post):
    """Carry out a conversation; its outcome and what was posted."""
    posted, answer = [], None
    try:
        while True:
            step = steps.send(answer)
            if isinstance(step, Post):
                posted.append(step)
            answer = None
            if not isinstance(step, Wait):
                answer = Response(200, key_list()) if isinstance(step, Get) else post(step)
    except StopIteration as end:
        return end.value, posted


@pytest.mark.parametrize("next_round", [True, False])
def test_a_refused_conversation_ends_with_a_lost_round(pair, next_round):
    first, second = pair.open(0), pair.open(1)
    lists = iter([pair.key_list(first), pair.key_list(*([second] if next_round else []))])

    def refuse(step):
        word = NotAccepted.make(
            pair.plan,
            batch=bytes.fromhex(first.batch),
            sent=sent_digest(SERVER.authorization.encode(), step.body),
            signing_key=pair.intake,
        )
        return Response(409, word.to_bytes())

    person = client(pair)
    steps = converse(person, 1, server=SERVER)
    outcome, posted = talk(steps, lambda: next(lists).to_bytes(), refuse)
    assert (outcome, len(posted)) == (Outcome.CLOSED, 1)
    assert person.report(3, key_list=pair.key_list(second).to_bytes()).batch == second.batch


def test_each_seal_is_charged_with_nats_and_chance(pair, tmp_path):
    """The weakest shuffler's dummies: 1 nat per report, which fails with a chance of 1e-8."""
    path = tmp_path / "memory.json"
    person = client(pair, budget=2.0, memory=FileState(path))
    keys = [pair.key_list(pair.open(number)).to_bytes() for number in range(3)]
    for key_list in keys[:2]:
        person.report(1, key_list=key_list)
        person.report(1, key_list=key_list)
    state = json.loads(path.read_text())
    assert state["spent"] == {"emoji": [1.0, 1.0]}
    assert state["spent_delta"] == {"emoji": [1e-8, 1e-8]}
    assert state["listed_second"][pair.plan.digest]["version"] == 1
    with pytest.raises(BudgetError, match="may cost 2 nats in all; 2 are spent") as error:
        person.report(1, key_list=keys[2])
    assert "1e-06 in all; 2e-08 is spent and a report costs 1e-08" in str(error.value)
    assert json.loads(path.read_text())["sealed"] == state["sealed"]


def test_the_chance_runs_out_as_well(pair):
    person = client(pair, budget_delta=np.float64(3e-8))
    for number in range(3):
        person.report(1, key_list=pair.key_list(pair.open(number)).to_bytes())
    with pytest.raises(BudgetError) as refusal:
        person.report(1, key_list=pair.key_list(pair.open(3)).to_bytes())
    error = refusal.value
    assert (error.spent, error.cost, error.budget) == (3.0, 1.0, 100.0)
    assert (error.spent_delta, error.delta, error.budget_delta) == (3e-8, 1e-8, 3e-8)
    for wrong in (-1e-9, 1.5, float("nan")):
        with pytest.raises(ParameterError, match="budget_delta"):
            client(pair, budget_delta=wrong)


def test_the_weakest_shuffler_is_charged():
    """Nobody knows which of the two is honest: the larger epsilon, and the larger delta."""
    pair = Pair(collection=MANY)
    weak = {"epsilon": 2.0, "delta": 1e-7}
    mixers = [shuffler.model_dump(exclude_none=True) for shuffler in pair.plan.shufflers]
    plan = pair.plan.replace(shufflers=[mixers[0], mixers[1] | {"dummies": weak}])
    assert plan.cost == (2.0, 1e-7)
    pair.plan, pair.keys = plan, pair.first.listed(plan)
    person = client(pair, budget=2.0, budget_delta=1e-7)
    assert person.report(1, key_list=pair.key_list(pair.open()).to_bytes())
    for short in ({"budget": 1.9}, {"budget_delta": 9e-8}):
        with pytest.raises(BudgetError):
            client(pair, **short).report(1, key_list=pair.key_list(pair.open()).to_bytes())


def test_dummies_of_one_shuffler_alone_do_not_lower_the_cost():
    """The other might be the honest one: a value without noise costs without limit."""
    pair = Pair(collection=MANY)
    mixers = [shuffler.model_dump(exclude_none=True) for shuffler in pair.plan.shufflers]
    plan = pair.plan.replace(shufflers=[mixers[0], {"key": mixers[1]["key"]}])
    pair.plan, pair.keys = plan, pair.first.listed(plan)
    with pytest.raises(BudgetError, match="a report costs inf"):
        client(pair, budget=1e300).report(1, key_list=pair.key_list(pair.open()).to_bytes())


@pytest.mark.parametrize(
    ("questions", "cost"), [(NOISY | {"max_epsilon_local": 3}, (3.0, 0.0)), (None, (1.0, 1e-8))]
)
def test_dummies_of_the_only_shuffler_count_where_nothing_else_does(questions, cost):
    """That shuffler knows them: noise of the device is charged in full."""
    plan = Pair(collection=MANY, **({} if questions is None else {"randomizer": questions})).plan
    first = plan.shufflers[0].model_dump(exclude_none=True)
    found = plan.replace(shufflers=[first]).cost
    assert (found.epsilon, found.delta) == (pytest.approx(cost[0], rel=1e-9), cost[1])


def test_a_report_sent_again_is_protected_by_dummies_once_per_batch():
    reused = Pair(collection=MANY, randomizer=NOISY, participation={"noise": "reused"})
    assert reused.plan.cost == (1.0, 1e-8)
    memory = MemoryState()
    person = client(reused, memory=memory)
    opened = [reused.open(number) for number in range(3)]
    sent = [person.report(1, key_list=reused.key_list(key).to_bytes()) for key in opened]
    reports = [reused.read(own.body, key)[0] for own, key in zip(sent, opened, strict=True)]
    assert all(a == b for a, b in pairwise(reports))
    with memory.update() as state:
        assert state.spent == {"emoji": [1.0] * 3}
        assert state.spent_delta == {"emoji": [1e-8] * 3}


def test_noise_that_suffices_alone_is_charged_alone():
    little = {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 0.5}
    pair = Pair(collection=MANY, randomizer=little)
    memory = MemoryState()
    client(pair, memory=memory).report(1, key_list=pair.key_list(pair.open()).to_bytes())
    with memory.update() as state:
        assert state.spent == {"emoji": [pair.plan.randomizer.epsilon_local]}
        assert state.spent_delta == {}


def test_older_memories_load_and_are_written_as_they_were():
    text = '{"schema_version":1,"listed":{},"sealed":{},"joined":{},"resent":{},"spent":{}}'
    assert State.model_validate_json(text).model_dump_json() == text


def test_a_relay_seals_for_both(pair):
    key = pair.open()
    posted = []

    def accept(step):
        posted.append(step.body)
        return Response(202, b"")

    steps = send_all(
        pair.plan, [np.array([1, 2, 3])], server=SERVER, per_request=2, sent=lambda _: None
    )
    outcome, _ = talk(steps, lambda: pair.key_list(key).to_bytes(), accept)
    assert outcome is Outcome.ACCEPTED
    body = b"".join(posted)
    sent = [body[at : at + 176] for at in range(0, len(body), 176)]
    assert [pair.read(envelope, key)[0] for envelope in sent] == [1, 2, 3]


def test_addresses_that_show_two_second_shufflers_are_found(pair):
    """Each list is signed by all it needs; together they are evidence."""

    def problems(*lists):
        seen = [Served("https://a.example", None, entry.to_bytes()) for entry in lists]
        return Look([seen]).problems(pair.plan, ())

    key = pair.open()
    true = pair.key_list(key)
    other = pair.second.listed(pair.plan, release=[(7, Ed25519PrivateKey.generate())])
    found = problems(true, pair.key_list(key, later=other))
    assert "The list of the second shuffler's keys has 2 different versions 1." in found
    own = pair.first.batches[key.batch]
    again = pair.epoch(batch=bytes.fromhex(key.batch))
    pair.first.batches[key.batch] = own
    pair.later[key.batch] = pair.opening(again, 1)
    split = pair.key_list(pair.opening(again, 0))
    assert split.shuffler[0].key == key.key
    assert "Round 0 was opened 2 times, with different keys." in problems(true, split)
    assert not problems(true)


def test_an_address_may_be_behind(pair):
    first, second = pair.open(0), pair.open(1)
    lists = [pair.key_list(first), pair.key_list(first, second), pair.key_list()]
    seen = [Served("https://a.example", None, entry.to_bytes()) for entry in lists]
    assert "one address may be behind" in Look([seen]).problems(pair.plan, ())[-1]
