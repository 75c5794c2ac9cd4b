"""The operator's page names tests that exist, and leaves no threat out."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from croupier.demo.database import _cluster

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/operating.md").read_text()
ROWS = re.findall(r"^\| ([CHMN]\d+) \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE)


def test_every_threat_has_a_row_and_a_test_or_a_stated_limit():
    assert [name for name, _ in ROWS] == [
        *(f"{'C' if n < 7 else 'H' if n < 17 else 'M'}{n}" for n in range(1, 30)),
        *(f"N{n}" for n in (*range(30, 39), *range(43, 47))),
    ]
    for name, tested in ROWS:
        stated = "LIMITATIONS" in tested or "not testable" in tested
        assert stated or re.search(r"(tests|benchmarks)/", tested), name


def test_every_test_that_is_named_exists():
    named = re.findall(r"(?:tests|benchmarks)/[\w/]+(?:\.py)?", PAGE)
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


def commands_of(section, page=PAGE):
    """The first block of a section, as it is pasted."""
    return page.partition(f"## {section}\n")[2].partition("```sh\n")[2].partition("```")[0]


def program(folder, name, text):
    file = folder / name
    file.write_text(f"#!/bin/bash\n{text}\n")
    file.chmod(0o755)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pasted(script, folder, changes):
    """Run a script in an empty directory, on an empty server; return what it prints.

    Changed are the length of the round, the pause between two releases and the ports, which others
    may use here; the cluster trusts everybody, so that `sudo` is not needed.
    """
    programs, empty, port = folder / "programs", folder / "empty", free_port()
    programs.mkdir()
    empty.mkdir()
    run = f"exec {sys.executable} -c 'from croupier.cli import main; main()' \"$@\""
    program(programs, "croupier", run)
    program(programs, "sudo", 'shift 2; exec "$@"')
    for shown, here in {
        'every = "1m"': 'every = "5s"',
        "croupier serve": f"croupier serve --port {port} --metrics-port 0",
        "127.0.0.1:8000": f"127.0.0.1:{port}",
        "do sleep 5": "do sleep 1",
        **changes,
    }.items():
        assert shown in script
        script = script.replace(shown, here)
    with _cluster() as server:
        facts = dict(entry.split("=") for entry in server.split())
        environment = os.environ | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PGHOST": facts["host"],
            "PGPORT": facts["port"],
            "PGUSER": facts["user"],
        }
        with subprocess.Popen(
            ["/bin/bash", "-e"],
            cwd=empty,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as shell:
            try:
                printed, _ = shell.communicate(script, timeout=300)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(shell.pid, signal.SIGTERM)
    assert shell.returncode == 0, printed
    return printed


@pytest.mark.slow
def test_the_first_round_works_as_printed(tmp_path):
    script = commands_of("Before the first round") + commands_of("A round")
    printed = pasted(script, tmp_path, {})
    for word in ("SERVING", "SENT  300 reports", "RELEASED", "Receipt valid", "300 counted"):
        assert word in printed, printed
