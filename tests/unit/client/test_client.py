"""What leaves a client: once, of one length, within the budget, for keys that the plan's sign."""

import json
import logging
import threading
import traceback

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from croupier.client.client import Client
from croupier.client.memory import BudgetError, FileState, MemoryState, StateError
from croupier.errors import CroupierError, DataError, ParameterError, SealError, UntrustedError
from croupier.model.randomizer import Randomizer
from croupier.numerics.keystream import Keystream
from croupier.protocol.query import Round

PRIVATE = "zebra-crossing"
LABELS = {"mechanism": "k-rr", "labels": ["no", "yes", PRIVATE], "max_epsilon_local": 2.0}
HASHING = {"mechanism": "local-hashing", "k": 50, "max_epsilon_local": 2.0}


def client(parties, **given):
    given = {"attribute": "emoji", "budget": 100.0, "memory": MemoryState()} | given
    return Client(parties.plan, **given)


def rounds(parties, count):
    return [parties.open(number) for number in range(count)]


def served(parties, key):
    """What server and mirrors serve when one round is open."""
    return {"key_list": parties.key_list(key).to_bytes(), "rounds": parties.rounds(key)}


def refused(parties, submission):
    """The shuffler's word that a submission was not accepted, and how it was sent."""
    word = parties.refusal(submission.batch, submission.body)
    return {"refusal": word.to_bytes(), "authorization": "Bearer letmein"}


def taken(parties, person, keys, value=1):
    """What a person sends, round by round: the report, "null", or None for nothing."""
    sent = []
    for key in keys:
        submission = person.report(value, **served(parties, key))
        if submission is None:
            sent.append(None)
        else:
            report = parties.read(submission.body, key).report
            sent.append("null" if report is None else report)
    return sent


def test_a_report_reaches_the_analyzer(parties):
    key = parties.open()
    submission = client(parties).report(7, key_list=parties.key_list(key).to_bytes())
    assert (submission.plan, submission.batch) == (parties.plan.digest, key.batch)
    assert parties.read(submission.body, key).report in range(10)


def test_a_retry_sends_the_same_bytes_whatever_the_value_is_by_then(parties):
    person, keys = client(parties), parties.key_list(parties.open()).to_bytes()
    first = person.report(1, key_list=keys)
    for value in (1, 9, "no value at all", None):
        assert person.report(value, key_list=keys).body == first.body


def test_the_memory_survives_a_restart_and_holds_no_value(make_parties, tmp_path):
    parties = make_parties(randomizer=LABELS)
    keys = parties.key_list(parties.open()).to_bytes()
    path = tmp_path / "memory.json"
    first = client(parties, memory=FileState(path)).report(PRIVATE, key_list=keys)
    again = client(parties, memory=FileState(path)).report("no", key_list=keys)
    assert again.body == first.body
    state = json.loads(path.read_text())
    assert set(state) == {"schema_version", "listed", "sealed", "joined", "resent", "spent"}
    assert state["sealed"][parties.plan.digest] == {
        "round": 0,
        "batch": first.batch,
        "body": first.body.hex(),
    }
    assert state["resent"] == {}
    assert PRIVATE not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0


def test_two_processes_of_one_person_randomise_once(parties, tmp_path):
    keys = parties.key_list(parties.open()).to_bytes()
    bodies = []

    def run(value):
        person = client(parties, memory=FileState(tmp_path / "memory.json"))
        bodies.append(person.report(value, key_list=keys).body)

    threads = [threading.Thread(target=run, args=(value,)) for value in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bodies) == 8
    assert len(set(bodies)) == 1


@pytest.mark.parametrize("text", ["", "{}x", '{"schema_version": 1, "value": 3}', "[]"])
def test_a_damaged_memory_is_not_a_fresh_start(parties, tmp_path, text):
    path = tmp_path / "memory.json"
    path.write_text(text)
    with pytest.raises(StateError, match=r"memory\.json"):
        client(parties, memory=FileState(path)).report(
            1, key_list=parties.key_list(parties.open()).to_bytes()
        )
    assert path.read_text() == text


