"""What documents have in common: which numbers a round may have, and one spelling of absence."""

import json

import pytest
from pydantic import ValidationError

from croupier.client.memory import Sealed
from croupier.errors import UntrustedError
from croupier.protocol.key_list import ShufflerKey
from croupier.protocol.party_keys import IntakeKey, ReleaseKey, ShufflerKeys
from croupier.protocol.query import Query
from croupier.protocol.receipt import FIRST, Receipt
from croupier.protocol.signed_document import Absent, Bytes32, Document, canonical, sign

LAST = 2**31 - 1
ADAPTIVE = {"model": "rectified-multinomial", "weights": 2}


@pytest.mark.parametrize(
    ("kind", "entry", "others"),
    [
        (ReleaseKey, "from_round", {"key": "00" * 32}),
        (IntakeKey, "from_round", {"key": "00" * 32, "seal": "00" * 32}),
        (Sealed, "round", {"batch": "", "body": ""}),
        (
            Receipt,
            "round",
            {"event": "disposed", "plan": FIRST, "batch": "00" * 16, "number": 0}
            | {"previous": FIRST, "counts": {"received": 0}},
        ),
    ],
)
def test_a_round_is_below_2_to_the_31(kind, entry, others):
    assert getattr(kind.model_validate({entry: LAST} | others), entry) == LAST
    for number in (-1, LAST + 1):
        with pytest.raises(ValidationError, match=entry):
            kind.model_validate({entry: number} | others)


def test_a_signed_round_is_below_2_to_the_31(make_parties):
    parties = make_parties(participation=ADAPTIVE)
    query, opening = parties.query(LAST), parties.open(LAST)
    keys = parties.list_of_keys(2**32 - 1, release=[(LAST, parties.release)])
    newest = keys.release[-1].model_dump()
    for document, against, signer, changes in (
        (query, parties.plan, parties.analyzer, {"round": LAST + 1}),
        (opening, parties.signers, parties.release, {"round": LAST + 1}),
        (keys, parties.plan, parties.shuffler, {"version": 2**32}),
        (
            keys,
            parties.plan,
            parties.shuffler,
            {"release": [keys.release[0].model_dump(), newest | {"from_round": LAST + 1}]},
        ),
    ):
        kind = type(document)
        assert kind in {Query, ShufflerKey, ShufflerKeys}
        assert kind.verified(document.to_bytes(), against) == document
        entries = json.loads(document.to_bytes()) | changes
        del entries["signature"]
        signed = sign(entries, key=signer, purpose=kind.purpose)
        with pytest.raises(UntrustedError, match="impossible entries"):
            kind.verified(canonical(signed), against)


class Remark(Document):
    key: Absent[Bytes32] = None
    words: str | None = None


def test_what_is_absent_is_left_out_and_never_null():
    assert Remark().to_bytes() == b'{"words":null}'
    key = "ab" * 32
    assert Remark.model_validate_json(Remark(key=key).to_bytes()).key == key
    for wrong in (None, "ab"):
        with pytest.raises(ValidationError, match="key"):
            Remark.model_validate({"key": wrong})
    for mode in ("validation", "serialization"):
        entries = Remark.model_json_schema(mode=mode)["properties"]
        assert (entries["key"]["type"], "anyOf" in entries["words"]) == ("string", True)
