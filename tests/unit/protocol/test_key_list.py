"""A client believes only what the plan's keys have signed, of this plan, of this kind (C6)."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from croupier.client.client import Client
from croupier.client.memory import MemoryState
from croupier.errors import ParameterError, PolicyError, UntrustedError
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.key_list import AnalyzerKey, KeyList, NotAccepted, PolicyWord, ShufflerKey
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.protocol.signed_document import canonical, is_signed, sign
from croupier.shuffler.http.worker import ServedPlan

SIGNER = Ed25519PrivateKey.generate()
PUBLIC = SIGNER.public_key().public_bytes_raw().hex()


def altered(document, **changes):
    return json.dumps(json.loads(document.to_bytes()) | changes).encode()


def test_what_is_signed_is_believed(parties):
    shuffler, analyzer = parties.open(3), parties.analyzer_key()
    assert ShufflerKey.verified(shuffler.to_bytes(), parties.signers) == shuffler
    assert AnalyzerKey.verified(analyzer.to_bytes(), parties.plan) == analyzer
    listed = parties.key_list(shuffler)
    assert KeyList.verified(listed.to_bytes(), parties.plan) == listed
    assert shuffler.epoch(parties.plan).round_number == 3
    assert analyzer.public_key == parties.inner.public_key()


def test_the_list_is_the_same_bytes_for_everybody(parties):
    shuffler = parties.open()
    assert parties.key_list(shuffler).to_bytes() == parties.key_list(shuffler).to_bytes()
    document = json.loads(parties.key_list(shuffler).to_bytes())
    assert document["plan"].encode() == parties.plan.canonical
    assert set(document) == {"schema_version", "plan", "analyzer", "keys", "shuffler"}
    opening = {"kind", "plan", "round", "batch", "key", "analyzer", "signature"}
    assert set(document["shuffler"][0]) == opening
    listed = {"kind", "plan", "version", "release", "intake", "signature"}
    assert set(document["keys"]) == listed
    assert set(document["analyzer"]) == {"kind", "plan", "key", "signature"}


def test_a_second_key_of_the_analyzer_is_not_believed(parties):
    """The analyzer signs it, and somebody shows it to one person: the opening names the first."""
    opening = parties.open()
    second = AnalyzerKey.make(
        parties.plan, key=X25519PrivateKey.generate(), signing_key=parties.analyzer
    )
    shown = KeyList.of(
        parties.plan, analyzer=second, keys=parties.keys, shuffler=(opening,)
    ).to_bytes()
    with pytest.raises(UntrustedError, match="another key of the analyzer than its round"):
        KeyList.verified(shown, parties.plan)


LOW_ORDER = [bytes(32), b"\1" + bytes(31), (2**255 - 19).to_bytes(32, "little")]


@pytest.mark.parametrize("key", LOW_ORDER, ids=["zero", "one", "p"])
def test_a_key_that_nothing_can_be_sealed_to_is_not_believed(parties, key):
    """Signed all the same: a client would fail while it seals, and `serve` would announce it."""
    opening, analyzer = parties.open(), parties.analyzer_key()
    weak_opening = resigned(opening, parties.release, key=key.hex())
    weak_analyzer = resigned(analyzer, parties.analyzer, key=key.hex())
    for weak, against in ((weak_opening, parties.signers), (weak_analyzer, parties.plan)):
        with pytest.raises(UntrustedError, match="nothing can be sealed to"):
            type(weak).verified(weak.to_bytes(), against)
    shown = [parties.key_list(weak_opening)]
    opened_for_it = resigned(opening, parties.release, analyzer=key.hex())
    shown += [
        KeyList.of(
            parties.plan, analyzer=weak_analyzer, keys=parties.keys, shuffler=(opened_for_it,)
        )
    ]
    for listed in shown:
        client = Client(parties.plan, attribute="emoji", budget=9.0, memory=MemoryState())
        with pytest.raises(UntrustedError, match="nothing can be sealed to"):
            client.report(1, key_list=listed.to_bytes())


def resigned(document, signing_key, **changes):
    entries = json.loads(document.to_bytes()) | changes
    del entries["signature"]
    signed = sign(entries, key=signing_key, purpose="key list")
    return type(document).model_validate_json(canonical(signed))


@pytest.mark.parametrize("version", [1, 3])
def test_another_wire_version_is_refused_by_its_name(parties, version):
    document = json.loads(parties.key_list(parties.open()).to_bytes())
    served = json.dumps(document | {"schema_version": version}).encode()
    with pytest.raises(UntrustedError, match=f"is of wire version {version}"):
        KeyList.verified(served, parties.plan)


def test_the_signature_is_over_the_published_bytes(parties):
    document = json.loads(parties.open().to_bytes())
    signature = bytes.fromhex(document.pop("signature"))
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    parties.release.public_key().verify(signature, b"croupier key list\x00" + text)


@pytest.mark.parametrize(
    "changes",
    [
        {"round": 1},
        {"batch": "00" * 16},
        {"key": "09" + "00" * 31},
        {"analyzer": "09" + "00" * 31},
        {"signature": "00" * 64},
        {"plan": "00" * 32},
        {"kind": "analyzer"},
        {"extra": 1},
        {"round": "0"},
        {"round": -1},
        {"round": 2**31},
        {"round": True},
        {"batch": "AB" * 16},
        {"key": "00" * 31},
        {"signature": None},
    ],
    ids=str,
)
def test_an_altered_document_is_not_believed(parties, changes):
    with pytest.raises(UntrustedError):
        ShufflerKey.verified(altered(parties.open(), **changes), parties.signers)


@pytest.mark.parametrize("name", ["kind", "plan", "round", "batch", "key", "signature"])
def test_a_document_without_an_entry_is_not_believed(parties, name):
    document = json.loads(parties.open().to_bytes())
    del document[name]
    with pytest.raises(UntrustedError, match="missing"):
        ShufflerKey.verified(json.dumps(document).encode(), parties.signers)


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
        lambda value: json.dumps(value).encode()
    )
)
def test_nothing_else_is_believed(data):
    plan = Plan.from_document(
        {
            "schema": 2,
            "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0},
            "population": {"enrolled": 9},
            "protections": {"minimum_batch": 5},
            "shufflers": [{"key": PUBLIC}],
            "analyzer": {"key": PUBLIC},
        }
    )
    for kind in (KeyList, ShufflerKeys, AnalyzerKey):
        with pytest.raises(UntrustedError):
            kind.verified(data, plan)
    with pytest.raises(UntrustedError):
        ShufflerKey.verified(data, Signers.of(plan))
    with pytest.raises(UntrustedError):
        NotAccepted.verified(data, Signers.of(plan), round_number=0)


def judged(parties, **changes):
    """The analyzer's key with a word on the policy, as JSON, and changed after it was signed."""
    word = PolicyWord.on(parties.plan, Judgement.MET)
    signed = AnalyzerKey.make(
        parties.plan, key=parties.inner, signing_key=parties.analyzer, policy=word
    )
    document = json.loads(signed.to_bytes())
    return document | {"policy": document["policy"] | changes}


