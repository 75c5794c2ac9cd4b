"""What is said about who can tell which envelopes are whose."""

import pytest

from croupier.documents.explain.senders import (
    admission,
    in_short,
    linked_reports,
    own_envelope,
    own_report,
)
from croupier.plan.plan import Plan

PLAN = Plan.from_toml("""
schema = 2
randomizer = {mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}
population.enrolled = 1000
protections.minimum_batch = 1000
""")
TOKEN, RELAY = {"admission__by": "token"}, {"admission__relay": "Example Relay"}


@pytest.mark.parametrize("say", [own_envelope, linked_reports, own_report])
def test_only_tokens_through_a_relay_leave_the_sender_unknown(say):
    """By credential somebody is known whatever the relay does; by token, by the address."""
    credential, through, token, both = (
        say(PLAN.replace(**given)) for given in ({}, RELAY, TOKEN, TOKEN | RELAY)
    )
    assert credential == through
    assert "relay" not in credential + token
    assert "address" in token
    assert "relay helps" in both


@pytest.mark.parametrize("given", [{}, RELAY, TOKEN, TOKEN | RELAY])
def test_the_page_says_who_learns_what_of_senders(given):
    said = admission(PLAN.replace(**given))
    assert ("pseudonym" in said) == ("admission__by" not in given)
    assert ("can invent people" in said) == ("admission__by" in given)
    assert ("The shuffler sees the addresses of devices." in said) == (
        "admission__relay" not in given
    )
    assert ("together they see who sent which envelope" in said) == ("admission__relay" in given)


def test_in_short_nothing_is_said_where_nothing_is_hidden():
    assert not in_short(PLAN)
    hidden = [in_short(PLAN.replace(**given)) for given in (RELAY, TOKEN, TOKEN | RELAY)]
    assert all(hidden)
    assert len(set(hidden)) == 3