@settings(max_examples=25)
@given(data=st.data())
def test_lengths_and_counts_do_not_depend_on_the_person(make_parties, data):
    """Every value, draw and round: as many messages, each of as many bytes."""
    model = data.draw(st.sampled_from(["rectified-multinomial", "rectified-bins"]))
    own = {"weights": [1, 2, 3]} if model.endswith("multinomial") else {"bins": [[1, 2, 3]]}
    parties = make_parties(
        randomizer=HASHING, participation={"model": model, **own}, collection={"rounds": 2}
    )
    keys = rounds(parties, 6)
    shapes = set()
    for value in data.draw(st.lists(st.integers(0, 49), min_size=2, max_size=4)):
        person = client(parties)
        sent = [person.report(value, **served(parties, key)) for key in keys]
        shapes.add(tuple(len(submission.body) for submission in sent))
    assert shapes == {(128,) * 6}


def test_a_rectified_person_answers_once_and_sends_nulls_elsewhere(make_parties):
    parties = make_parties(participation={"model": "rectified-multinomial", "weights": 5})
    keys = rounds(parties, 5)
    answered = set()
    for _ in range(30):
        sent = taken(parties, client(parties), keys)
        (place,) = [number for number, report in enumerate(sent) if report != "null"]
        answered.add(place)
    assert answered == set(range(5))


def test_an_unrectified_person_is_seen_in_one_round_only(make_parties):
    parties = make_parties(participation={"model": "multinomial", "weights": 5})
    sent = taken(parties, client(parties), rounds(parties, 5))
    assert sum(report is not None for report in sent) == 1


def test_bins_and_groups(make_parties):
    parties = make_parties(participation={"model": "rectified-bins", "bins": [2, 3]})
    sent = taken(parties, client(parties, group=1), rounds(parties, 5))
    assert sent[:2] == [None, None]
    assert sum(report == "null" for report in sent) == 2
    parties = make_parties(participation={"model": "divide", "groups": 3})
    sent = taken(parties, client(parties, group=1), rounds(parties, 3))
    assert [report is None for report in sent] == [True, False, True]


def test_the_turn_is_drawn_once_a_collection(make_parties, tmp_path):
    participation = {"model": "rectified-multinomial", "weights": 4}
    parties = make_parties(participation=participation, collection={"rounds": 2})
    keys = rounds(parties, 8)
    memory = FileState(tmp_path / "memory.json")
    sent = [taken(parties, client(parties, memory=memory), [key])[0] for key in keys]
    assert sum(report != "null" for report in sent[:4]) == 1
    assert sum(report != "null" for report in sent[4:]) == 1


def test_a_list_of_an_earlier_collection_draws_no_turn_again(make_parties):
    """Else whoever replays one could have a person answer twice, and pay each time."""
    plan = {"participation": {"model": "multinomial", "weights": 2}, "collection": {"rounds": 8}}
    parties = make_parties(**plan)
    keys = rounds(parties, 3)
    people = [client(parties) for _ in range(60)]
    absent = [each for each in people if each.report(1, **served(parties, keys[2])) is None]
    assert absent, "with a chance of 1 in 10^18"
    for person in absent:
        with person.memory.update() as state:
            before = state.model_dump_json()
        with pytest.raises(UntrustedError, match="offers a round that has passed"):
            person.report(1, **served(parties, keys[1]))
        with person.memory.update() as state:
            assert state.model_dump_json() == before


@pytest.mark.parametrize(("seconds", "back"), [(0, 0), (3, 0), (300, 0), (3, 1_000)])
def test_finding_the_value_takes_its_time_from_the_delay(make_parties, seconds, back):
    """It may take longer for one value than for another: the report is sent at the drawn time."""
    parties = make_parties(participation={"model": "divide", "groups": 2})
    now, key = [1_800_000_000.0], parties.open()
    given = {"group": 0, "clock": lambda: now[0], "spread": 60.0}

    def slow(_question):
        now[0] += seconds - back
        return 1

    def delay(value):
        person = client(parties, rng=Keystream(insecure_seed=5), **given)
        return person.report(value, **served(parties, key)).delay

    drawn = delay(1)
    assert drawn > 3
    assert delay(slow) == pytest.approx(drawn if back else max(0, drawn - seconds))


def test_turn_and_time_do_not_depend_on_the_value(make_parties):
    """With the same coins, another value changes neither the round nor the delay."""
    parties = make_parties(participation={"model": "rectified-multinomial", "weights": 4})
    keys = rounds(parties, 4)

    def seen(value):
        person = client(parties, rng=Keystream(insecure_seed=11), clock=lambda: 0.0)
        sent = [person.report(value, **served(parties, key)) for key in keys]
        reports = [
            parties.read(entry.body, key).report for entry, key in zip(sent, keys, strict=True)
        ]
        return [report is None for report in reports], sent[0].delay

    assert all(seen(value) == seen(0) for value in range(1, 10))


