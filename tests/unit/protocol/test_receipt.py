import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from croupier.protocol.party_keys import Signers
from croupier.protocol.receipt import (
    FIRST,
    NO_BATCH,
    Counts,
    Receipt,
    ReceiptError,
    Recovery,
    ReleasedFile,
    require_chain,
)
from croupier.protocol.signed_document import sign

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))
PUBLIC = KEY.public_key().public_bytes_raw().hex()
PLAN = "ab" * 32
SIGNERS = Signers(plan=PLAN, root=PUBLIC)
FILE = ReleasedFile(name="round-0.parquet", size=80, sha256="cd" * 32)


def receipt(number, previous=FIRST, **changes):
    entries = {
        "event": "released",
        "plan": PLAN,
        "round": number,
        "batch": f"{number:032x}",
        "number": number,
        "previous": previous,
        "counts": Counts(received=5, released=3, duplicate=1, cannot_open=1),
        "file": FILE,
    }
    return Receipt(**entries | changes).signed(KEY)


def chain(length):
    links = [receipt(0)]
    while len(links) < length:
        links.append(receipt(len(links), links[-1].digest))
    return links


def require(links):
    require_chain(links, SIGNERS)


def test_a_chain_holds_from_its_start_and_from_the_middle():
    links = chain(4)
    require(links)
    require(links[2:])
    require([])


def test_a_receipt_survives_its_text():
    made = receipt(0)
    again = Receipt.read(made.text)
    assert again == made
    assert again.digest == made.digest
    again.require_signed_by(PUBLIC)


ELSEWHERE = {"plan": "ee" * 32, "analyzer": "aa" * 32}


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda links: links[:1] + links[2:], "does not follow receipt 0"),
        (lambda links: [links[1], links[0], links[2]], "does not follow"),
        (lambda links: [links[0], receipt(1, FIRST), links[2]], "does not name"),
        (lambda _: [receipt(0, "1" * 64)], "does not name"),
        (lambda links: [links[0], receipt(1, links[0].digest, **ELSEWHERE)], "another plan"),
        (lambda links: [links[0], receipt(1, links[0].digest, batch="0" * 32)], "earlier one"),
        (lambda links: [links[0], receipt(1, links[0].digest, round=0)], "earlier one"),
        (lambda links: [links[0].signed(OTHER)], "not signed"),
        (lambda links: [links[0].model_copy(update={"signature": ""})], "not signed"),
    ],
)
def test_a_spoiled_chain_is_refused(spoil, problem):
    with pytest.raises(ReceiptError, match=problem):
        require(spoil(chain(3)))


@given(st.data())
def test_no_entry_can_be_changed_after_signing(data):
    document = json.loads(receipt(1, "11" * 32).text)
    flat = [("counts", name) for name in ("received", "released", "duplicate", "cannot_open")]
    flat += [("file", name) for name in ("name", "size", "sha256")]
    flat += [(name,) for name in ("event", "plan", "round", "batch", "number", "previous")]
    *tables, last = data.draw(st.sampled_from(flat))
    table = document
    for name in tables:
        table = table[name]
    old = table[last]
    table[last] = data.draw(
        st.integers(0, 9).filter(lambda new: new != old)
        if isinstance(old, int)
        else st.text("0123456789abcdef", min_size=len(old), max_size=len(old)).filter(
            lambda new: new != old
        )
    )
    with pytest.raises(ReceiptError):
        require_chain([Receipt.read(json.dumps(document))], SIGNERS)


EDITS = {
    ("schema_version",): 2,
    ("event",): "disposed",
    ("plan",): "ef" * 32,
    ("round",): 7,
    ("batch",): "ef" * 16,
    ("number",): 7,
    ("previous",): "ef" * 32,
    ("counts",): {"received": 1, "released": 1},
    ("counts", "received"): 6,
    ("counts", "released"): 4,
    ("counts", "disposed"): 1,
    ("counts", "duplicate"): 0,
    ("counts", "wrong_length"): 1,
    ("counts", "cannot_open"): -1,
    ("counts", "unknown_owner"): 1,
    ("counts", "wrong_owner"): 1,
    ("counts", "second_report"): "one",
    ("file",): None,
    ("file", "name"): "../keys",
    ("file", "size"): 81,
    ("file", "sha256"): "ef" * 32,
    ("query",): "ef" * 32,
    ("signature",): "ef" * 64,
}


def entries_of(document, place=()):
    for name, value in document.items():
        yield (*place, name)
        if isinstance(value, dict):
            yield from entries_of(value, (*place, name))


def edited(place, value):
    document = json.loads(receipt(0).text)
    table = document
    for name in place[:-1]:
        table = table[name]
    assert table[place[-1]] != value
    table[place[-1]] = value
    return json.dumps(document)


def test_every_entry_is_edited_below():
    assert set(EDITS) == set(entries_of(json.loads(receipt(0).text)))


@pytest.mark.parametrize("place", EDITS, ids=".".join)
def test_an_edited_receipt_is_called_changed_whatever_was_edited(place):
    """By name of the cause: its signature does not fit. Not an error of its format."""
    text = edited(place, EDITS[place])
    with pytest.raises(ReceiptError) as refused:
        Receipt.read(text, signers=SIGNERS).require_of(SIGNERS)
    message = str(refused.value)
    assert "is not signed by the shuffler of the plan" in message
    assert "changed" in message
    assert "format" not in message
    if place == ("counts", "received"):
        assert "the counts do not add up" in message
    if place == ("plan",):
        assert "names another plan" in message


