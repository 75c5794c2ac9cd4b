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


def commands_of(section):
    """The first block of a section, as it is pasted."""
    return PAGE.partition(f"## {section}\n")[2].partition("```sh\n")[2].partition("```")[0]


def program(folder, name, text):
    file = folder / name
    file.write_text(f"#!/bin/bash\n{text}\n")
    file.chmod(0o755)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def incident(slug):
    """The first block of an incident's page, as it is pasted."""
    page = (ROOT / f"docs/incidents/{slug}.md").read_text()
    return page.partition("```sh\n")[2].partition("```")[0]


RELEASE = "croupier release --plan plan.toml --passphrase-file release.txt -o released"
COLLECT = """
{serve} &
until curl --silent --fail http://127.0.0.1:{port}/readyz; do sleep 0.2; done
croupier submit plan.toml answers.csv --server http://127.0.0.1:{port}
until [ $(ls released/*.parquet | wc -l) = {files} ]; do sleep 4; {release}; done
kill %%
"""


@pytest.mark.slow
def test_the_first_round_and_a_restored_backup_work_as_printed(tmp_path):
    """Every command of the page, in an empty directory, on an empty server; then of an incident.

    Changed are the length of the round, the pause between two releases and the ports, which others
    may use here; the cluster trusts everybody, so that `sudo` is not needed. Nobody can be asked
    whether to recover.
    """
    programs, folder, port = tmp_path / "programs", tmp_path / "empty", free_port()
    programs.mkdir()
    folder.mkdir()
    run = f"exec {sys.executable} -c 'from croupier.cli import main; main()' \"$@\""
    program(programs, "croupier", run)
    program(programs, "sudo", 'shift 2; exec "$@"')  # the cluster trusts everybody here
    serve = "croupier serve --plan plan.toml --secret credentials.key --passphrase-file intake.txt"
    collect = {"serve": serve, "port": 8000, "release": RELEASE}
    verify = "croupier receipt verify released/*.receipt.json --plan plan.toml"
    analyze = "croupier analyze released/*.parquet --plan plan.toml --passphrase-file analyzer.txt"
    script = commands_of("Before the first round") + commands_of("A round") + commands_of("Backup")
    script += f"{RELEASE} --next-round\n" + COLLECT.format(files=2, **collect)
    script += f"{RELEASE} --next-round\nsudo -u postgres dropdb --force croupier\n"
    restore, recover, rest = incident("database-set-back").partition("croupier recover")
    script += f"{restore}! {RELEASE}\n! {serve}\n{verify}\n{recover} --yes{rest}"
    script += COLLECT.format(files=3, **collect) + f"{verify}\n{analyze}\n"
    for shown, here in {
        'every = "1m"': 'every = "5s"',
        "croupier serve": f"croupier serve --port {port} --metrics-port 0",
        "127.0.0.1:8000": f"127.0.0.1:{port}",
        "do sleep 5": "do sleep 1",
    }.items():
        assert shown in script
        script = script.replace(shown, here)
    printed = played(script, folder, programs)
    for word in ("SERVING", "SENT  300 reports", "RELEASED", "Receipt valid", "300 counted"):
        assert word in printed, printed
    assert printed.count("was set back to an older copy, or is another one") == 2, printed
    said = re.sub(r"\s+", " ", printed)
    for words in (
        "gives up rounds 2 to 3: lost with all reports that were acknowledged for them",
        "RECOVERED receipt 2: ",
        "OPEN round 4",
        "2 recovered: database set back to an older copy; lost: rounds 2 to 3; 1 receipt put back",
        "VALID 4 signed, chained receipts, numbers 0 to 3",
        "the shuffler says that its database was set back to an older copy",
    ):
        assert words in said, printed


def played(script, folder, programs):
    """Run a script on a new cluster; what it printed."""
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
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as shell:
            try:
                printed, _ = shell.communicate(script, timeout=600)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(shell.pid, signal.SIGTERM)
    assert shell.returncode == 0, printed
    return printed