def test_sending_times_are_uniform_over_half_a_round(parties, alarm):
    person, keys = client(parties), parties.key_list(parties.open()).to_bytes()
    delays = np.array([person.report(1, key_list=keys).delay for _ in range(3000)]) / 43_200
    assert delays.min() >= 0
    assert delays.max() < 1
    assert kstest(delays, "uniform").pvalue > alarm
    assert kstest(delays**1.5, "uniform").pvalue < alarm


def test_another_spread(parties):
    keys = parties.key_list(parties.open()).to_bytes()
    assert client(parties, spread=0.0).report(1, key_list=keys).delay == 0
    for spread in (-1.0, 90_000.0, float("nan")):
        with pytest.raises(ParameterError, match="spread"):
            client(parties, spread=spread)


def test_every_round_has_a_fresh_hash(make_parties):
    parties = make_parties(randomizer=HASHING, collection={"rounds": 20})
    sent = taken(parties, client(parties), rounds(parties, 20))
    assert len({int(report[0]) for report in sent}) == 20


def test_reused_noise_is_one_report_in_fresh_envelopes(make_parties, tmp_path):
    parties = make_parties(
        randomizer=HASHING, participation={"noise": "reused"}, collection={"rounds": 5}
    )
    keys = rounds(parties, 5)
    memory = FileState(tmp_path / "memory.json")
    persons = [client(parties, memory=memory, budget=2.0) for _ in keys]
    bodies = [
        person.report(value, key_list=parties.key_list(key).to_bytes()).body
        for value, (person, key) in enumerate(zip(persons, keys, strict=True))
    ]
    reports = [
        parties.read(body, key).report.tolist() for body, key in zip(bodies, keys, strict=True)
    ]
    assert len(set(bodies)) == 5
    assert all(report == reports[0] for report in reports)


def test_a_person_joins_as_often_as_the_plan_says(make_parties):
    parties = make_parties(collection={"rounds": 2})
    person = client(parties)
    taken(parties, person, rounds(parties, 2))
    with pytest.raises(ParameterError, match="2 rounds"):
        taken(parties, person, [parties.open(2)])


