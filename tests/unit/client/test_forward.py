"""Store and forward: prepared once, delivered once, at a time that was drawn before."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from croupier.client.client import Client
from croupier.client.conversation import Get, Outcome, Post, Response, converse
from croupier.client.forward import Prepared, deliver, prepare
from croupier.client.memory import FileState, MemoryState, State
from croupier.errors import NotOfferedError, UntrustedError
from tests.unit.client.script import SERVER, Script, answering

HALF = 43_200.0
"""Half a round, in seconds: the longest delay."""
START = 1_800_000_000.0


class Device:
    """A person's device: a client, its memory and a clock that somebody may set."""

    def __init__(self, parties, memory=None, **given):
        self.parties, self.now, self.given = parties, START, given
        self.memory = MemoryState() if memory is None else memory
        self.restart()

    def restart(self):
        """Begin a new process: what was not stored is gone."""
        settings = {"attribute": "emoji", "budget": 9.0, "memory": self.memory} | self.given
        self.client = Client(self.parties.plan, clock=lambda: self.now, **settings)

    def prepare(self, keys, value=1):
        return Script(prepare(self.client, value, server=SERVER), answering(keys, None)).outcome

    def deliver(self, keys, *answers):
        return Script(deliver(self.client, server=SERVER), answering(keys, *answers))

    @property
    def state(self):
        with self.memory.update() as state:
            return state.model_copy(deep=True)

    @property
    def sealed(self):
        return self.state.sealed[self.parties.plan.digest]


ACCEPTED = Response(202, b"")


@pytest.fixture
def key(parties):
    return parties.open()


@pytest.fixture
def keys(parties, key):
    return parties.key_list(key).to_bytes()


@pytest.fixture
def device(parties):
    return Device(parties)


def test_preparing_neither_waits_nor_sends(device, keys):
    done = Script(prepare(device.client, 1, server=SERVER), answering(keys, None))
    assert isinstance(done.outcome, Prepared)
    assert [type(step) for step in done.steps] == [Get]
    assert 0 <= done.outcome.due - START < HALF
    assert not done.outcome.is_replacing
    assert device.client.due() == pytest.approx(done.outcome.due - START)


def test_before_its_time_nothing_is_asked_or_sent(device, keys):
    made = device.prepare(keys)
    device.now = made.due - 0.5
    done = device.deliver(keys, ACCEPTED)
    assert done.outcome is Outcome.WAITING
    assert not done.steps
    assert device.client.due() == pytest.approx(0.5)


def test_it_is_delivered_once_and_paid_for_once(device, keys):
    made = device.prepare(keys)
    device.now = made.due
    body = device.sealed.body
    done = device.deliver(keys, ACCEPTED)
    assert done.outcome is Outcome.ACCEPTED
    assert [post.body.hex() for post in done.posts] == [body]
    assert [type(step) for step in done.steps] == [Post]
    for _ in range(2):
        again = device.deliver(keys, ACCEPTED)
        assert (again.outcome, again.steps) == (Outcome.NOTHING, [])
        assert device.prepare(keys, value=7) is Outcome.NOTHING
        device.restart()
    assert device.client.due() is None
    assert device.state.spent == {"emoji": [2.0]}


def test_a_second_preparation_of_a_round_changes_nothing(device, keys):
    made, before = device.prepare(keys), device.state
    device.now += 60
    assert device.prepare(keys, value=7) == made
    assert device.state == before


def test_nothing_is_prepared(device, keys):
    done = device.deliver(keys, ACCEPTED)
    assert (done.outcome, done.steps) == (Outcome.NOTHING, [])
    assert device.state == State()


def test_a_restart_between_any_two_steps_sends_the_same_bytes_once_accepted(parties, keys):
    """After every step of both conversations in turn, the process ends."""
    bodies = []
    for crash_at in range(2):
        device = Device(parties)
        steps, taken = prepare(device.client, 1, server=SERVER), 0
        answers = answering(keys, ACCEPTED)
        answer = None
        try:
            while taken <= crash_at:
                step = steps.send(answer)
                taken += 1
                answer = answers(step, 1)
        except StopIteration:
            pass
        device.restart()
        made = device.prepare(keys)
        device.now = made.due
        body = device.sealed.body
        sending = deliver(device.client, server=SERVER)
        sent = [next(sending)]
        sending.close()  # sent, and the answer was never seen
        device.restart()
        done = device.deliver(keys, ACCEPTED)
        assert done.outcome is Outcome.ACCEPTED
        assert {post.body.hex() for post in (*sent, *done.posts)} == {body}
        assert device.state.spent == {"emoji": [2.0]}
        bodies.append(body)
    assert len(set(bodies)) == 2


