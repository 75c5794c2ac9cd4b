"""The list of the shuffler's keys: who signs what from which round on, and no way back."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.client.client import Client
from croupier.client.memory import FileState, State
from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.party_keys import LIST_FILE, ShufflerKeys, Signers, signers_beside
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.signed_document import public_half


@pytest.fixture
def other():
    return Ed25519PrivateKey.generate()


def test_a_key_counts_from_its_round_on(parties, other):
    listed = parties.list_of_keys(3, release=[(4, other)], intake=[(9, other)])
    assert ShufflerKeys.verified(listed.to_bytes(), parties.plan) == listed
    own, new = public_half(parties.release), public_half(other)
    assert [listed.release_key(number) for number in (0, 3, 4, 2**31 - 1)] == [own, own, new, new]
    assert [listed.intake_key(number).key for number in (8, 9)] == [
        public_half(parties.intake),
        new,
    ]
    signers = Signers.of(parties.plan, listed)
    assert signers.release(4) == [new, parties.plan.shuffler_key]
    assert signers.intake(0) == [public_half(parties.intake), parties.plan.shuffler_key]
    assert Signers.of(parties.plan).release(4) == [parties.plan.shuffler_key]


def test_only_the_root_signs_a_list(parties, other):
    with pytest.raises(ParameterError, match=r"shufflers\.key"):
        parties.list_of_keys(signing_key=other)
    document = json.loads(parties.keys.to_bytes())
    for changes in ({"version": 2}, {"release": document["intake"]}, {"signature": "00" * 64}):
        altered = json.dumps(document | changes).encode()
        with pytest.raises(UntrustedError):
            ShufflerKeys.verified(altered, parties.plan)
    foreign = parties.keys.model_copy(update={"plan": "00" * 32})
    with pytest.raises(UntrustedError, match="another plan"):
        Signers.of(parties.plan, foreign)


def test_the_next_list_keeps_what_was_and_adds_what_is_new(parties, other):
    release = PublicKeys(role="release", key=public_half(other))
    following = parties.keys.next(
        parties.plan, release=release, from_round=5, signing_key=parties.shuffler
    )
    assert (following.version, following.intake) == (2, parties.keys.intake)
    assert following.release[:-1] == parties.keys.release
    assert (following.release[-1].from_round, following.release[-1].key) == (5, release.key)
    with pytest.raises(ParameterError, match="names them all"):
        following.next(parties.plan, release=release, from_round=6, signing_key=parties.shuffler)
    another = PublicKeys(role="release", key=public_half(parties.intake))
    for number in (4, 5):
        with pytest.raises(ParameterError, match=r"must be at least 6"):
            following.next(
                parties.plan, release=another, from_round=number, signing_key=parties.shuffler
            )


def test_release_and_intake_are_replaced_from_the_same_round_on(parties, other):
    listed = parties.list_of_keys(2, release=[(5, other)])
    intake = PublicKeys(role="intake", key=public_half(other), seal="ab" * 32)
    following = listed.next(parties.plan, intake=intake, from_round=5, signing_key=parties.shuffler)
    assert (following.version, following.intake[-1].from_round) == (3, 5)
    with pytest.raises(ParameterError, match="must be at least 5"):
        listed.next(parties.plan, intake=intake, from_round=4, signing_key=parties.shuffler)


def test_the_last_version_and_the_last_round_are_refused_with_a_sentence(parties, other):
    release = PublicKeys(role="release", key=public_half(other))
    with pytest.raises(ParameterError, match="must be the number of a round"):
        parties.keys.next(
            parties.plan, release=release, from_round=2**32, signing_key=parties.shuffler
        )
    with pytest.raises(ParameterError, match="a next version can follow"):
        parties.list_of_keys(2**32 - 1).next(
            parties.plan, release=release, from_round=3, signing_key=parties.shuffler
        )


def test_a_list_is_not_followed_back_nor_beside_itself(parties, other):
    second = parties.list_of_keys(2, release=[(4, other)])
    second.require_not_before(parties.keys)
    second.require_not_before(second)
    with pytest.raises(UntrustedError, match="is version 1, and 2 was seen before"):
        parties.keys.require_not_before(second)
    with pytest.raises(UntrustedError, match="is a second one of version 2"):
        parties.list_of_keys(2, release=[(5, other)]).require_not_before(second)


def test_a_client_remembers_the_newest_list_of_each_plan(parties, make_parties, other, tmp_path):
    memory = FileState(tmp_path / "memory.json")

    def report(made):
        client = Client(made.plan, attribute="emoji", budget=99.0, memory=memory)
        return client.report(1, key_list=made.key_list(made.open()).to_bytes())

    first = parties.keys
    assert report(parties) is not None
    parties.keys = parties.list_of_keys(2, release=[(4, other)])
    assert report(parties) is not None
    parties.keys = first
    with pytest.raises(UntrustedError, match="was seen before"):
        report(parties)
    parties.keys = parties.list_of_keys(2, release=[(5, other)])
    with pytest.raises(UntrustedError, match="is a second one of version"):
        report(parties)
    assert report(make_parties()) is not None, "another plan has a list of its own"
    assert State.model_validate_json('{"schema_version": 1}').listed == {}, "as 0.1 remembered"


def test_a_client_that_saw_the_next_key_believes_no_earlier_round(make_parties, other, tmp_path):
    """Whoever stole the replaced key can still open the rounds that it counted for."""
    made = make_parties(collection={"every": "1h", "rounds": 9})
    memory = FileState(tmp_path / "memory.json")
    client = Client(made.plan, attribute="emoji", budget=99.0, memory=memory)
    third = Ed25519PrivateKey.generate()
    made.keys = made.list_of_keys(2, release=[(5, other), (8, third)])
    forged = made.key_list(made.open(4)).to_bytes()
    assert client.chosen_round(key_list=forged) == 4, "whoever is new cannot tell"
    seen = made.key_list(made.open(6, signing_key=other)).to_bytes()
    assert client.chosen_round(key_list=seen) == 6
    again = Client(made.plan, attribute="emoji", budget=99.0, memory=memory)
    with pytest.raises(UntrustedError, match="a release key that was replaced"):
        again.report(1, key_list=forged)
    both = made.key_list(made.open(3), made.open(7, signing_key=other)).to_bytes()
    assert again.chosen_round(key_list=both) == 7
    with pytest.raises(UntrustedError, match="a release key that was replaced"):
        again.chosen_round(key_list=both, round_number=3)
    earlier = made.key_list(made.open(5, signing_key=other)).to_bytes()
    assert again.chosen_round(key_list=earlier) == 5, "of the key that still counts"
    assert again.chosen_round(key_list=seen) == 6
    before = {"version": 2, "digest": made.keys.digest}
    text = json.dumps({"schema_version": 1, "listed": {made.plan.digest: before}})
    assert State.model_validate_json(text).follow(made.keys) is None, "memories of before"


def test_the_newest_list_beside_receipts_is_taken(parties, make_parties, other, tmp_path):
    folders = [tmp_path / name for name in ("a", "b", "c", "d")]
    for folder in folders:
        folder.mkdir()
    second = parties.list_of_keys(2, release=[(4, other)])
    stranger = make_parties()
    for folder, listed in zip(folders, (parties.keys, second, stranger.keys), strict=False):
        (folder / LIST_FILE).write_bytes(listed.to_bytes())
    assert signers_beside(parties.plan, folders).keys == second
    assert signers_beside(parties.plan, folders[2:]).keys is None
    (folders[3] / LIST_FILE).write_bytes(parties.list_of_keys(2).to_bytes())
    with pytest.raises(UntrustedError, match="is a second one"):
        signers_beside(parties.plan, folders)
    forged = parties.keys.model_copy(update={"version": 7})
    (folders[3] / LIST_FILE).write_bytes(forged.to_bytes())
    with pytest.raises(UntrustedError, match="not signed"):
        signers_beside(parties.plan, folders)