def test_the_budget_of_an_attribute_spans_plans(make_parties, tmp_path, monkeypatch):
    path = tmp_path / "memory.json"
    for _ in range(2):
        parties = make_parties()
        keys = parties.key_list(parties.open()).to_bytes()
        client(parties, memory=FileState(path), budget=4.0).report(1, key_list=keys)
    parties = make_parties()
    keys = parties.key_list(parties.open()).to_bytes()
    before = json.loads(path.read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr(Randomizer, "randomize", lambda *_, **__: pytest.fail("randomised"))
        with pytest.raises(BudgetError, match="emoji may cost 4 nats in all; 4 are spent"):
            client(parties, memory=FileState(path), budget=4.0).report(1, key_list=keys)
    after = json.loads(path.read_bytes())
    assert after.pop("listed").keys() - before.pop("listed").keys() == {parties.plan.digest}
    assert after == before, "only the list of keys was seen"
    other = client(parties, memory=FileState(path), budget=4.0, attribute="location")
    assert other.report(1, key_list=keys) is not None


def test_a_collection_is_paid_for_when_it_is_joined(make_parties):
    """Running out in the drawn round only would show which round it is."""
    participation = {"model": "rectified-multinomial", "weights": 4}
    parties = make_parties(participation=participation, collection={"rounds": 3})
    keys = rounds(parties, 12)
    for _ in range(10):
        person = client(parties, budget=4.0)
        assert None not in taken(parties, person, keys[:8])
        with pytest.raises(BudgetError):
            taken(parties, person, keys[8:9])


@pytest.mark.parametrize("budget", [-1.0, float("inf"), float("nan")])
def test_budgets_that_cannot_be(parties, budget):
    with pytest.raises(ParameterError, match="budget"):
        client(parties, budget=budget)


def test_keys_that_the_plan_does_not_name_are_not_sealed_to(parties, make_parties):
    stranger = make_parties()
    for keys in (stranger.key_list(stranger.open()).to_bytes(), b"{}", b""):
        with pytest.raises(UntrustedError):
            client(parties).report(1, key_list=keys)


def test_a_list_for_one_person_only_is_noticed(parties):
    """Both are signed by the shuffler; only the comparison tells."""
    everybody, one = (parties.key_list(parties.open()).to_bytes() for _ in range(2))
    with pytest.raises(UntrustedError, match="every mirror"):
        client(parties).report(1, key_list=one, mirrors=[everybody])
    assert client(parties).report(1, key_list=everybody, mirrors=[everybody]) is not None


def test_a_second_batch_of_a_round_gets_the_bytes_of_the_first(parties):
    """Without a signed refusal nothing is sealed again, whatever is offered."""
    person = client(parties)
    first = person.report(1, key_list=parties.key_list(parties.open(0)).to_bytes())
    second = person.report(1, key_list=parties.key_list(parties.open(0)).to_bytes())
    assert (second.batch, second.body) == (first.batch, first.body)


def test_a_round_that_has_passed_is_not_answered(make_parties):
    parties = make_parties(collection={"rounds": 9})
    early, late = rounds(parties, 2)
    person = client(parties)
    taken(parties, person, [late])
    with pytest.raises(UntrustedError, match="passed"):
        taken(parties, person, [early])
    with pytest.raises(ParameterError, match="open round"):
        person.report(1, key_list=parties.key_list(late).to_bytes(), round_number=7)
    with pytest.raises(ParameterError, match="open round"):
        person.report(1, key_list=parties.key_list().to_bytes())


def test_a_signed_refusal_lets_the_same_report_be_sealed_again(make_parties):
    parties = make_parties(randomizer=HASHING, collection={"rounds": 2})
    first, second = rounds(parties, 2)
    person = client(parties, budget=2.0)
    lost = person.report(1, key_list=parties.key_list(first).to_bytes())
    keys = parties.key_list(second).to_bytes()
    again = person.reseal(lost, **refused(parties, lost), key_list=keys)
    assert again.batch == second.batch
    assert again.body != lost.body
    report, before = parties.read(again.body, second), parties.read(lost.body, first)
    assert report.report.tolist() == before.report.tolist()
    assert report.inner != before.inner
    assert person.report(5, key_list=keys).body == again.body
    with pytest.raises(UntrustedError, match="passed"):
        person.report(5, key_list=parties.key_list(first).to_bytes())
    with pytest.raises(BudgetError):
        person.report(5, key_list=parties.key_list(parties.open(2)).to_bytes())


def test_without_a_refusal_of_this_batch_nothing_is_sealed_again(parties, make_parties):
    first, second = parties.open(0), parties.open(1)
    person = client(parties)
    lost = person.report(1, key_list=parties.key_list(first).to_bytes())
    another = client(parties).report(1, key_list=parties.key_list(first).to_bytes())
    keys = parties.key_list(second).to_bytes()
    stranger = make_parties()
    for refusal in (
        b"",
        b"not accepted",
        stranger.refusal(first.batch, lost.body).to_bytes(),
        parties.refusal(second.batch, lost.body).to_bytes(),
        parties.refusal(first.batch, another.body).to_bytes(),
        parties.refusal(first.batch, lost.body, "Bearer somebody else").to_bytes(),
        first.to_bytes(),
    ):
        offered = refused(parties, lost) | {"refusal": refusal}
        with pytest.raises(UntrustedError):
            person.reseal(lost, **offered, key_list=keys)


def test_a_lost_round_of_a_drawn_turn_stays_lost(make_parties):
    """In another round another question is asked, and a null there would be missed."""
    parties = make_parties(participation={"model": "rectified-multinomial", "weights": 3})
    first, second = rounds(parties, 2)
    person = client(parties)
    lost = person.report(1, **served(parties, first))
    later, same = parties.key_list(second), parties.key_list(parties.open(0))
    refusal = refused(parties, lost)
    assert person.reseal(lost, **refusal, key_list=later.to_bytes()) is None
    again = person.reseal(lost, **refusal, key_list=same.to_bytes())
    assert again.round_number == 0
    parties.read(again.body, same.shuffler[0])


def test_after_a_restart_the_report_is_no_longer_known(parties, tmp_path):
    memory = FileState(tmp_path / "memory.json")
    key = parties.open()
    lost = client(parties, memory=memory).report(1, key_list=parties.key_list(key).to_bytes())
    keys = parties.key_list(parties.open(1)).to_bytes()
    again = client(parties, memory=memory)
    assert again.reseal(lost, **refused(parties, lost), key_list=keys) is None


def test_a_place_in_the_public_file_reaches_the_shuffler(make_parties):
    groups = {"sha256": "ab" * 32, "sensitivity": 16}
    parties = make_parties(shuffling={"order": "mallows", "alpha": 4.0, "groups": groups})
    key = parties.open()
    keys = parties.key_list(key).to_bytes()
    submission = client(parties, owner=41).report(1, key_list=keys)
    assert parties.read(submission.body, key).owner == 41
    with pytest.raises(ParameterError, match="owner"):
        client(parties).report(1, key_list=keys)


class Strange:
    """A value whose every text is the secret."""

    def __repr__(self):
        return PRIVATE

    def __array__(self, *_, **__):
        raise TypeError(PRIVATE)


@pytest.mark.parametrize(
    "value",
    [PRIVATE, [PRIVATE], {PRIVATE: 1}, 10, -3, 2.5, None, float("nan"), Strange()],
    ids=type,
)
def test_no_value_is_logged_or_raised(parties, caplog, capfd, value):
    caplog.set_level(logging.DEBUG)
    keys = parties.key_list(parties.open()).to_bytes()
    memory = MemoryState()
    with pytest.raises(CroupierError) as refused:
        client(parties, memory=memory).report(value, key_list=keys)
    shown = "".join(traceback.format_exception(refused.value))
    texts = [str(refused.value), caplog.text, *capfd.readouterr(), shown]
    assert isinstance(refused.value, DataError | ParameterError)
    for text in texts:
        assert PRIVATE not in text
        assert "2.5" not in text
    assert refused.value.__cause__ is None
    assert client(parties, memory=memory).report(3, key_list=keys) is not None


def test_a_value_that_does_not_fit_is_refused_in_every_round(make_parties):
    parties = make_parties(participation={"model": "rectified-multinomial", "weights": 4})
    person = client(parties)
    for key in rounds(parties, 4):
        with pytest.raises(DataError):
            person.report(10, **served(parties, key))


def adaptive(make_parties):
    return make_parties(participation={"model": "divide", "groups": 2})


def test_an_adaptive_round_asks_what_the_analyzer_signed(make_parties):
    parties, asked = adaptive(make_parties), []
    key = parties.open()

    def answer(question):
        asked.append(question)
        return 7

    submission = client(parties, group=0).report(answer, **served(parties, key))
    assert asked == ["crashed since build 4711?"]
    assert parties.read(submission.body, key).report in range(10)
    other = parties.query(0, "another question")
    parties.query = lambda _number: other
    with pytest.raises(SealError):
        parties.read(submission.body, key)


def test_nothing_is_answered_that_is_not_signed_for_this_round_and_everybody(make_parties):
    parties, stranger = adaptive(make_parties), adaptive(make_parties)
    key = parties.open()
    keys = parties.key_list(key).to_bytes()
    (good,) = parties.rounds(key)
    another = Round.of(shuffler=key, query=parties.query(0, "only you")).to_bytes()
    later = Round.of(shuffler=key, query=parties.query(1)).to_bytes()
    foreign = Round.of(shuffler=key, query=stranger.query(0)).to_bytes()
    bare = Round.of(shuffler=key, query=None).to_bytes()
    elsewhere = Round.of(shuffler=parties.open(), query=parties.query(0)).to_bytes()
    for rounds_served in ([], [b"{}"], [later], [foreign], [bare], [elsewhere], [good, another]):
        with pytest.raises(UntrustedError):
            client(parties, group=0).report(
                lambda _: pytest.fail("answered"), key_list=keys, rounds=rounds_served
            )


def test_a_question_that_fails_tells_nothing_of_the_value(make_parties):
    parties = adaptive(make_parties)

    def answer(_):
        raise KeyError(PRIVATE)

    with pytest.raises(DataError) as refused:
        client(parties, group=0).report(answer, **served(parties, parties.open()))
    assert PRIVATE not in "".join(traceback.format_exception(refused.value))


def test_a_memory_may_be_named_by_a_text(parties, tmp_path):
    keys, path = parties.key_list(parties.open()).to_bytes(), tmp_path / "memory.json"
    first = client(parties, memory=FileState(str(path))).report(1, key_list=keys)
    assert client(parties, memory=FileState(path)).report(1, key_list=keys).body == first.body
