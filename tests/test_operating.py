"""The operator's guide works as printed, names tests that exist, and leaves no threat out."""

import os
import re
import signal
import subprocess
import tempfile
import time
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.machine import free_port
from croupier.cli.options.engine import EngineName
from croupier.demo.database import _cluster
from croupier.protocol.key_directory import KeyDirectory, KeyFileError, passphrase
from tests.warm import croupier

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/operating.md").read_text()
REFERENCE = (ROOT / "docs/operating-reference.md").read_text()
ROWS = re.findall(r"^\| ([CHMN]\d+) \|.*\| ([^|]*) \|$", REFERENCE, re.MULTILINE)


def test_every_threat_has_a_row_and_a_test_or_a_stated_limit():
    assert [name for name, _ in ROWS] == [
        *(f"{'C' if n < 7 else 'H' if n < 17 else 'M'}{n}" for n in range(1, 30)),
        *(f"N{n}" for n in range(30, 53)),
    ]
    for name, tested in ROWS:
        stated = "LIMITATIONS" in tested or "not testable" in tested
        assert stated or re.search(r"(tests|benchmarks)/", tested), name


def test_every_test_that_is_named_exists():
    named = re.findall(r"(?:tests|benchmarks)/[\w/]+(?:\.py)?", PAGE + REFERENCE)
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


def sections(page=PAGE):
    """The blocks of commands by the heading that they stand under, in their order."""
    found = {}
    for part in re.split(r"^##+ ", page, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if blocks:
            found[heading] = "".join(blocks)
    return found


GUIDE = [
    "Before the first round",
    "A round",
    "Watch it",
    "Configure it",
    "Several plans",
    "Several hosts",
    "Backup",
    "Replacing keys",
]
NOT_PLAYED = {
    "Install": "needs root, and a network",
    "Check that everybody sees the same keys": "needs two addresses: test_mirror.py",
    "From version 0.1": "needs keys of that version: test_migrate.py",
}


PLAYED_ALONE = ["Keys"]
MINUTE, TEN_MINUTES = 60, 600


def test_every_command_of_the_guide_is_played_or_has_a_reason():
    assert {*sections()} == {*GUIDE, *PLAYED_ALONE, *NOT_PLAYED}
    for reason in NOT_PLAYED.values():
        for name in re.findall(r"test_\w+\.py", reason):
            assert list((ROOT / "tests").rglob(name)), name


COMMANDS_NEED = {
    "serve": "service",
    "release": "service",
    "status": "service",
    "analyze": EngineName.DUCKDB,
}


def test_the_installation_has_what_the_blocks_after_it_need():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    (named,) = re.findall(r"'\.\[(.*)\]'", sections()["Install"])
    assert "./clients/python" in sections()["Install"]  # submit and mirror
    installed = {package for extra in named.split(",") for package in extras[extra]}
    used = {*re.findall(r"croupier (\w+)", "".join(sections().values()))}
    assert used >= COMMANDS_NEED.keys()
    for command, extra in COMMANDS_NEED.items():
        assert installed >= {*extras[extra]}, command


def program(folder, name, text):
    file = folder / name
    file.write_text(f"#!/bin/bash\n{text}\n")
    file.chmod(0o755)


def played(script, tmp_path, **changes):
    """Run a script as it is pasted, in an empty directory, on an empty server; what it printed.

    Changed are the length of the round, the pause between two releases, the number of workers, the
    work behind a passphrase and the ports, which others may use here; the cluster trusts everybody,
    so that `sudo` is not needed.
    """
    programs, folder = tmp_path / "programs", tmp_path / "empty"
    public, private, other = (free_port() for _ in range(3))
    programs.mkdir()
    folder.mkdir()
    (programs / "croupier").symlink_to(croupier())
    program(programs, "sudo", 'shift 2; exec "$@"')  # the cluster trusts everybody here
    # The last --port and --metrics-port of a command count.
    serve = f"croupier serve --workers 1 --port {public} --metrics-port {private}"
    for shown, here in {
        'every = "1m"': 'every = "5s"',
        "croupier serve": serve,
        "127.0.0.1:8000": f"127.0.0.1:{public}",
        "do sleep 5": "do sleep 1",
        **changes,
    }.items():
        assert shown in script
        script = script.replace(shown, here)
    for shown, here in {
        "127.0.0.1:9000": f"127.0.0.1:{private}",
        "127.0.0.1:8001": f"127.0.0.1:{other}",
        "--port 8001 --metrics-port 9001": f"--port {other} --metrics-port 0",
    }.items():
        script = script.replace(shown, here)
    with _cluster() as server:
        facts = dict(entry.split("=") for entry in server.split())
        environment = os.environ | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PGHOST": facts["host"],
            "PGPORT": facts["port"],
            "PGUSER": facts["user"],
            "CROUPIER_STATUS_SERVER": f"http://127.0.0.1:{public}",
        }
        code, printed = pasted(script, folder, environment)
    assert code == 0, printed
    return printed


