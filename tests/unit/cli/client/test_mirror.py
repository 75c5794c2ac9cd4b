"""`croupier mirror` against real servers that show people different keys."""

import os

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.plan.plan import Plan
from croupier.protocol.key_list import AnalyzerKey, KeyList, ShufflerKey
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.query import Query, Round
from croupier.protocol.signed_document import public_half
from croupier.protocol.superseded import SupersededPlan
from croupier.protocol.wire import Epoch
from tests.unit.cli.servers import answering

SIGNERS = {name: Ed25519PrivateKey.generate() for name in ("shuffler", "analyzer")}
RELEASE = Ed25519PrivateKey.generate()
PUBLIC = {name: key.public_key().public_bytes_raw().hex() for name, key in SIGNERS.items()}
DOCUMENT = {
    "schema": 2,
    "randomizer": {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0},
    "population": {"enrolled": 100},
    "protections": {"minimum_batch": 50},
    "guarantee": {"delta": 1e-4},
    "shufflers": [{"key": PUBLIC["shuffler"]}],
    "analyzer": {"key": PUBLIC["analyzer"]},
}
PLAN = Plan.from_document(DOCUMENT)
ADAPTIVE = Plan.from_document(DOCUMENT | {"participation": {"model": "divide", "groups": 2}})


def list_of_keys(plan, version=1, seal="00" * 32):
    """The shuffler's keys by role."""
    release = PublicKeys(role="release", key=public_half(RELEASE))
    intake = PublicKeys(role="intake", key=public_half(RELEASE), seal=seal)
    signer = SIGNERS["shuffler"]
    first = ShufflerKeys.first(plan, release=release, intake=intake, signing_key=signer)
    if version == 1:
        return first
    release = PublicKeys(role="release", key="00" * 32)
    return first.next(plan, release=release, from_round=9, signing_key=signer)


def listed(*numbers, analyzer=None, plan=PLAN):
    """The bytes of a key list of open rounds, for a new or a given key of the analyzer."""
    inner = analyzer or X25519PrivateKey.generate()
    raw = inner.public_key().public_bytes_raw()
    openings = []
    for number in numbers:
        query = bytes(32 if plan.asks_by_query else 0)  # no part of what is served
        epoch = Epoch.of(plan, round_number=number, batch=os.urandom(16), analyzer=raw, query=query)
        outer = X25519PrivateKey.generate()
        opening = ShufflerKey.make(epoch, plan, key=outer, signing_key=RELEASE)
        openings.append(opening)
    key = AnalyzerKey.make(plan, key=inner, signing_key=SIGNERS["analyzer"])
    return KeyList.of(
        plan, analyzer=key, keys=list_of_keys(plan), shuffler=tuple(openings)
    ).to_bytes()


def opened(number=0, analyzer=None):
    return listed(number, analyzer=analyzer)


def serving(*lists, rounds=None, status=200):
    """Serves one list after the other, the last for ever; None is a 404."""
    waiting = list(lists)

    def answer(path):
        if "/rounds/" in path:
            data = (rounds or {}).get(int(path.rpartition("/")[2]))
        else:
            data = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return (404, b"") if data is None else (status, data)

    return answering(answer)


