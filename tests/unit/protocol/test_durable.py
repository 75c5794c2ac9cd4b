"""Files that are there as a whole or not at all."""

import errno
import os

import pytest

from croupier.protocol import durable


@pytest.mark.parametrize("links", [True, False])
def test_a_file_is_created_once_and_for_its_owner(tmp_path, monkeypatch, links):
    """Also on a file system, such as that of a USB stick, where a file has one name."""

    def refused(*_):
        raise PermissionError(errno.EPERM, "links are not permitted")

    if not links:
        monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "key"
    durable.create(path, b"first")
    with pytest.raises(FileExistsError):
        durable.create(path, b"second")
    assert path.read_bytes() == b"first"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("write", [durable.create, durable.replace, durable.publish])
def test_a_crash_leaves_nothing_under_the_name_and_what_it_leaves_is_replaced(
    tmp_path, monkeypatch, write
):
    path = tmp_path / "key"

    def full(_):
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError):  # noqa: PT011 - the one above
            write(path, b"half of")
    assert not path.exists()
    assert durable.partial(path).exists()
    write(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("write", [durable.create, durable.replace, durable.publish])
def test_a_link_in_the_way_is_not_followed(tmp_path, write):
    victim = tmp_path / "victim"
    victim.write_bytes(b"kept")
    path = tmp_path / "key"
    durable.partial(path).symlink_to(victim)
    write(path, b"secret")
    assert victim.read_bytes() == b"kept"
    assert path.read_bytes() == b"secret"
    assert not path.is_symlink()
