"""The guide of the issuer, played: people enrol, get tokens, answer, and are counted once."""

import re
import sys
from pathlib import Path

import pytest

from benchmarks.machine import free_port
from tests.test_operating import in_words, played

GUIDE = (Path(__file__).parents[1] / "docs/guides/issuer.md").read_text()

pytestmark = pytest.mark.slow


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def as_printed(script, folder):
    """Play a script on ports of this machine, with this interpreter."""
    port = free_port()
    return played(
        script,
        folder,
        **{
            'every = "1m"': 'every = "20s"',  # as long a device asks again, on a busy machine
            "croupier issuer serve": f"croupier issuer serve --port {port} --metrics-port 0",
            "127.0.0.1:8001": f"127.0.0.1:{port}",
            "python devices.py": f"{sys.executable} devices.py",
        },
    )


def alike(text):
    """A text without what differs from run to run: digests, ports and spaces."""
    return re.sub(r"[0-9a-f]{8}|127.0.0.1:\d+", "#", in_words(text)).strip()


def test_the_guide_prints_what_it_shows(tmp_path):
    printed = as_printed("".join(blocks("sh")), tmp_path)
    for block in blocks("text"):
        for line in block.splitlines():
            assert alike(line) in alike(printed), (line, printed)
    said = in_words(printed)
    assert "50 counted, 0 null, 0 malformed" in said, printed
    assert "REVOKED 1 more, 1 in revoked.txt" in said
    assert "rounds 1 to 16" in said
