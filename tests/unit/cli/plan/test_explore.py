import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from croupier.cli.plan import explore

PLAN = """
schema = 2
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.5}
population.enrolled = 5_000
protections.minimum_batch = 2_000
"""
PROGRAM = "import sys; from croupier.cli import main; main()"


@pytest.mark.parametrize("named", [False, True])
def test_the_page_is_there_until_it_is_interrupted(tmp_path, named):
    (tmp_path / "my plan.toml").write_text(PLAN)
    words = ["explore", *(["my plan.toml"] if named else []), "--json", "--no-browser"]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words], stdout=subprocess.PIPE, cwd=tmp_path, text=True
    ) as running:
        address = json.loads(running.stdout.readline())["address"]
        assert address.startswith("http://127.0.0.1:")
        request = urllib.request.Request(  # noqa: S310 - on this machine
            f"{address}state", b"{}", {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
            parts = [json.loads(line) for line in answer]
        assert parts[0]["file"] == ("my plan.toml" if named else "plan.toml")
        assert parts[0]["document"]["population"]["enrolled"] == (5_000 if named else 1_000_000)
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["my plan.toml"]


def test_a_plan_that_is_none(croupier, tmp_path):
    (tmp_path / "bad.toml").write_text("schema = 2")
    outcome = croupier("explore", str(tmp_path / "bad.toml"), "--no-browser")
    assert outcome.code == 3


def test_the_browser_is_given_a_file_that_nobody_else_can_read(monkeypatch):
    seen = []

    def look(address):
        path = Path(address.removeprefix("file://"))
        seen.append((address, path.read_text(), path.parent.stat().st_mode & 0o077))

    monkeypatch.setattr("webbrowser.open", look)
    with explore._opened("http://127.0.0.1:8800/secret/"):  # noqa: SLF001 - no terminal here
        [(address, text, others)] = seen
    assert "secret" not in address
    assert "url=http://127.0.0.1:8800/secret/" in text
    assert others == 0
    assert not Path(address.removeprefix("file://")).exists()
