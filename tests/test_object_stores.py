"""The page about object stores: its commands work as printed, on a store of moto."""

import sys
from pathlib import Path

import pytest

from tests.test_operating import commands_of, free_port, pasted

PAGE = (Path(__file__).parents[1] / "docs/object-stores.md").read_text()


@pytest.mark.slow
def test_a_round_is_released_into_a_bucket_and_read_from_there(tmp_path):
    """Moto is installed here already."""
    script = commands_of("Before the first round")
    script += commands_of("Name the store", PAGE) + commands_of("Release and read", PAGE)
    changes = {
        "pip install 'moto[s3]' flask flask-cors\n": "",
        "moto_server": f"{sys.executable} -m moto.server",
        "9001": str(free_port()),
    }
    printed = pasted(script, tmp_path, changes)
    for word in ("RELEASED  300 reports", "VALID  1 signed", "Receipt valid", "300 counted"):
        assert word in printed, printed
    assert "not checked" not in printed
    assert not (tmp_path / "empty" / "released").exists()
