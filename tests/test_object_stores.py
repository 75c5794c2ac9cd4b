"""The page about object stores: its commands work as printed, on a store of moto."""

import sys
from pathlib import Path

import pytest

from benchmarks.machine import free_port
from tests.test_operating import played, sections

PAGE = (Path(__file__).parents[1] / "docs/object-stores.md").read_text()


@pytest.mark.slow
def test_a_round_is_released_into_a_bucket_and_read_from_there(tmp_path):
    """Moto is installed here already."""
    own = sections(PAGE)
    script = sections()["Before the first round"] + own["Name the store"] + own["Release and read"]
    changes = {
        "pip install 'moto[s3]' flask flask-cors\n": "",
        "moto_server": f"{sys.executable} -m moto.server",
        "9001": str(free_port()),
    }
    printed = played(script, tmp_path, **changes)
    for word in ("RELEASED  300 reports", "VALID  1 signed", "Receipt valid", "300 counted"):
        assert word in printed, printed
    assert "not checked" not in printed
    assert not (tmp_path / "empty" / "released").exists()
