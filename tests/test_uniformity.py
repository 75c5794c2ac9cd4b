"""Whole releases leave no trace of the table's order; `benchmarks/uniformity.py` makes more.

Over 60 batches 60 rows stay in place on average, and 113 is the limit. A shuffler that leaves 2 %
of a batch there leaves 120 at least: it is never missed.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def judged(database, alarm, *options):
    command = [
        sys.executable,
        "-m",
        "benchmarks.uniformity",
        "--batches",
        "60",
        "--false-alarm",
        str(alarm),
        "--json",
    ]
    command += ["--database", database, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
def test_released_orders_are_uniform(database, alarm):
    code, found = judged(database, alarm)
    assert code == 0, found


@pytest.mark.proof
def test_a_shuffler_that_leaves_a_fiftieth_in_place_is_found_out(database, alarm):
    code, found = judged(database, alarm, "--leave", "0.02")
    assert code == 1
    assert found["stayed"] > found["stayed_limit"]
