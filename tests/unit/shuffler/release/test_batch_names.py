"""A second shuffler that opens a round under a name which another batch has."""

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import UntrustedError
from croupier.protocol.key_list import Onward, ShufflerKey
from croupier.protocol.wire import Epoch
from tests.unit.chain import Chain

SENT = [0, 1, 2, 3, 0, 1, 2, 3]
REFUSED = "second shuffler's opening of round . names batch .* another round's or another plan's"


@pytest.fixture
def other_plan(chain, tmp_path):
    """Another plan of the same two shufflers, with the same keys and databases."""
    houses = [side.house for side in (chain.first, chain.second)]
    databases = [side.database for side in (chain.first, chain.second)]
    made = Chain(*databases, tmp_path / "other", houses=houses, protections={"minimum_batch": 6})
    assert made.plan.digest != chain.plan.digest
    return made


def opening_under(chain, identity, *, round_number):
    """The second shuffler's opening of a round, with the name that it chooses."""
    key = X25519PrivateKey.generate()
    epoch = Epoch.of(
        chain.plan,
        round_number=round_number,
        batch=identity,
        analyzer=chain.sealed_to,
        onward=(key.public_key().public_bytes_raw(),),
    )
    signing_key = chain.second.keys.signer(chain.second.listed.release_key(round_number))
    opening = ShufflerKey.make(epoch, chain.plan, key=key, signing_key=signing_key, hop=1)
    return Onward(keys=chain.second.listed, opening=opening)


def secrets_of(side):
    """All files with secrets of batches, also those that intake has."""
    folders = (side.keys.path / "batches", side.handover.path)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in files}


def test_the_name_of_another_plans_batch_is_refused_and_its_keys_stay(chain, other_plan):
    batch = chain.open_round()
    chain.send(batch, SENT)
    before = secrets_of(chain.first)
    assert before
    offered = [opening_under(other_plan, batch.identity, round_number=0)]
    with pytest.raises(UntrustedError, match=REFUSED):
        other_plan.opened_at_first(offered=offered)
    assert secrets_of(chain.first) == before
    (outcome,) = chain.release_first()
    assert outcome.receipt.counts.accepted == len(SENT)


@pytest.mark.parametrize("kept", ["release", "handover"])
def test_keys_of_another_plan_stay_also_if_its_batch_is_in_another_database(
    chain, other_plan, kept
):
    identity = bytes(16)
    if kept == "release":
        chain.first.keys.create_batch(identity, plan=chain.plan.digest)
    else:
        batch = chain.open_round()
        chain.first.handover.file(batch.identity).rename(chain.first.handover.file(identity))
    before = secrets_of(chain.first)
    offered = [opening_under(other_plan, identity, round_number=0)]
    with pytest.raises(UntrustedError, match=REFUSED):
        other_plan.opened_at_first(offered=offered)
    assert secrets_of(chain.first) == before


def test_what_a_job_that_died_left_of_the_same_plan_is_replaced(chain):
    identity = bytes(16)
    chain.first.keys.create_batch(identity, plan=chain.plan.digest)
    offered = [opening_under(chain, identity, round_number=0)]
    assert chain.opened_at_first(offered=offered).identity == identity


@pytest.mark.parametrize("half", [b"", b"\xff" * 64])
def test_an_empty_or_overwritten_folder_is_replaced(chain, half):
    identity = bytes(16)
    folder = chain.first.keys.path / "batches" / identity.hex()
    folder.mkdir(parents=True, mode=0o700)
    if half:
        (folder / "plan").write_bytes(half)
    offered = [opening_under(chain, identity, round_number=0)]
    assert chain.opened_at_first(offered=offered).identity == identity


def test_the_name_of_an_earlier_round_is_refused(chain):
    """Its opening would otherwise be looked for again and again."""
    batch = chain.open_round()
    chain.send(batch, SENT)
    chain.release_first()
    offered = [opening_under(chain, batch.identity, round_number=1)]
    with pytest.raises(UntrustedError, match=REFUSED):
        chain.opened_at_first(offered=offered)
