"""The harness with two hosts on a small scale, and what makes it fail."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.faults.verdict import Verdict
from benchmarks.hosts import Figures, configured

ROOT = Path(__file__).parents[1]
CONFIGURATION = """\
global
    maxconn 8000

frontend reports
    bind :443 ssl crt /etc/haproxy/tls/reports.example.pem alpn http/1.1

backend croupier
    default-server check inter 2s
    server intake-1 10.0.1.11:8000
    server intake-2 10.0.1.12:8000
"""


@pytest.mark.proof
def test_a_host_that_is_killed_loses_nothing():
    command = [sys.executable, "-m", "benchmarks.hosts", "--seconds", "25", "--every", "8"]
    done = subprocess.run(
        [*command, "--json"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout, done.stderr
    counts = json.loads(done.stdout)
    if "skipped" in counts:
        pytest.skip(counts["skipped"])
    assert done.returncode == 0
    assert counts["violations"] == []
    assert counts["lost"] == counts["doubled"] == 0
    assert counts["kills"] == 3
    assert counts["released"] >= counts["acknowledged"] > 100


def test_only_addresses_and_the_certificate_are_replaced():
    made = configured(
        CONFIGURATION,
        certificate=Path("own.pem"),
        addresses=["198.18.0.2:1", "198.18.0.3:2"],
        statistics=Path("socket"),
    )
    changed = set(made.splitlines()) - set(CONFIGURATION.splitlines())
    assert changed == {
        "    stats socket socket",
        "    bind :443 ssl crt own.pem alpn http/1.1",
        "    server intake-1 198.18.0.2:1",
        "    server intake-2 198.18.0.3:2",
    }


@pytest.mark.parametrize("missing", ["server intake-2", "crt /etc"])
def test_a_configuration_of_another_shape_is_refused(missing):
    text = "\n".join(line for line in CONFIGURATION.splitlines() if missing not in line)
    with pytest.raises(SystemExit, match=r"haproxy.cfg has"):
        configured(
            text, certificate=Path("own.pem"), addresses=["a:1", "b:1"], statistics=Path("s")
        )


def test_a_run_without_kills_or_reports_is_not_clean():
    assert Figures(1.0, kills=1, verdict=Verdict(acknowledged=1)).is_clean
    assert not Figures(1.0, kills=0, verdict=Verdict(acknowledged=1)).is_clean
    assert not Figures(1.0, kills=1, verdict=Verdict()).is_clean
    assert not Figures(1.0, kills=1, verdict=Verdict(acknowledged=1, lost=1)).is_clean
