"""A client that is asked every day answers on exactly the days that its budget allows."""

import json
from collections import Counter

import pytest

from croupier.client.client import Client
from croupier.client.conversation import Outcome, Response, converse
from croupier.client.memory import BudgetError, FileState, MemoryState
from croupier.testing import law_p_value

from .script import SERVER, Script, answering

DAY = 86_400
FRESH = {"mechanism": "k-rr", "k": 5, "max_epsilon_local": 2.0}
KEPT = FRESH | {"mechanism": "memoised-k-rr", "max_epsilon_permanent": 6.0}


def daily(make_parties, rounds=30, **tables):
    collection = {"every": "24h", "window": "30d", "rounds": rounds}
    return make_parties(randomizer=FRESH, collection=collection, **tables)


class Device:
    """A person whose clock stands at the hour of a round, and who may be restarted."""

    def __init__(self, parties, *, budget=1000.0, memory=None, **given):
        self.parties, self.now = parties, 0.0
        self.given = {"attribute": "a", "budget": budget, "memory": memory or MemoryState()} | given
        self.restart()

    def restart(self):
        self.client = Client(self.parties.plan, clock=lambda: self.now, **self.given)

    def report(self, day, value=1):
        key = self.parties.open(day)
        submission = self.client.report(value, key_list=self.parties.key_list(key).to_bytes())
        return None if submission is None else self.parties.read(submission.body, key).report

    def days(self, count):
        """The days of so many on which something is sent, restarted every week."""
        answered = []
        for day in range(count):
            self.now = day * DAY + 3600.0 * (day % 24)
            if day % 7 == 0:
                self.restart()
            if self.report(day) is not None:
                answered.append(day)
        return answered


def every_thirty(first, days):
    return [day for day in range(days) if day % 30 < first]


@pytest.mark.parametrize(
    ("randomizer", "rounds", "budget", "first"),
    [(FRESH, 30, 1000.0, 30), (FRESH, 12, 1000.0, 12), (FRESH, 30, 8.0, 4), (KEPT, 10, 6.0, 10)],
    ids=["fresh 30 in 30 days", "fresh 12 in 30 days", "budget of 8 nats", "permanent 10"],
)
def test_four_hundred_days(make_parties, randomizer, rounds, budget, first):
    collection = {"every": "24h", "window": "30d", "rounds": rounds}
    parties = make_parties(randomizer=randomizer, collection=collection)
    answered = Device(parties, budget=budget).days(400)
    assert answered == every_thirty(first, 400)


def test_a_person_who_stays_away_is_absent_and_comes_back(make_parties):
    parties = make_parties(
        randomizer=FRESH, collection={"every": "24h", "window": "3d", "rounds": 1}
    )
    device, outcomes = Device(parties), []
    for day in range(5):
        device.now = day * DAY
        keys = parties.key_list(parties.open(day)).to_bytes()
        script = Script(
            converse(device.client, 1, server=SERVER), answering(keys, Response(202, b""))
        )
        outcomes.append(script.outcome)
        assert len(script.posts) == (script.outcome is Outcome.ACCEPTED)
    away = [Outcome.ABSENT] * 2
    assert outcomes == [Outcome.ACCEPTED, *away, Outcome.ACCEPTED, Outcome.ABSENT]


def test_a_retry_in_the_round_is_no_second_answer(make_parties):
    device = Device(daily(make_parties, rounds=1))
    key = device.parties.open(0)
    served = {"key_list": device.parties.key_list(key).to_bytes()}
    bodies = {device.client.report(value, **served).body for value in (1, 2, 3)}
    assert len(bodies) == 1
    assert device.report(1) is None


def test_a_report_that_is_sealed_again_counts_from_its_round(make_parties):
    parties = make_parties(
        randomizer=FRESH, collection={"every": "24h", "window": "3d", "rounds": 1}
    )
    device = Device(parties)
    sent = device.client.report(1, key_list=parties.key_list(parties.open(0)).to_bytes())
    device.now = DAY
    again = device.client.reseal(
        sent,
        refusal=parties.refusal(sent.batch, sent.body).to_bytes(),
        authorization="Bearer letmein",
        key_list=parties.key_list(parties.open(1)).to_bytes(),
    )
    assert again.round_number == 1
    heard = []
    for day in (2, 3, 4):
        device.now = day * DAY
        heard.append(device.report(day) is not None)
    assert heard == [False, False, True]


def test_the_permanent_answer_survives_and_later_values_do_not_count(make_parties, tmp_path, alarm):
    """Reports are the permanent answer with fresh noise: their law is that of the noise alone."""
    parties = make_parties(
        randomizer=KEPT, collection={"every": "24h", "window": "400d", "rounds": 400}
    )
    memory = FileState(tmp_path / "memory.json")
    device = Device(parties, budget=6.0, memory=memory, insecure_seed=5)
    reports = []
    for day in range(400):
        device.now = day * DAY
        reports.append(device.report(day, value=day % 5))
    kept = json.loads((tmp_path / "memory.json").read_text())
    (answer,) = kept["permanent"].values()
    row = parties.plan.randomizer.instantaneous.channel().probabilities[answer]
    counts = Counter(reports)
    assert law_p_value([counts[value] for value in range(5)], row) > alarm
    assert sum(each["epsilon"] for each in kept["answered"][parties.plan.digest]) == 6.0


def test_a_permanent_answer_is_paid_once_without_a_window(make_parties):
    parties = make_parties(randomizer=KEPT, collection={"rounds": 5})
    device = Device(parties, budget=6.0)
    assert [device.report(day) is not None for day in range(5)] == [True] * 5
    poor = Device(parties, budget=5.0)
    with pytest.raises(BudgetError):
        poor.report(0)
