"""A plan may come from standard input, and a full disk is said in words."""

import subprocess
import sys
from pathlib import Path

import pytest

PLAN = b"""
schema = 2
randomizer = {mechanism = "k-rr", k = 3, max_epsilon_local = 1.0}
population.enrolled = 9_000
protections.minimum_batch = 1_000
[policy]
batch = {max_epsilon = LIMIT}
clients = {max_epsilon = LIMIT}
"""
FULL = Path("/dev/full")
MET = PLAN.replace(b"LIMIT", b"0.9")


def run(*arguments, plan=MET, stdout=subprocess.PIPE):
    program = "from croupier.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        input=plan,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )


def test_a_plan_is_read_from_standard_input(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_bytes(MET)
    for command in (["assess"], ["check"], ["attack", "--games", "100", "--insecure-seed", "1"]):
        piped, named = run(*command, "-"), run(*command, str(file))
        shown = named.stdout.replace(b"explain %s" % str(file).encode(), b"explain -")
        assert (piped.returncode, piped.stdout) == (0, shown), piped.stderr
    done = run("compare", str(file), "-")
    assert b"No key of the plan changes." in done.stdout


def test_lines_of_standard_input_are_named():
    done = run("check", "-", plan=PLAN.replace(b"LIMIT", b"0.001"))
    assert done.returncode == 4
    assert b"-:7" in done.stdout
    done = run("assess", "-", plan=b"schema = 2\nschem = 3\n")
    assert done.returncode == 3
    assert done.stderr.startswith(b"-")


def test_an_upgrade_of_standard_input_needs_a_file(tmp_path):
    old = MET.replace(b"schema = 2", b"schema = 1").replace(b"max_epsilon_l", b"epsilon_l")
    done = run("plan", "upgrade", "-", plan=old)
    assert done.returncode == 2
    assert b"`--output` must be given" in done.stderr
    done = run("plan", "upgrade", "-", "-o", str(tmp_path / "new.toml"), plan=old)
    assert done.returncode == 0, done.stderr
    assert "schema = 2" in (tmp_path / "new.toml").read_text()


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_full_disk_is_said_in_words(more):
    with FULL.open("wb") as full:
        done = run("assess", "-", *more, stdout=full)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "The output is cut off: the disk is full. Free some space, or write elsewhere."
    ]
