"""Nothing is lost, doubled or signed twice when something breaks.

Each test is the short version of a harness that `python -m benchmarks.faults all` runs at length.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.faults.spenders import SpendNotes

ROOT = Path(__file__).parents[1]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("pg_config") is None, reason="needs PostgreSQL's programs"),
]


def run(*arguments):
    command = [sys.executable, "-m", "benchmarks.faults", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def harness(*arguments):
    """A harness's row, or a skipped test where it cannot run."""
    (result,) = run(*arguments)
    if result["skipped"] is not None:
        pytest.skip(result["skipped"])
    return result


def require_clean(result):
    assert result["violations"] == [], result["remarks"]
    assert result["lost"] == result["doubled"] == 0
    assert result["acknowledged"]


def test_kills_lose_and_double_nothing():
    counts = run("--kills", "6")
    assert counts["acknowledged"] >= 200
    assert counts["lost"] == counts["doubled"] == counts["never_sent"] == 0
    assert counts["in_two_batches"] == 0
    assert counts["violations"] == []


def test_a_release_that_stops_at_any_point_is_finished_by_the_next():
    """Killed or failing before and after statements and changes of files, another sample each run.

    From a batch with enough people and from one that is disposed of.
    """
    result = harness("points", "--every", "72")
    assert result["faults"] > 6
    require_clean(result)


@pytest.mark.proof
def test_a_release_into_an_object_store_that_stops_is_finished_by_the_next():
    """As above, with requests to the store: nothing is written twice, or before it is signed."""
    result = harness("objects", "--every", "110")
    assert result["faults"] >= 8
    require_clean(result)


@pytest.mark.proof
def test_no_report_is_lost_under_any_default_isolation():
    result = harness("isolation", "--seconds-per-harness", "6")
    assert result["faults"] >= 3
    require_clean(result)


def test_a_database_that_was_set_back_is_neither_released_nor_served_from():
    require_clean(harness("set_back"))


def test_a_recovery_that_stops_at_any_point_is_finished_by_the_next():
    result = harness("recover", "--every", "60")
    assert result["faults"] >= 2
    require_clean(result)


@pytest.mark.proof
def test_reports_are_stored_again_after_database_connections_fall_silent():
    require_clean(harness("silent"))


@pytest.mark.proof
def test_a_full_disk_stops_a_release_or_a_report_and_loses_neither():
    result = harness("full", "--seconds-per-harness", "12")
    assert result["faults"] >= 2
    require_clean(result)


@pytest.mark.proof
def test_a_wrong_clock_deletes_nothing():
    require_clean(harness("clock"))


def test_a_token_counts_once_however_often_it_is_sent_to_two_hosts_that_are_killed():
    """Both hosts get every token, half of them two different reports, some at the same moment."""
    result = harness("tokens", "--spends", "300", "--kills", "2")
    assert result["acknowledged"] == 300
    require_clean(result)


def test_a_token_is_lost_only_if_none_of_its_reports_is_released():
    notes = SpendNotes(person={b"a": 0, b"b": 0, b"c": 1}, hosts={0: {0, 1}, 1: {1}})
    assert notes.told == 2
    assert notes.lost({b"b", b"c"}) == 0
    assert notes.lost({b"a"}) == notes.lost({b"c"}) == 1
