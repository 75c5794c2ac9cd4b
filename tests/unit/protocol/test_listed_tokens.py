"""The issuer's keys in a key list: there exactly if the plan admits by token, and its root's."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.client.mirror import Look, Served
from croupier.errors import UntrustedError
from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.key_list import KeyList
from croupier.protocol.signed_document import canonical, public_half
from tests.unit.parties import Parties

ROOT = Ed25519PrivateKey.generate()
KEYS = [BlindKey(2**2047 + 2 * number + 1) for number in range(3)]


@pytest.fixture(scope="module")
def admitting():
    return Parties(admission={"by": "token", "key": public_half(ROOT)})


def tokens_of(parties, keys=KEYS, **given):
    return TokenKeys.make(parties.plan, first=0, keys=keys, signing_key=ROOT, **given)


def key_list(parties, opening, tokens):
    return KeyList.of(
        parties.plan,
        analyzer=parties.analyzer_key(),
        keys=parties.keys,
        shuffler=(opening,),
        tokens=tokens,
    )


def test_it_is_read_as_it_was_written(admitting):
    made = key_list(admitting, admitting.open(), tokens_of(admitting))
    read = KeyList.verified(made.to_bytes(), admitting.plan)
    assert read == made
    assert read.tokens.key(1) == KEYS[1]


def test_it_must_be_there_exactly_if_the_plan_admits_by_token(admitting, parties):
    without = key_list(admitting, admitting.open(), None)
    with pytest.raises(UntrustedError, match="has no keys of the issuer, unlike the plan"):
        KeyList.verified(without.to_bytes(), admitting.plan)
    superfluous = key_list(parties, parties.open(), tokens_of(admitting))
    with pytest.raises(UntrustedError, match="has keys of an issuer, unlike the plan"):
        KeyList.verified(superfluous.to_bytes(), parties.plan)
    document = json.loads(without.to_bytes()) | {"tokens": None}
    with pytest.raises(UntrustedError, match="impossible entries"):
        KeyList.verified(canonical(document), admitting.plan)


def test_only_the_issuers_root_signs_it(admitting):
    entries = json.loads(tokens_of(admitting).to_bytes())
    del entries["signature"], entries["plan"]
    stranger = TokenKeys.written(
        admitting.plan, signing_key=Ed25519PrivateKey.generate(), **entries
    )
    made = key_list(admitting, admitting.open(), stranger)
    with pytest.raises(UntrustedError, match=r"is not signed by admission\.key of the plan"):
        KeyList.verified(made.to_bytes(), admitting.plan)


def test_a_mirror_finds_a_key_that_was_shown_to_one_person(admitting):
    opening, first = admitting.open(), tokens_of(admitting)
    other = tokens_of(admitting, [KEYS[0], BlindKey(2**2047 + 99), KEYS[2]])
    shown = [key_list(admitting, opening, each).to_bytes() for each in (first, other)]
    served = [Served(f"https://{n}.example", None, body) for n, body in enumerate(shown)]
    found = Look([served]).problems(admitting.plan, [])
    assert "The list of the issuer's keys has 2 different versions 1." in found
    assert "Round 1 has 2 different keys of the issuer." in found
    assert not any("one address may be behind" in problem for problem in found)
    longer = tokens_of(admitting, [*KEYS, BlindKey(2**2047 + 99)], earlier=first)
    again = key_list(admitting, opening, longer).to_bytes()
    agreed = Look([[Served("https://0.example", None, again)]])
    assert agreed.problems(admitting.plan, [shown[0]]) == []