def test_silence_and_refusal_leave_it_to_the_next_call(device, keys):
    made = device.prepare(keys)
    device.now, body = made.due, device.sealed.body
    silent = device.deliver(keys, None)
    assert silent.outcome is Outcome.EXPIRED
    assert len(silent.posts) > 1
    assert sum(silent.waits) <= 30
    assert device.deliver(keys, Response(401, b"")).outcome is Outcome.REFUSED
    with pytest.raises(NotOfferedError):
        device.deliver(keys, Response(404, b""))
    assert device.client.due() == 0
    device.restart()
    done = device.deliver(keys, ACCEPTED)
    assert {post.body.hex() for post in (*silent.posts, *done.posts)} == {body}


def test_a_server_without_answer_prepares_nothing(device):
    done = Script(prepare(device.client, 1, server=SERVER), lambda *_: None)
    assert done.outcome is Outcome.EXPIRED
    assert sum(done.waits) <= 30
    assert device.state == State()


def test_not_this_persons_turn(make_parties):
    parties = make_parties(participation={"model": "divide", "groups": 2})
    device, key = Device(parties, group=1), parties.open(0)
    assert asked_by_query(device, key, 3) is Outcome.ABSENT
    assert device.client.due() is None


def asked_by_query(device, key, value):
    """Prepare a report of a plan whose rounds ask by query."""
    parties = device.parties

    def answer(step, _):
        if "/rounds/" in step.url:
            return Response(200, parties.rounds(key)[0])
        return Response(200, parties.key_list(key).to_bytes())

    return Script(prepare(device.client, value, server=SERVER), answer).outcome


@pytest.mark.parametrize("back", [1.0, HALF, 86_400.0, START])
def test_a_clock_that_was_set_back_delays_by_no_more_than_was_drawn(parties, keys, back):
    device = Device(parties)
    delay = device.prepare(keys).due - START
    device.now = START - back
    device.restart()
    assert device.client.due() == pytest.approx(delay)
    device.now += delay / 2
    assert device.client.due() == pytest.approx(delay / 2)
    assert device.deliver(keys, ACCEPTED).outcome is Outcome.WAITING
    device.now += delay / 2 + 1e-3
    assert device.deliver(keys, ACCEPTED).outcome is Outcome.ACCEPTED


def test_a_clock_that_was_set_far_forward_loses_nothing(device, keys):
    device.prepare(keys)
    device.now = START + 1e9
    assert device.client.due() == 0
    assert device.deliver(keys, ACCEPTED).outcome is Outcome.ACCEPTED


def test_the_time_is_drawn_before_the_value_is_looked_at(make_parties):
    """A function that takes long for one answer does not move the time of sending."""
    parties = make_parties(participation={"model": "divide", "groups": 2})
    key, times = parties.open(1), []
    for seconds in (0.0, 5_000.0):
        device = Device(parties, group=1, insecure_seed=7)

        def look(_, device=device, seconds=seconds):
            device.now += seconds
            return 3

        times.append(asked_by_query(device, key, look).due)
    assert times[0] == times[1]
    assert device.now == START + 5_000


def refusing(parties, keys):
    def answer(step, _):
        if isinstance(step, Get):
            return Response(200, keys())
        return Response(409, parties.refusal(step.headers["Croupier-Batch"], step.body).to_bytes())

    return answer


def test_a_signed_refusal_makes_it_due_again_once(make_parties):
    parties = make_parties(collection={"rounds": 5})
    lists = [parties.key_list(parties.open(number)).to_bytes() for number in range(3)]
    device = Device(parties)
    device.now = device.prepare(lists[0]).due
    first = device.sealed
    again = Script(deliver(device.client, server=SERVER), refusing(parties, lambda: lists[1]))
    assert again.outcome is Outcome.WAITING
    second = device.sealed
    assert second.batch != first.batch
    assert 0 <= second.due - device.now < HALF
    device.now = second.due
    last = Script(deliver(device.client, server=SERVER), refusing(parties, lambda: lists[2]))
    assert last.outcome is Outcome.CLOSED
    assert len({post.headers["Croupier-Batch"] for post in (*again.posts, *last.posts)}) == 2
    assert device.deliver(lists[2], ACCEPTED).outcome is Outcome.NOTHING


def test_after_a_restart_a_closed_batch_ends_it(make_parties):
    """Only sealed bytes are stored, and they are of one batch."""
    parties = make_parties(collection={"rounds": 5})
    lists = [parties.key_list(parties.open(number)).to_bytes() for number in range(2)]
    device = Device(parties)
    device.now = device.prepare(lists[0]).due
    device.restart()
    done = Script(deliver(device.client, server=SERVER), refusing(parties, lambda: lists[1]))
    assert done.outcome is Outcome.CLOSED
    assert device.deliver(lists[1], ACCEPTED).outcome is Outcome.NOTHING


