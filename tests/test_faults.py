"""Nothing is lost when processes are killed; `benchmarks/faults.py` does the same for longer."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pg_config") is None, reason="needs PostgreSQL's programs")
def test_kills_lose_and_double_nothing():
    command = [sys.executable, "-m", "benchmarks.faults", "--kills", "6", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout)
    assert counts["acknowledged"] >= 200
    assert counts["lost"] == counts["doubled"] == counts["never_sent"] == 0
    assert counts["in_two_batches"] == 0