def test_a_signed_receipt_of_another_format_is_not_called_changed():
    """As a later version may write it."""
    document = json.loads(receipt(0).text) | {"schema_version": 2}
    del document["signature"]
    text = json.dumps(sign(document, key=KEY, purpose="receipt"))
    with pytest.raises(ReceiptError, match="is signed, but is not a receipt of this format"):
        Receipt.read(text, signers=SIGNERS)


def test_without_a_key_the_message_says_what_does_not_fit():
    with pytest.raises(ReceiptError, match="the counts do not add up"):
        Receipt.read(edited(("counts", "received"), 6))
    with pytest.raises(ReceiptError, match="the entry number is missing or impossible"):
        Receipt.read(edited(("number",), -1))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document | {"arrived": "2026-03-02"},
        lambda document: {name: document[name] for name in document if name != "file"},
        lambda document: document | {"file": None},
        lambda document: document | {"event": "disposed"},
        lambda document: document | {"event": "flushed"},
        lambda document: document | {"number": "0"},
        lambda document: document | {"number": True},
        lambda document: document | {"number": -1},
        lambda document: document | {"round": 1 << 31},
        lambda document: document | {"analyzer": None},
        lambda document: document | {"signature": "00"},
        lambda document: document | {"counts": document["counts"] | {"received": 6}},
        lambda document: document | {"counts": document["counts"] | {"received": 6, "late": 1}},
        lambda document: document | {"file": document["file"] | {"name": "../keys"}},
        lambda document: [document],
    ],
)
def test_a_document_that_is_no_receipt_is_refused(spoil):
    with pytest.raises(ReceiptError, match="not a receipt"):
        Receipt.read(json.dumps(spoil(json.loads(receipt(0).text))))


def test_an_entry_that_stands_twice_is_refused():
    text = receipt(0).text
    with pytest.raises(ReceiptError, match="not a receipt"):
        Receipt.read(text[:-1] + ',"number":0}')


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_noise_is_no_receipt(noise):
    with pytest.raises(ReceiptError):
        Receipt.read(noise)


def test_a_file_is_recognised_by_size_and_digest(tmp_path):
    path = tmp_path / "batch"
    path.write_bytes(b"rows")
    found = ReleasedFile.of(path, name="batch.parquet")
    assert found.is_at(path)
    path.write_bytes(b"rowz")
    assert not found.is_at(path)
    assert not found.is_at(tmp_path / "elsewhere")


def recovered(number, previous, lost, **changes):
    entries = {
        "event": "recovered",
        "round": lost[-1],
        "batch": NO_BATCH,
        "counts": Counts(received=0),
        "file": None,
        "recovery": Recovery(lost=lost, restored=1, **changes.pop("more", {})),
    }
    return receipt(number, previous, **entries | changes)


def test_a_recovery_is_a_link_whose_rounds_get_no_receipt():
    links = chain(2)
    links.append(recovered(2, links[-1].digest, (2, 3)))
    require([*links, receipt(3, links[-1].digest, round=4)])
    assert Receipt.read(links[-1].text) == links[-1]
    for number in (2, 3):
        with pytest.raises(ReceiptError, match="a round that was given up before"):
            require([*links, receipt(3, links[-1].digest, round=number, batch="9" * 32)])
    with pytest.raises(ReceiptError, match="gives up a round that has a receipt"):
        require([*links[:2], recovered(2, links[1].digest, (1, 2))])


def test_a_recovery_may_follow_one_receipt_that_was_not_published():
    first, second, third = chain(3)
    published = {"published": first.digest}
    link = recovered(2, second.digest, (1, 2), more=published)
    require([first, link])
    require([first, second, link])
    with pytest.raises(ReceiptError, match="does not follow receipt 0"):
        require([first, recovered(2, second.digest, (1, 2))])
    with pytest.raises(ReceiptError, match="does not follow receipt 0"):
        require([first, recovered(3, third.digest, (1, 2), more=published)])
    with pytest.raises(ReceiptError, match="does not name"):
        require(
            [
                first,
                receipt(1, first.digest, event="disposed", file=None, counts=Counts(received=0)),
                link,
            ]
        )
    with pytest.raises(ReceiptError, match="does not name"):
        require([first, second, recovered(2, second.digest, (1, 2), more={"published": FIRST})])


@pytest.mark.parametrize(
    "changes",
    [
        {"recovery": None},
        {"round": 3},
        {"batch": "1" * 32},
        {"counts": Counts(received=1, disposed=1)},
        {"file": FILE},
        {"analyzer": "aa" * 32},
        {"event": "disposed"},
    ],
)
def test_a_recovery_is_about_no_batch(changes):
    document = json.loads(recovered(2, FIRST, (1, 2)).text)
    plain = {
        name: entry.model_dump() if hasattr(entry, "model_dump") else entry
        for name, entry in changes.items()
    }
    with pytest.raises(ReceiptError, match="not a receipt of this format"):
        Receipt.read(json.dumps(document | plain))
    with pytest.raises(ReceiptError, match="not rise"):
        Receipt.read(json.dumps(document | {"recovery": {"lost": [2, 2], "restored": 0}}))
