import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from croupier.errors import ParameterError
from croupier.hosting.revocation import (
    RevocationList,
    identity_of,
    read_revoked,
    revoke,
    write_revoked,
)
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret


def header(token):
    return b"Bearer " + token.encode()


def test_an_issued_credential_is_known_again_and_is_nobody_elses():
    credentials = BearerCredentials(os.urandom(32))
    tokens = [credentials.issue() for _ in range(100)]
    found = [credentials.check(header(token)) for token in tokens]
    assert len({credential.identity for credential in found}) == 100
    assert found == [credentials.check(header(token)) for token in tokens]
    assert not any(credential.relay for credential in found)
    assert credentials.check(header(credentials.issue(relay=True))).relay


def test_every_changed_digit_is_noticed():
    credentials = BearerCredentials(os.urandom(32))
    token = credentials.issue()
    for place, digit in enumerate(token):
        other = "0" if digit != "0" else "1"
        changed = token[:place] + other + token[place + 1 :]
        assert credentials.check(header(changed)) is None


@pytest.mark.parametrize(
    "given",
    [b"", b"Bearer ", b"Bearer x", b"bearer " + b"0" * 66, b"Bearer " + b"g" * 66, b"\xff" * 73],
)
def test_what_is_no_credential_is_refused(given):
    assert BearerCredentials(bytes(32)).check(given) is None


def test_another_secret_knows_none_of_them():
    token = BearerCredentials(os.urandom(32)).issue()
    assert BearerCredentials(os.urandom(32)).check(header(token)) is None


def test_persons_and_relays_have_tokens_of_one_length():
    credentials = BearerCredentials(os.urandom(32))
    assert len(credentials.issue()) == len(credentials.issue(relay=True)) == 66


def test_a_secret_is_written_once_and_read_by_its_owner_only(tmp_path):
    file = tmp_path / "secret"
    write_secret(file)
    assert len(read_secret(file)) == 32
    with pytest.raises(ParameterError, match="not be there yet"):
        write_secret(file)
    file.chmod(0o644)
    with pytest.raises(ParameterError, match="chmod 600"):
        read_secret(file)
    with pytest.raises(ParameterError, match="croupier credentials"):
        read_secret(tmp_path / "nothing")


def test_a_short_secret_is_refused():
    with pytest.raises(ParameterError, match="at least 32 bytes"):
        BearerCredentials(b"short")


def test_a_revoked_credential_admits_nobody_and_others_stay(tmp_path):
    file = tmp_path / "revoked.txt"
    revoked = RevocationList(file)
    with pytest.raises(ParameterError, match="croupier credentials revoke"):
        revoked.renew()
    credentials = BearerCredentials(os.urandom(32), revoked=revoked)
    first, second = credentials.issue(), credentials.issue(relay=True)
    write_revoked(file, [identity_of(first)])
    assert credentials.check(header(first)) is not None
    revoked.renew()
    assert credentials.check(header(first)) is None
    assert credentials.check(header(second)).relay
    file.write_text("damaged")
    with pytest.raises(ParameterError):
        revoked.renew()
    assert credentials.check(header(first)) is None, "what was read before stays in force"
    write_revoked(file, [identity_of(second)])
    revoked.renew()
    assert credentials.check(header(first)) is not None
    assert credentials.check(header(second)) is None


def test_no_revocation_is_lost_beside_another(tmp_path):
    file, ids = tmp_path / "revoked.txt", [os.urandom(16) for _ in range(40)]
    write_revoked(file, [])
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda identity: revoke(file, [identity]), ids))
    assert read_revoked(file) == set(ids)
    assert sorted(total for _, total in counts) == list(range(1, 41))
    assert list(tmp_path.iterdir()) == [file]


def test_a_list_that_is_lost_is_not_replaced_by_another(tmp_path):
    file = tmp_path / "revoked.txt"
    with pytest.raises(ParameterError, match=r"No such file.*Put it back"):
        revoke(file, [bytes(16)])
    assert not file.exists()
    assert revoke(file, [bytes(16)], new=True) == (1, 1)
    with pytest.raises(ParameterError, match="`--new` must be left out: there is a list"):
        revoke(file, [bytes(16)], new=True)


def test_a_list_keeps_its_readers_and_owner(tmp_path, monkeypatch):
    file = tmp_path / "revoked.txt"
    revoke(file, [bytes(16)], new=True)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    revoke(file, [os.urandom(16)])
    assert file.stat().st_mode & 0o777 == 0o640
    before, found, owners = file.read_text(), os.fstat, []

    def elsewhere(descriptor):
        made = list(found(descriptor))
        made[4] += 1
        return os.stat_result(made)

    def refused(*wanted):
        owners.append(wanted[1:])
        raise PermissionError

    monkeypatch.setattr("croupier.protocol.durable.os.fstat", elsewhere)
    monkeypatch.setattr("croupier.protocol.durable.os.fchown", refused)
    with pytest.raises(ParameterError, match="owner"):
        revoke(file, [os.urandom(16)])
    monkeypatch.undo()
    assert owners == [(file.stat().st_uid, file.stat().st_gid)]
    assert file.read_text() == before
    assert list(tmp_path.iterdir()) == [file]
