"""Two shufflers: one list of keys for everybody (A4), and nothing but a report in layers (A7)."""

import json
import os
from dataclasses import replace
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import ParameterError, SealError, UntrustedError
from croupier.protocol.key_list import AnalyzerKey, KeyList, Onward, ShufflerKey
from croupier.protocol.party_keys import LIST_FILE, ShufflerKeys, Signers, hop_of, signers_beside
from croupier.protocol.query import Round
from croupier.protocol.signed_document import canonical, public_half, sign
from croupier.protocol.superseded import SupersededPlan
from croupier.protocol.unsealing import open_inner, open_outer, open_second
from croupier.protocol.wire import (
    Epoch,
    Seal,
    encode_report,
    envelope_length,
    seal_after,
    seal_inner,
    seal_outer,
    seal_report,
    seal_second,
)
from tests.unit.two_shufflers import DUMMIES, Pair, raw


@pytest.fixture(scope="module")
def pair():
    return Pair()


class Sealed:
    """One batch of a pair, and a report in it."""

    def __init__(self, pair):
        self.epoch = pair.epoch()
        self.first, self.second = (own.batches[self.epoch.batch.hex()] for own in pair.mixers)
        self.analyzer = pair.inner
        self.report = encode_report(pair.plan, 3, round_number=0)

    def envelope(self, epoch=None):
        epoch = epoch or self.epoch
        return seal_report(self.report, key=self.first.public_key(), epoch=epoch)

    def open_first(self, envelope, epoch=None):
        return open_outer(envelope, key=self.first, epoch=epoch or self.epoch).inner

    def open_second(self, second, epoch=None):
        return open_second(second, key=self.second, epoch=epoch or self.epoch)


@pytest.fixture
def batch(pair):
    return Sealed(pair)


def test_each_party_opens_its_layer_and_finds_the_next_one_alone(pair, batch):
    envelope = batch.envelope()
    second = batch.open_first(envelope)
    inner = batch.open_second(second)
    assert open_inner(inner, key=batch.analyzer, epoch=batch.epoch) == batch.report
    assert [len(sealed) for sealed in (envelope, second, inner)] == [176, 128, 80]
    assert batch.epoch.seals == (Seal.OUTER, Seal.SECOND, Seal.INNER)
    assert [batch.epoch.length(seal) for seal in batch.epoch.seals] == [176, 128, 80]
    assert envelope_length(pair.plan) == batch.epoch.envelope_length == 176
    assert batch.epoch.second_length == 128


def test_dummies_leave_a_shuffler_as_reports_do(batch):
    """Sealed by the shuffler, they are what everybody after it opens, in length and content."""
    from_first = seal_after(batch.report, hop=0, epoch=batch.epoch)
    from_second = seal_after(batch.report, hop=1, epoch=batch.epoch)
    assert len(from_first) == batch.epoch.length(batch.epoch.seals[1])
    assert len(from_second) == batch.epoch.length(batch.epoch.seals[2])
    for inner in (batch.open_second(from_first), from_second):
        assert open_inner(inner, key=batch.analyzer, epoch=batch.epoch) == batch.report
    for hop in (-1, 2):
        with pytest.raises(ParameterError, match="hop"):
            seal_after(batch.report, hop=hop, epoch=batch.epoch)