@pytest.fixture
def mirror(croupier, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("croupier.client.mirror._PAUSE", 0.0)
    monkeypatch.setattr("croupier.client.mirror.kept_seconds", lambda _plan: 0)
    (tmp_path / "plan.toml").write_text(PLAN.to_toml())
    return lambda *urls: croupier("mirror", *urls, "--plan", "plan.toml")


def kept(folder):
    return {path.read_bytes() for path in (folder / "key-lists").iterdir()}


def test_addresses_that_serve_the_same_are_the_same(mirror, tmp_path):
    data = opened()
    with serving(data) as first, serving(data) as second:
        found = mirror(first, second)
    assert (found.code, found.err) == (0, "")
    assert found.out == "SAME  2 addresses, round 0 open; 1 kept in key-lists\n"
    assert kept(tmp_path) == {data}


def test_a_list_for_one_network_is_found_and_kept(mirror, tmp_path):
    """Both are signed by the true keys; only a comparison shows it."""
    here, there = opened(), opened()
    with serving(here) as first, serving(there) as second:
        found = mirror(first, second)
    assert found.code == 5
    assert "serve 2 different versions of the key list" in found.err
    assert "Round 0 was opened 2 times" in found.err
    assert kept(tmp_path) == {here, there}


def test_a_round_that_opens_in_between_is_no_difference(mirror):
    before, after = opened(0), opened(1)
    with serving(before, after) as first, serving(after) as second:
        assert mirror(first, second).code == 0


def test_what_was_seen_before_is_compared(mirror, tmp_path):
    """One address alone: a second set of keys for a round that was seen with others."""
    with serving(opened(3)) as url:
        assert mirror(url).code == 0
    with serving(opened(4)) as url:
        assert mirror(url).code == 0
    with serving(opened(3)) as url:
        found = mirror(url)
    assert found.code == 5
    assert "Round 3 was opened 2 times" in found.err
    assert len(kept(tmp_path)) == 3


def test_two_lists_of_keys_of_one_version_are_found(mirror):
    """The root signed both: each is believed, and together they are evidence."""
    true = KeyList.model_validate_json(opened())
    other = list_of_keys(PLAN, seal="11" * 32)
    assert other.version == true.keys.version
    with serving(true.to_bytes()) as url:
        assert mirror(url).code == 0
    with serving(true.model_copy(update={"keys": other}).to_bytes()) as url:
        found = mirror(url)
    assert found.code == 5
    assert "The list of the shuffler's keys has 2 different versions 1." in found.err
    following = true.model_copy(update={"keys": list_of_keys(PLAN, version=2)})
    with serving(following.to_bytes()) as url:
        assert "different versions 2" not in mirror(url).err


def test_a_second_key_of_the_analyzer_is_not_believed(mirror, tmp_path):
    true = KeyList.model_validate_json(opened())
    second = AnalyzerKey.make(
        PLAN, key=X25519PrivateKey.generate(), signing_key=SIGNERS["analyzer"]
    )
    split = true.model_copy(update={"analyzer": second}).to_bytes()
    with serving(split) as url:
        found = mirror(url)
    assert found.code == 5
    assert "shows another key of the analyzer than its round was opened for" in found.err
    assert kept(tmp_path) == {split}


def test_an_address_without_a_list_is_said(mirror):
    with serving(opened()) as first, serving(None) as second:
        found = mirror(first, second)
    assert found.code == 1
    assert f"{second} has no key list of this plan." in found.err
    assert found.out.startswith("SAME  1 of 2 addresses, round 0 open")


def test_an_address_that_does_not_answer_is_not_counted(mirror, monkeypatch):
    monkeypatch.setattr("croupier.client.mirror._PATIENCE", 0.0)
    with serving(opened()) as url:
        found = mirror(url, "http://127.0.0.1:1")
    assert found.code == 1
    assert found.out.startswith("SAME  1 of 2 addresses, round 0 open")
    assert found.err == "http://127.0.0.1:1 did not answer, or was busy.\n"


@pytest.mark.parametrize("trace", ["another opening", "not to be believed"])
def test_what_was_served_in_any_try_counts(mirror, tmp_path, trace):
    """The addresses agree when they are asked again; what one showed before stays evidence."""
    inner = X25519PrivateKey.generate()
    true = opened(0, inner)
    other = opened(0, inner) if trace == "another opening" else b"<html>"
    with serving(other, true) as first, serving(true) as second:
        found = mirror(first, second)
    assert found.code == 5
    expected = "Round 0 was opened 2 times" if trace == "another opening" else "impossible entries"
    assert expected in found.err
    assert kept(tmp_path) == {true, other}


def test_silence_settles_no_difference(mirror):
    with serving(listed(0)) as first, serving(listed(0, 1), None) as second:
        found = mirror(first, second)
    assert found.code == 5
    assert "serve 2 different versions of the key list" in found.err


@pytest.mark.parametrize("end", ["", "/"])
def test_an_address_is_not_compared_with_itself(mirror, end):
    with serving(opened()) as url:
        found = mirror(url, url + end)
    assert found.code == 2
    assert "compared with itself" in found.err


def test_an_address_may_be_behind(mirror):
    both = KeyList.model_validate_json(listed(0, 1))
    before = both.model_copy(update={"shuffler": both.shuffler[:1]}).to_bytes()
    with serving(both.to_bytes()) as first, serving(before) as second:
        found = mirror(first, second)
    assert found.code == 5
    assert "one address may be behind" in found.err
    with serving(both.to_bytes()) as first, serving(listed(0)) as second:
        assert "may be behind" not in mirror(first, second).err


def asked(data, question, number=0):
    """The document of a round whose opening is in a key list."""
    (opening,) = KeyList.model_validate_json(data).shuffler
    query = Query.make(
        ADAPTIVE, round_number=number, question=question, signing_key=SIGNERS["analyzer"]
    )
    return Round.of(shuffler=opening, query=query).to_bytes()


@pytest.fixture
def adaptive(mirror, tmp_path):  # noqa: ARG001 - writes the plan that this one replaces
    (tmp_path / "plan.toml").write_text(ADAPTIVE.to_toml())
    return listed(0, plan=ADAPTIVE)


def test_one_query_for_everybody_is_the_same(mirror, adaptive, tmp_path):
    question = asked(adaptive, "smokes")
    with (
        serving(adaptive, rounds={0: question}) as first,
        serving(adaptive, rounds={0: question}) as second,
    ):
        found = mirror(first, second)
    assert (found.code, found.err) == (0, "")
    assert kept(tmp_path) == {adaptive, question}


def test_a_second_query_of_a_round_is_found_and_kept(mirror, adaptive, tmp_path):
    """The key lists are the same bytes; who is asked something else can be told apart."""
    here, there = asked(adaptive, "smokes"), asked(adaptive, "smokes since build 4711")
    with (
        serving(adaptive, rounds={0: here}) as first,
        serving(adaptive, rounds={0: there}) as second,
    ):
        found = mirror(first, second)
    assert found.code == 5
    assert "2 different versions of the document of round 0" in found.err
    assert "Round 0 has 2 different signed queries" in found.err
    assert kept(tmp_path) == {adaptive, here, there}


def test_a_query_that_was_seen_before_is_compared(mirror, adaptive):
    with serving(adaptive, rounds={0: asked(adaptive, "smokes")}) as url:
        assert mirror(url).code == 0
    with serving(adaptive, rounds={0: asked(adaptive, "drinks")}) as url:
        found = mirror(url)
    assert found.code == 5
    assert "Round 0 has 2 different signed queries" in found.err


def test_the_document_of_another_round_is_not_believed(mirror, adaptive):
    other = asked(listed(1, plan=ADAPTIVE), "smokes", number=1)
    with serving(adaptive, rounds={0: other}) as url:
        found = mirror(url)
    assert found.code == 5
    assert "is of another round" in found.err


def test_an_address_without_the_round_is_said(mirror, adaptive):
    with (
        serving(adaptive, rounds={0: asked(adaptive, "smokes")}) as first,
        serving(adaptive) as second,
    ):
        found = mirror(first, second)
    assert found.code == 1
    assert f"{second} has no document of round 0 of this plan." in found.err


def test_an_address_that_says_which_plan_took_its_place_is_quoted(mirror, croupier):
    other = Plan.from_document(DOCUMENT | {"guarantee": {"delta": 1e-5}})
    pointer = SupersededPlan.make(PLAN, other, signing_key=SIGNERS["shuffler"]).to_bytes()
    with serving(pointer, status=410) as url:
        found = mirror(url)
        document = croupier("mirror", url, "--plan", "plan.toml", "--json").document
    assert found.code == 1
    assert f"{url} has no key list of this plan. This plan was superseded by plan " in found.err
    assert other.digest[:16] in found.err
    assert document["superseded"] == [other.digest]


def test_a_pointer_that_the_shuffler_did_not_sign_is_not_believed(mirror):
    other = Plan.from_document(DOCUMENT | {"guarantee": {"delta": 1e-5}})
    pointer = SupersededPlan.make(PLAN, other, signing_key=SIGNERS["shuffler"]).to_bytes()
    forged = pointer.replace(other.digest.encode(), b"5e" * 32)
    with serving(forged, status=410) as url:
        found = mirror(url)
    assert found.code == 1
    assert "superseded by plan" not in found.err
    assert "the pointer to the plan's successor" in found.err


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ftp://reports.example", "`URL` must begin with https:// or http://"),
        ("http://reports.example", "`URL` must begin with https://; got"),
    ],
)
def test_only_web_servers_are_asked(mirror, address, said):
    found = mirror(address)
    assert (found.code, said in found.err) == (2, True)
