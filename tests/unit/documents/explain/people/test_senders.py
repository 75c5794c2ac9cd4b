"""What is said about who can tell which envelopes are whose."""

import pytest

from croupier.documents.explain.asked import collection_facts
from croupier.documents.explain.people.senders import (
    admission,
    in_short,
    linked_reports,
    own_envelope,
    own_report,
)
from croupier.documents.explain.summary.answers import Asked, answers
from croupier.plan.file import PlanError
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
    assert "relay" in both


@pytest.mark.parametrize("given", [{}, RELAY, TOKEN, TOKEN | RELAY])
def test_the_page_says_who_learns_what_of_senders(given):
    said = " ".join(admission(PLAN.replace(**given)))
    assert ("pseudonym" in said) == ("admission__by" not in given)
    assert ("can invent people" in said) == ("admission__by" in given)
    assert ("The shuffler sees the addresses of devices." in said) == (
        "admission__relay" not in given
    )
    assert ("together they see who sent which envelope" in said) == ("admission__relay" in given)


@pytest.mark.parametrize("by", ["credential", "token"])
@pytest.mark.parametrize("issuer", ["Acme", "ACME"])
def test_an_issuer_that_also_mixes_is_named(by, issuer):
    """Names that look alike count as one, as everywhere."""
    shufflers = ({"operator": "Acme"},)
    given = {"admission__by": by, "admission__relay": "Example Relay", "shufflers": shufflers}
    one = PLAN.replace(**given, admission__operator=issuer)
    two = PLAN.replace(**given, admission__operator="Office")
    assert "names one operator" in " ".join(admission(one))
    assert "names one operator" not in " ".join(admission(two))
    assert (in_short(one) == in_short(two)) == (by == "credential")
    with pytest.raises(PlanError, match="not be who runs a shuffler"):
        PLAN.replace(shufflers=shufflers, admission__relay=issuer)


@pytest.mark.parametrize(
    ("given", "see"),
    [
        ({}, "The network and the shuffler see that you take part; reports are sealed."),
        (TOKEN, "The issuer, the network and the shuffler see that you take part"),
        (TOKEN | RELAY, "The issuer, the network and the relay, not the shuffler, see that you"),
    ],
)
def test_the_summary_says_who_sees_that_somebody_takes_part(given, see):
    told = answers(PLAN.replace(**given, admission__operator="Office"))
    assert see in " ".join(map(str, told[Asked.LEARNS]))
    trusted = " ".join(map(str, told[Asked.TRUSTED]))
    decides = "Who takes part is decided by the issuer, run by Office."
    assert (decides in trusted) == ("admission__by" in given)


def test_facts_name_who_admits_and_who_relays():
    facts = collection_facts(PLAN.replace(**TOKEN, **RELAY, admission__operator="Office"))
    assert (facts["Who admits"], facts["Relay"]) == ("Office, by token", "Example Relay")
    assert "Relay" not in collection_facts(PLAN)


def test_in_short_nothing_is_said_where_nothing_is_hidden():
    assert not in_short(PLAN)
    hidden = [in_short(PLAN.replace(**given)) for given in (RELAY, TOKEN, TOKEN | RELAY)]
    assert all(hidden)
    assert len(set(hidden)) == 3