OTHERS = {
    "plan": {"plan": "00" * 32},
    "round": {"round_number": 1},
    "batch": {"batch": bytes(16)},
    "query": {"query": bytes(32)},
    "analyzer": {"analyzer": raw(X25519PrivateKey.generate())},
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_both_shufflers_open_only_what_was_sealed_with_their_list(batch, change):
    other = replace(batch.epoch, **change)
    with pytest.raises(SealError):
        batch.open_first(batch.envelope(other))
    second = seal_after(batch.report, hop=0, epoch=other)
    with pytest.raises(SealError):
        batch.open_second(second)
    assert batch.open_second(second, other)  # the other list alone keeps it shut


def test_a_second_key_of_the_second_shuffler_stays_shut_at_the_first(batch):
    """Somebody is shown another key, signed by a corrupt second shuffler: their report drops out.

    Dummies are sealed with the batch's own list and cannot be told from what is left.
    """
    another = X25519PrivateKey.generate()
    shown = replace(batch.epoch, onward=(raw(another),))
    envelope = batch.envelope(shown)
    with pytest.raises(SealError):
        batch.open_first(envelope)
    assert open_second(batch.open_first(envelope, shown), key=another, epoch=shown)
    for byte in range(32):
        near = bytearray(batch.epoch.onward[0])
        near[byte] ^= 1
        key = batch.first.public_key()
        other = replace(batch.epoch, onward=(bytes(near),))
        assert other.info(Seal.OUTER, key) != batch.epoch.info(Seal.OUTER, key)


def test_no_layer_passes_for_another(batch):
    """One party that held every key would still need each layer in its own place."""
    key = batch.second.public_key()
    infos = {batch.epoch.info(seal, key) for seal in Seal}
    assert len(infos) == len(Seal)
    second = seal_after(batch.report, hop=0, epoch=batch.epoch)
    alike = replace(batch.epoch, onward=(), report_size=batch.epoch.report_size)
    assert alike.envelope_length == len(second)
    with pytest.raises(SealError) as refused:
        open_outer(second, key=batch.second, epoch=alike)
    assert refused.value.reason == "seal"
    for data in (second, batch.envelope()):
        with pytest.raises(SealError):
            open_second(data, key=batch.first, epoch=batch.epoch)


def test_the_outer_list_names_everybody_in_order(pair):
    """Two epochs that swap the second shuffler's key and the analyzer's differ in every layer."""
    here = pair.epoch()
    swapped = replace(here, onward=(here.analyzer,), analyzer=here.onward[0])
    key = X25519PrivateKey.generate().public_key()
    for seal in (Seal.OUTER, Seal.SECOND):
        assert here.info(seal, key) != swapped.info(seal, key)


def test_one_shuffler_keeps_every_byte(parties, pair):
    """Without later shufflers the list, the opening and the lengths have nothing new."""
    opening = parties.open()
    epoch = opening.epoch(parties.plan)
    assert epoch.onward == ()
    assert epoch.seals == (Seal.OUTER, Seal.INNER)
    assert epoch.envelope_length == envelope_length(parties.plan) == 128
    assert "next" not in json.loads(opening.to_bytes())
    assert "onward" not in json.loads(parties.key_list(opening).to_bytes())
    assert "onward" not in json.loads(Round.of(shuffler=opening, query=None).to_bytes())
    with_two = pair.epoch()
    key = X25519PrivateKey.generate().public_key()
    alone = replace(with_two, onward=())
    assert alone.info(Seal.INNER, key) == with_two.info(Seal.INNER, key)
    assert alone.info(Seal.OUTER, key) == _info_by_hand(alone, key)


def _info_by_hand(epoch, key):
    """docs/wire.md for one shuffler, as it was before there could be two."""
    listed = canonical(
        {
            "batch": epoch.batch.hex(),
            "keys": [key.public_bytes_raw().hex(), epoch.analyzer.hex()],
            "plan": epoch.plan,
            "query": epoch.query.hex(),
            "round": epoch.round_number,
        }
    )
    fields = [b"croupier", b"\2", b"outer", sha256(listed).digest()]
    return b"".join(len(field).to_bytes(2) + field for field in fields)


@pytest.mark.parametrize("onward", [(), (bytes(32), bytes(32)), (bytes(31),), (bytes(33),)])
def test_an_epoch_has_one_key_of_each_later_shuffler(pair, onward):
    with pytest.raises(ParameterError, match="onward"):
        Epoch.of(pair.plan, round_number=0, batch=bytes(16), analyzer=bytes(32), onward=onward)


def test_an_epoch_of_one_shuffler_has_no_later_key(parties):
    facts = {"round_number": 0, "batch": bytes(16), "analyzer": bytes(32)}
    with pytest.raises(ParameterError, match="onward"):
        Epoch.of(parties.plan, **facts, onward=(bytes(32),))
    with pytest.raises(ParameterError, match="second shuffler"):
        seal_second(bytes(80), epoch=Epoch.of(parties.plan, **facts))


def test_only_the_layer_below_is_sealed(batch):
    inner = seal_inner(batch.report, epoch=batch.epoch)
    key = batch.first.public_key()
    with pytest.raises(ParameterError, match="128 bytes"):
        seal_outer(inner, key=key, epoch=batch.epoch)
    with pytest.raises(ParameterError, match="80 bytes"):
        seal_second(inner + b"\0", epoch=batch.epoch)


def test_both_openings_give_one_epoch(pair):
    epoch = pair.epoch(2)
    first, second = (pair.opening(epoch, hop) for hop in (0, 1))
    assert first.epoch(pair.plan) == second.epoch(pair.plan) == epoch
    assert first.next == second.key == epoch.onward[0].hex()
    assert "next" not in json.loads(second.to_bytes())
    for hop, opening in enumerate((first, second)):
        assert ShufflerKey.verified(opening.to_bytes(), pair.signers_of(hop)) == opening


def test_a_shuffler_opens_with_the_key_that_the_epoch_names(pair):
    epoch = pair.epoch()
    for hop, key in ((1, X25519PrivateKey.generate()), (2, pair.inner)):
        with pytest.raises(ParameterError, match="key"):
            ShufflerKey.make(epoch, pair.plan, key=key, signing_key=pair.second.release, hop=hop)


def test_a_document_of_one_shuffler_is_not_believed_for_the_other(pair):
    epoch = pair.epoch()
    for hop in (0, 1):
        own, other = pair.mixers[hop], pair.mixers[1 - hop]
        listed = own.listed(pair.plan)
        assert hop_of(listed, pair.plan) == hop
        assert ShufflerKeys.verified(listed.to_bytes(), pair.plan, hop) == listed
        with pytest.raises(UntrustedError, match=rf"shufflers.{2 - hop}.key of the plan"):
            listed.check(pair.plan, 1 - hop)
        with pytest.raises(UntrustedError, match="not signed"):
            Signers.of(pair.plan, listed, 1 - hop)
        for key in (other.release, other.root, other.intake):
            forged = pair.opening(epoch, hop, signing_key=key)
            with pytest.raises(UntrustedError, match=f"{['first', 'second'][hop]} shuffler's"):
                forged.check(pair.signers_of(hop))


def test_an_opening_names_a_next_key_only_if_there_is_a_next_shuffler(pair, parties):
    epoch = pair.epoch()
    first, second = (pair.opening(epoch, hop) for hop in (0, 1))
    longer = _signed(second, pair.second.release, next=first.key)
    with pytest.raises(UntrustedError, match="names a next one"):
        longer.check(pair.signers_of(1))
    shorter = _signed(first, pair.first.release, next=None)
    with pytest.raises(UntrustedError, match="no key of the next shuffler"):
        shorter.check(pair.signers_of(0))
    alone = _signed(parties.open(), parties.release, next=first.key)
    with pytest.raises(UntrustedError, match="names a next one"):
        alone.check(parties.signers)


def _signed(opening, signer, **changes):
    """An opening with other entries, signed as if it were genuine."""
    entries = json.loads(opening.to_bytes()) | changes
    kept = {name: entry for name, entry in entries.items() if entry is not None}
    del kept["signature"]
    return ShufflerKey.read(canonical(sign(kept, key=signer, purpose=opening.purpose)))


def test_the_next_version_of_a_list_is_signed_by_the_same_root(pair):
    listed = pair.first.listed(pair.plan)
    with pytest.raises(UntrustedError, match="next version"):
        listed.next(pair.plan, from_round=1, signing_key=pair.second.root)


def test_a_list_is_signed_only_for_a_plan_with_every_root(pair):
    stranger = Ed25519PrivateKey.generate()
    with pytest.raises(ParameterError, match="public half of the given key"):
        pair.first.listed(pair.plan, root=stranger)
    with pytest.raises(UntrustedError, match=r"any shufflers.key"):
        hop_of(_by(pair.first.listed(pair.plan), stranger), pair.plan)
    mixers = [{"key": public_half(pair.first.root)}, {"operator": "Example Foundation"}]
    half = pair.plan.replace(
        shufflers=mixers,
        randomizer={"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0},
    )
    with pytest.raises(ParameterError, match=r"shufflers.2.key"):
        pair.first.listed(half)


def _by(listed, key):
    entries = json.loads(listed.to_bytes())
    del entries["signature"]
    return ShufflerKeys.read(canonical(sign(entries, key=key, purpose=listed.purpose)))


def test_signers_are_found_by_the_list_of_the_right_shuffler(pair, tmp_path):
    listed = pair.second.listed(pair.plan)
    (tmp_path / LIST_FILE).write_bytes(listed.to_bytes())
    assert signers_beside(pair.plan, [tmp_path], 1).keys == listed
    with pytest.raises(UntrustedError):
        signers_beside(pair.plan, [tmp_path])


def test_a_key_list_shows_both_shufflers(pair):
    rounds = [pair.open(number) for number in (4, 5)]
    listed = pair.key_list(*rounds)
    assert KeyList.verified(listed.to_bytes(), pair.plan) == listed
    document = json.loads(listed.to_bytes())
    assert [set(entry) for entry in document["onward"]] == [{"keys", "opening"}] * 2
    empty = pair.key_list()
    assert KeyList.verified(empty.to_bytes(), pair.plan).onward == ()
    (served,) = pair.rounds(rounds[0])
    assert Round.verified(served, pair.plan, pair.signers).onward == pair.onward(rounds[0])


def wrong_parts(pair, opening):
    """Parts of the second shuffler that are wrong, each in one way."""
    good, keys = pair.onward(opening), pair.second.listed(pair.plan)
    epoch = opening.epoch(pair.plan)
    another = X25519PrivateKey.generate()

    def signed(signer=pair.second.release, **changes):
        return Onward(keys=keys, opening=_signed(good.opening, signer, **changes))

    return {
        "of another round": signed(round=opening.round + 1),
        "of another batch": signed(batch=os.urandom(16).hex()),
        "for another analyzer": signed(analyzer=raw(another).hex()),
        "with another key": signed(key=raw(another).hex()),
        "with a key of low order": signed(key="00" * 32),
        "signed by the first shuffler": signed(pair.first.release),
        "signed by the first shuffler's root": signed(pair.first.root),
        "signed by the second shuffler's intake": signed(pair.second.intake),
        "with a key after it": signed(next=raw(another).hex()),
        "the first shuffler's": Onward(keys=pair.keys, opening=opening),
        "the first shuffler's opening": Onward(keys=keys, opening=opening),
        "listed by the first shuffler": Onward(keys=pair.keys, opening=good.opening),
        "listed under the first root": Onward(
            keys=pair.second.listed(pair.plan, root=pair.first.root), opening=good.opening
        ),
        "a signature changed": Onward(
            keys=keys, opening=good.opening.model_copy(update={"signature": "00" * 64})
        ),
        "of another plan": Onward(
            keys=keys,
            opening=ShufflerKey.make(
                epoch,
                pair.plan.replace(name="other", protections__minimum_batch=51),
                key=pair.second.batches[opening.batch],
                signing_key=pair.second.release,
                hop=1,
            ),
        ),
    }


def _kinds_of_wrong_parts():
    pair = Pair()
    return list(wrong_parts(pair, pair.open()))


@pytest.mark.parametrize("kind", _kinds_of_wrong_parts())
def test_a_wrong_part_of_the_second_shuffler_is_refused(pair, kind):
    opening = pair.open()
    part = wrong_parts(pair, opening)[kind]
    good = pair.key_list(opening)
    with pytest.raises(UntrustedError):
        Onward.verified(part.to_bytes(), pair.plan, opening)
    with pytest.raises(UntrustedError):
        KeyList.verified(good.model_copy(update={"onward": (part,)}).to_bytes(), pair.plan)
    with pytest.raises(UntrustedError):
        Round.verified(
            Round.of(shuffler=opening, query=None, onward=part).to_bytes(), pair.plan, pair.signers
        )
    assert Onward.verified(good.onward[0].to_bytes(), pair.plan, opening) == good.onward[0]


def test_the_first_shuffler_cannot_name_another_next_key(pair):
    """Both are corrupt towards one person at most together: alone, the first is refused."""
    opening = pair.open()
    other = _signed(opening, pair.first.release, next=raw(X25519PrivateKey.generate()).hex())
    shown = pair.key_list(opening).model_copy(update={"shuffler": (other,)})
    with pytest.raises(UntrustedError, match="than the one that the first one's names"):
        KeyList.verified(shown.to_bytes(), pair.plan)


def test_every_round_has_one_part_of_the_second_shuffler(pair, parties):
    one, two = pair.open(0), pair.open(1)
    good = pair.key_list(one, two)
    first, second = good.onward
    for parts in (None, (), (first,), (second, first), (first, first), (first, second, second)):
        shown = good.model_copy(update={"onward": parts})
        with pytest.raises(UntrustedError, match="second shuffler"):
            KeyList.verified(shown.to_bytes(), pair.plan)
    bare = Round.of(shuffler=one, query=None).to_bytes()
    with pytest.raises(UntrustedError, match="second shuffler"):
        Round.verified(bare, pair.plan, pair.signers)
    alone = parties.open()
    for parts in ((), (first,)):
        shown = parties.key_list(alone).model_copy(update={"onward": parts})
        with pytest.raises(UntrustedError, match="the plan has one"):
            KeyList.verified(shown.to_bytes(), parties.plan)
    shown = Round.of(shuffler=alone, query=None, onward=first).to_bytes()
    with pytest.raises(UntrustedError, match="the plan has one"):
        Round.verified(shown, parties.plan, parties.signers)
    with pytest.raises(UntrustedError, match="missing, unknown or impossible"):
        Onward.verified(b"{}", pair.plan, one)


def test_swapped_shufflers_are_another_plan(pair):
    """The order in the plan is the order of the hops; nobody can serve it the other way round."""
    mixers = [{"key": public_half(own.root), "dummies": DUMMIES} for own in pair.mixers]
    swapped = pair.plan.replace(shufflers=mixers[::-1])
    assert swapped.digest != pair.plan.digest
    with pytest.raises(UntrustedError):
        KeyList.verified(pair.key_list(pair.open()).to_bytes(), swapped)


def test_a_second_key_of_the_analyzer_is_refused_by_either_opening(pair):
    opening = pair.open()
    second = AnalyzerKey.make(pair.plan, key=X25519PrivateKey.generate(), signing_key=pair.analyzer)
    changed = _signed(opening, pair.first.release, analyzer=second.key)
    shown = pair.key_list(opening).model_copy(update={"analyzer": second, "shuffler": (changed,)})
    with pytest.raises(UntrustedError, match="another key of the analyzer"):
        KeyList.verified(shown.to_bytes(), pair.plan)


def test_the_first_root_alone_sends_clients_away(pair):
    successor = pair.plan.replace(protections__minimum_batch=60)
    made = SupersededPlan.make(pair.plan, successor, signing_key=pair.first.root)
    assert SupersededPlan.verified(made.to_bytes(), digest=pair.plan.digest) == made
    with pytest.raises(ParameterError):
        SupersededPlan.make(pair.plan, successor, signing_key=pair.second.root)