def test_the_word_on_the_policy_is_signed_and_served(parties):
    document = judged(parties)
    read = AnalyzerKey.verified(canonical(document), parties.plan)
    assert read.to_bytes() == canonical(document)
    assert read.require_policy(parties.plan) == read.policy
    listed = KeyList.of(parties.plan, analyzer=read, keys=parties.keys, shuffler=(parties.open(),))
    assert json.loads(listed.to_bytes())["analyzer"] == document
    assert KeyList.verified(listed.to_bytes(), parties.plan) == listed


@pytest.mark.parametrize(
    "changes",
    [
        {"judgement": "not met"},
        {"judgement": "fine"},
        {"judged": "00" * 32},
        {"despite_policy": True},
        {"despite_policy": 0},
        {"more": 1},
    ],
    ids=str,
)
def test_an_altered_word_on_the_policy_is_not_believed(parties, changes):
    with pytest.raises(UntrustedError):
        AnalyzerKey.verified(canonical(judged(parties, **changes)), parties.plan)


@pytest.mark.parametrize("word", [None, {}, "met"])
def test_a_word_that_is_none_is_not_believed(parties, word):
    with pytest.raises(UntrustedError):
        AnalyzerKey.verified(canonical(judged(parties) | {"policy": word}), parties.plan)
    entries = {"plan": parties.plan.digest, "kind": "analyzer", "key": "09" + "00" * 31}
    signed = sign(entries | {"policy": word}, key=parties.analyzer, purpose="key list")
    with pytest.raises(UntrustedError):
        AnalyzerKey.verified(canonical(signed), parties.plan)


def test_a_key_without_a_word_is_believed_by_clients_and_served_by_nobody(parties, tmp_path):
    plain = parties.analyzer_key()
    assert AnalyzerKey.verified(plain.to_bytes(), parties.plan).policy is None
    with pytest.raises(PolicyError, match="croupier keys sign"):
        plain.require_policy(parties.plan)
    served = ServedPlan(plan=parties.plan, analyzer=tmp_path / "none", shuffler=tmp_path / "none")
    with pytest.raises(PolicyError, match="no statement"):
        served.verified(plain.to_bytes(), b"")