def pasted(script, folder, environment):
    """Run a script until it ends or fails, then end what it left running; its code and output.

    The output goes to a file: a service in the background would keep a pipe open.
    """
    with (
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen(
            ["/bin/bash", "-e"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as shell,
    ):
        try:
            shell.communicate(script, timeout=TEN_MINUTES)
        except subprocess.TimeoutExpired:
            output.seek(0)
            pytest.fail(f"the script is not over, after it has printed:\n{output.read()}")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGTERM)
        output.seek(0)
        return shell.returncode, output.read()


def runs(number):
    """Tell whether a process runs; one that ended and that nobody waited for has no command."""
    with suppress(OSError):
        return bool(Path(f"/proc/{number}/cmdline").read_bytes())
    return False


def test_a_script_that_fails_ends_at_once_with_what_it_started(tmp_path):
    start = time.monotonic()
    script = "sleep 300 &\necho $! started\nfalse\necho not reached\n"
    code, printed = pasted(script, tmp_path, os.environ)
    number, _, said = printed.partition(" ")
    assert (code, said) == (1, "started\n")
    while runs(number) and time.monotonic() - start < 60:
        time.sleep(0.05)
    assert time.monotonic() - start < 60


def test_a_passphrase_is_changed_as_printed(tmp_path):
    """The new one opens the key and the old one does not; by a wrong one nothing is changed."""
    folder, phrase = tmp_path / "keys/release", tmp_path / "release.txt"
    key = KeyDirectory(folder, b"correct horse").create_signing_key("release")

    def paste(phrase_before):
        phrase.write_text(phrase_before)
        shell = {"input": sections()["Keys"], "text": True, "cwd": tmp_path}
        return subprocess.run(["/bin/bash"], check=False, **shell).returncode

    assert paste("incorrect horse\n") != 0
    assert phrase.read_text() == "incorrect horse\n"
    assert opened(folder, b"correct horse") == key.private_bytes_raw()
    assert paste("correct horse\n") == 0
    assert opened(folder, passphrase(phrase)) == key.private_bytes_raw()
    with pytest.raises(KeyFileError):
        opened(folder, b"correct horse")


def opened(folder, phrase):
    return KeyDirectory(folder, phrase).signing_key("release").private_bytes_raw()


def incident(slug):
    """The blocks of an incident's page, as they are pasted one after the other."""
    page = (ROOT / f"docs/incidents/{slug}.md").read_text()
    return "".join(re.findall(r"^ *```sh\n(.*?)^ *```$", page, re.MULTILINE | re.DOTALL))


RELEASE = "croupier release --plan plan.toml --passphrase-file release.txt -o released"
SERVE = "croupier serve --plan plan.toml --secret credentials.key --passphrase-file intake.txt"
VERIFY = "croupier receipt verify released/*.receipt.json --plan plan.toml"
ANALYZE = "croupier analyze released/*.parquet --plan plan.toml --passphrase-file analyzer.txt"
COLLECT = f"""
{SERVE} &
until curl --silent --fail http://127.0.0.1:8000/readyz; do sleep 0.2; done
croupier submit plan.toml answers.csv --server http://127.0.0.1:8000
until [ $(ls released/*.parquet | wc -l) = COUNT ]; do sleep 4; {RELEASE}; done
kill %%
"""


def in_words(printed):
    return re.sub(r"\s+", " ", printed)


@pytest.mark.slow
def test_the_guide_works_as_printed(tmp_path):
    """Every command of the guide, all but the installation; a host without a tag key is refused."""
    lacking = f"! {SERVE} --handover nowhere\n"
    script = f"SECONDS=0\n{sections()['Before the first round']}{sections()['A round']}"
    script += "echo VERIFIED AFTER $SECONDS SECONDS\n"
    script += "".join(sections()[name] for name in GUIDE[2:-2]) + lacking
    script += sections()["Backup"] + sections()["Replacing keys"]
    printed = played(script, tmp_path)
    (seconds,) = re.findall(r"VERIFIED AFTER (\d+) SECONDS", printed)
    assert int(seconds) + MINUTE < TEN_MINUTES  # a round lasts a minute for those who paste
    said = in_words(printed)
    for words in (
        "SERVING",
        "SENT 300 reports",
        "RELEASED",
        "Receipt valid",
        "300 counted",
        "READY round 1, open for",
        "last batch round 0, released, receipt 0: 300 = 300 released",
        '{"healthy":true',
        "croupier_commits_total",
        "must hold the tag key of round 1, which is open",
        "Made a new key of release in keys/release",
    ):
        assert words in said, printed
    assert "NOT READY" not in said, printed


@pytest.mark.slow
def test_a_restored_backup_works_as_printed(tmp_path):
    """The commands of the backup and of its incident. Nobody can be asked whether to recover."""
    script = sections()["Before the first round"] + sections()["A round"] + sections()["Backup"]
    script += f"{RELEASE} --next-round\n" + COLLECT.replace("COUNT", "2")
    script += f"{RELEASE} --next-round\nsudo -u postgres dropdb --force croupier\n"
    restore, recover, rest = incident("database-set-back").partition("croupier recover")
    script += f"{restore}! {RELEASE}\n! {SERVE}\n{VERIFY}\n{recover} --yes{rest}"
    script += COLLECT.replace("COUNT", "3") + f"{VERIFY}\n{ANALYZE}\n"
    printed = played(script, tmp_path)
    assert printed.count("was set back to an older copy, or is another one") == 2, printed
    said = in_words(printed)
    for words in (
        "gives up rounds 2 to 3: lost with all reports that were acknowledged for them",
        "RECOVERED receipt 2: ",
        "OPEN round 4",
        "2 recovered: database set back to an older copy; lost: rounds 2 to 3; 1 receipt put back",
        "VALID 4 signed, chained receipts, numbers 0 to 3",
        "the shuffler says that its database was set back to an older copy",
    ):
        assert words in said, printed