def test_an_unsigned_refusal_is_an_alarm_and_loses_nothing(device, keys):
    device.now = device.prepare(keys).due
    with pytest.raises(UntrustedError):
        device.deliver(keys, Response(409, b"{}"))
    assert device.deliver(keys, ACCEPTED).outcome is Outcome.ACCEPTED


def test_a_closed_batch_without_a_refusal_ends_it(device, keys):
    device.now = device.prepare(keys).due
    gone = Response(410, b'{"error":"The batch is closed.","schema_version":1}')
    assert device.deliver(keys, gone).outcome is Outcome.CLOSED
    assert device.deliver(keys, ACCEPTED).outcome is Outcome.NOTHING


def test_a_report_that_waits_for_an_open_batch_is_not_replaced(make_parties):
    parties = make_parties(collection={"rounds": 5})
    first, second = parties.open(0), parties.open(1)
    device = Device(parties)
    made = device.prepare(parties.key_list(first).to_bytes())
    assert device.prepare(parties.key_list(first, second).to_bytes()) == made
    replaced = device.prepare(parties.key_list(second).to_bytes())
    assert (replaced.round_number, replaced.is_replacing) == (1, True)
    device.now = replaced.due
    assert device.deliver(b"", ACCEPTED).outcome is Outcome.ACCEPTED


def test_a_conversation_that_sends_a_prepared_report_delivers_it(device, keys):
    device.prepare(keys)
    steps = converse(device.client, 7, server=SERVER)
    assert Script(steps, answering(keys, ACCEPTED)).outcome is Outcome.ACCEPTED
    assert device.deliver(keys, ACCEPTED).outcome is Outcome.NOTHING


def test_a_report_that_a_conversation_left_can_be_prepared(device, keys):
    steps = converse(device.client, 1, server=SERVER)
    assert Script(steps, answering(keys, None)).outcome is Outcome.EXPIRED
    body = device.sealed.body
    device.now = device.prepare(keys, value=7).due
    assert [post.body.hex() for post in device.deliver(keys, ACCEPTED).posts] == [body]


def test_memories_of_conversations_are_as_before(device, keys):
    """So that an older client reads them."""
    Script(converse(device.client, 1, server=SERVER), answering(keys, ACCEPTED))
    written = json.loads(device.state.model_dump_json())
    assert set(written["sealed"][device.parties.plan.digest]) == {"round", "batch", "body"}
    assert State.model_validate(written) == device.state


TALK = """
import os, signal, sys
from croupier.client.client import Client
from croupier.client.forward import prepare
from croupier.client.memory import FileState
from croupier.client.conversation import Get, Response, Server
from croupier.plan.plan import Plan
from croupier.protocol import durable

plan, keys, memory, stop = sys.argv[1:]
replaced = durable.replace

def interrupted(path, data, count=[0]):
    replaced(path, data)
    count[0] += 1
    if count[0] == int(stop):
        os.kill(os.getpid(), signal.SIGKILL)

durable.replace = interrupted
client = Client(Plan.load(plan), attribute="emoji", budget=9.0, memory=FileState(memory))
steps = prepare(client, 1, server=Server(url="https://reports.example", credential="letmein"))
next(steps)
try:
    steps.send(Response(200, open(keys, "rb").read()))
except StopIteration:
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_nothing_or_the_whole(parties, keys, tmp_path):
    """After each write of the memory in turn."""
    (tmp_path / "plan.toml").write_text(parties.plan.to_toml())
    (tmp_path / "keys").write_bytes(keys)
    found = []
    for stop in range(1, 5):
        memory = tmp_path / f"memory-{stop}.json"
        names = [tmp_path / "plan.toml", tmp_path / "keys", memory]
        done = subprocess.run(
            [sys.executable, "-c", TALK, *names, str(stop)], check=False, env=os.environ, timeout=60
        )
        assert done.returncode == -signal.SIGKILL
        device = Device(parties, FileState(memory))
        device.now = time.time()
        before = device.state.sealed.get(parties.plan.digest)
        made = device.prepare(keys, value=7)
        assert before is None or before == device.sealed
        device.now = made.due
        assert device.deliver(keys, ACCEPTED).outcome is Outcome.ACCEPTED
        assert device.deliver(keys, ACCEPTED).outcome is Outcome.NOTHING
        assert device.state.spent == {"emoji": [2.0]}
        found.append(before is not None)
    assert found[0] is False
    assert found[-1] is True