def test_the_other_partys_signature_is_not_believed(parties, make_parties):
    other = make_parties()
    with pytest.raises(ParameterError, match=r"analyzer\.key"):
        AnalyzerKey.make(parties.plan, key=parties.inner, signing_key=parties.shuffler)
    with pytest.raises(UntrustedError, match="another plan"):
        ShufflerKey.verified(other.open().to_bytes(), parties.signers)
    entries = json.loads(parties.open().to_bytes())
    del entries["signature"]
    for stranger in (other.shuffler, other.release, parties.intake, parties.analyzer):
        forged = sign(entries, key=stranger, purpose="key list")
        with pytest.raises(UntrustedError, match="not signed by the shuffler's release key"):
            ShufflerKey.verified(json.dumps(forged).encode(), parties.signers)


def test_a_refusal_is_no_key_list_and_a_key_list_no_refusal(parties):
    """The root may sign both: the purpose keeps them apart."""
    entries = {"kind": "not accepted", "plan": parties.plan.digest, "batch": "00" * 16}
    entries |= {"sent": "00" * 32}
    signed = sign(entries, key=parties.shuffler, purpose="key list")
    with pytest.raises(UntrustedError, match="not signed"):
        NotAccepted.verified(json.dumps(signed).encode(), parties.signers, round_number=0)
    refusal = parties.refusal("00" * 16, b"envelope")
    assert NotAccepted.verified(refusal.to_bytes(), parties.signers, round_number=0) == refusal


def test_each_role_signs_its_own_documents_only(parties):
    """A worker that was broken into can refuse, and can neither open a round nor sign a receipt."""
    refusal = {"kind": "not accepted", "plan": parties.plan.digest, "batch": "00" * 16}
    forged = sign(refusal | {"sent": "00" * 32}, key=parties.release, purpose="refusal")
    with pytest.raises(UntrustedError, match="not signed by the shuffler's intake key of round 3"):
        NotAccepted.verified(canonical(forged), parties.signers, round_number=3)
    with pytest.raises(UntrustedError, match="not signed by the shuffler's release key of round 0"):
        KeyList.verified(
            parties.key_list(parties.open(signing_key=parties.intake)).to_bytes(), parties.plan
        )


def test_two_batches_for_one_round_are_not_believed(parties):
    """Each is signed; together they would split the crowd."""
    listed = parties.key_list(parties.open(0), parties.open(0))
    with pytest.raises(UntrustedError, match="two batches"):
        KeyList.verified(listed.to_bytes(), parties.plan)


@pytest.mark.parametrize("changes", [{"schema_version": "2"}, {"plan": "{}"}, {"more": []}])
def test_an_altered_list_is_not_believed(parties, changes):
    with pytest.raises(UntrustedError):
        KeyList.verified(altered(parties.key_list(parties.open()), **changes), parties.plan)


@pytest.mark.parametrize(
    ("part", "entry", "what"),
    [
        ("analyzer", "key", "the analyzer's key list"),
        ("analyzer", "signature", "the analyzer's key list"),
        ("keys", "release", "the list of the shuffler's keys"),
        ("keys", "signature", "the list of the shuffler's keys"),
        ("shuffler", "key", "the opening of a round"),
        ("shuffler", "signature", "the opening of a round"),
    ],
)
def test_every_part_of_a_list_is_checked(parties, make_parties, part, entry, what):
    """A stranger's key or signature in one place, everything else genuine."""
    genuine, stranger = (
        json.loads(made.key_list(made.open()).to_bytes()) for made in (parties, make_parties())
    )
    place, foreign = genuine[part], stranger[part]
    if part == "shuffler":
        place, foreign = place[0], foreign[0]
    place[entry] = foreign[entry]
    with pytest.raises(UntrustedError, match=f"{what} is not signed"):
        KeyList.verified(json.dumps(genuine).encode(), parties.plan)


def test_a_plan_without_keys_cannot_be_deployed(parties):
    bare = parties.plan.replace(shufflers=[{}], analyzer={})
    with pytest.raises(ParameterError, match=r"shufflers\.key.*croupier keys"):
        parties.list_of_keys(plan=bare)
    with pytest.raises(ParameterError, match=r"shufflers\.key.*croupier keys"):
        Signers.of(bare)


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=4))
def test_signatures_do_not_depend_on_the_order_of_keys(document):
    document.pop("signature", None)
    signed = sign(document, key=SIGNER, purpose="test")
    backwards = dict(reversed(signed.items()))
    assert is_signed(backwards, public=PUBLIC, purpose="test")
    assert not is_signed(signed, public=PUBLIC, purpose="tes")
    assert not is_signed(signed | {"new": 1}, public=PUBLIC, purpose="test")
    assert json.loads(canonical(document)) == document
