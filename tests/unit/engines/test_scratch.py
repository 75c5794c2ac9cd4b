import os
import signal
import subprocess
import sys

from croupier.engines.scratch import scratch_directory

HOLD = """
import sys, time
from pathlib import Path
from croupier.engines.scratch import scratch_directory
with scratch_directory(Path(sys.argv[1])) as path:
    (path / "secret").write_text("x")
    print(path, flush=True)
    time.sleep(600)
"""


def test_a_directory_is_private_and_goes_with_its_context(tmp_path):
    with scratch_directory(tmp_path / "new") as path:
        assert path.stat().st_mode & 0o077 == 0
        (path / "deep").mkdir()
        (path / "deep" / "file").write_text("x")
    assert list((tmp_path / "new").iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_uses_is_not(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE) as job:
        job.stdout.readline()
        (held,) = tmp_path.iterdir()
        with scratch_directory(tmp_path):
            assert (held / "secret").exists()
        job.send_signal(signal.SIGKILL)
    assert (held / "secret").exists()
    with scratch_directory(tmp_path) as path:
        assert list(tmp_path.iterdir()) == [path]


def test_what_others_put_there_is_left_alone_and_not_waited_for(tmp_path, monkeypatch):
    pipe, link, foreign = (tmp_path / f"croupier-scratch-{name}" for name in "abc")
    for folder in (pipe, link, foreign):
        folder.mkdir()
    os.mkfifo(pipe / "lock")
    (tmp_path / "elsewhere").touch()
    (link / "lock").symlink_to(tmp_path / "elsewhere")
    (foreign / "lock").touch()
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with scratch_directory(tmp_path):
        assert foreign.exists()
    monkeypatch.undo()
    with scratch_directory(tmp_path):
        assert link.exists()
        assert not foreign.exists()
