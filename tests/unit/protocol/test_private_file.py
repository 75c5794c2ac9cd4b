import os
from types import SimpleNamespace

import pytest

from croupier.protocol.private_file import is_open_to_others

ROOT, PERSON = 0, 1000


@pytest.mark.parametrize(
    ("owner", "user", "mode", "is_open"),
    [
        (PERSON, PERSON, 0o600, False),
        (PERSON, PERSON, 0o640, True),
        (PERSON, PERSON, 0o604, True),
        (ROOT, PERSON, 0o400, False),
        (ROOT, PERSON, 0o440, False),  # as systemd and Kubernetes hand over a secret
        (ROOT, PERSON, 0o460, True),
        (ROOT, PERSON, 0o444, True),
        (ROOT, ROOT, 0o440, True),
    ],
)
def test_only_what_root_hands_over_may_be_read_by_a_group(monkeypatch, owner, user, mode, is_open):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    file = SimpleNamespace(stat=lambda: SimpleNamespace(st_uid=owner, st_mode=0o100000 | mode))
    assert is_open_to_others(file) is is_open
