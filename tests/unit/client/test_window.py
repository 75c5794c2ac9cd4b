"""A window allows so many answers: the published histories, replayed and written a second time."""

import json
import runpy
from pathlib import Path

import pytest

from croupier.client.memory import BudgetError, State
from croupier.client.window import CollectionWindow, Moment

FOLDER = Path(__file__).parents[2] / "vectors"
TEXT = (FOLDER / "windows.json").read_text(encoding="utf-8")
HISTORIES = json.loads(TEXT)["histories"]


def test_an_answer_that_counts_no_more_is_not_counted_from_a_later_round_on():
    own = {"every": 60.0, "length": 60.0, "answers": 1}
    window, other = CollectionWindow(plan="a", **own), CollectionWindow(plan="b", **own)
    state, costs = State(), {"cost": 1.0, "budget": 9.0}
    assert window.joins(state, "x", now=Moment(round=0, clock=0.0), **costs)
    assert window.move(state, Moment(round=0, clock=1.0))
    for number in (5, 6):
        other.pass_time(state, Moment(round=number, clock=60.0 * number))
    assert not window.move(state, Moment(round=1, clock=360.0))


def test_the_file_is_what_the_second_implementation_writes():
    assert runpy.run_path(str(FOLDER / "make_windows.py"))["text"]() == TEXT


def window_of(history, name):
    own = history["plans"][name]
    kept = {key: own[key] for key in ("every", "answers", "is_permanent")}
    return CollectionWindow(plan=name, length=own["window"], **kept)


def looked(history, state, step):
    """Who answers in one step; the memory is written down and read again, as by a restart."""
    if step[0] == "move":
        _, name, number, clock, _ = step
        window_of(history, name).move(state, Moment(round=number, clock=clock))
        return None
    name, attribute, number, clock, _ = step
    own, (nats, chance) = history["plans"][name], history["budgets"][attribute]
    window, now = window_of(history, name), Moment(round=number, clock=clock)
    costs = {"cost": own["epsilon"], "delta": own["delta"], "budget": nats, "budget_delta": chance}
    if window.length is not None:
        return window.joins(state, attribute, now=now, **costs)
    window.pass_time(state, now)
    try:
        state.charge(attribute, **costs)
    except BudgetError:
        return None
    return True


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history["history"])
def test_a_published_history(history):
    text = State().model_dump_json()
    answers = []
    for step in history["steps"]:
        state = State.model_validate_json(text)
        answers.append(looked(history, state, step))
        text = state.model_dump_json()
    assert answers == [step[-1] for step in history["steps"]]
    kept = State.model_validate_json(text)
    written = {"answered": {}, "spent_delta": {}} | json.loads(text)
    assert {name: written[name] for name in history["memory"]} == history["memory"]
    assert kept.model_dump_json() == text
