"""The explorer in a notebook answers the same questions through messages."""

# ruff: noqa: SLF001 - a notebook calls these

import threading

import pytest

from croupier.errors import MissingExtraError
from croupier.explorer import widget as module
from croupier.plan.plan import Plan

PLAN = Plan.from_toml("""
schema = 2
randomizer = {mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}
population.enrolled = 9_000
protections.minimum_batch = 1_000
""")


def asked(widget, message):
    """Send a message as a page does, and return what is sent back."""
    found, done = [], threading.Event()

    def send(content):
        found.append(content)
        if content["part"]["part"] == "end":
            done.set()

    widget.send = send
    widget._asked(widget, message, [])
    assert done.wait(30)
    return found


def test_answers_are_those_of_the_page():
    pytest.importorskip("anywidget")
    widget = PLAN.explore()
    change = {"control": "minimum_batch", "value": 2_000}
    found = asked(widget, {"id": 7, "verb": "state", "body": {"changes": [change]}})
    assert {each["id"] for each in found} == {7}
    assert found[0]["part"]["part"] == "plan"
    assert widget.plan.protections.minimum_batch == 2_000
    assert "render" in widget._esm
    assert ".croupier-explorer" in widget._css


def test_a_message_that_is_taken_back_is_not_answered():
    pytest.importorskip("anywidget")
    widget, found = PLAN.explore(), []
    widget.send = found.append
    widget._asked(widget, {"id": 1, "verb": "abort"}, [])
    widget._answer({"id": 1, "verb": "state", "body": {}})
    assert not found


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="notebook"):
        PLAN.explore()
