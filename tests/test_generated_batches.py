"""What benchmarks/generate.py seals is what the analyzer counts."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_analyzer_counts_what_was_generated(tmp_path):
    rows = ["--rows", "600", "--processes", "1"]
    made = json.loads(_run("-m", "benchmarks.generate", str(tmp_path), *rows))
    truth = Counter(made["truth"])
    assert truth.total() == 600

    main = [
        "-c",
        "from croupier.cli import main; main()",
        "analyze",
        str(tmp_path / "batch.parquet"),
    ]
    found = json.loads(
        _run(
            *main,
            "--plan",
            str(tmp_path / "plan.toml"),
            "--keys",
            str(tmp_path / "keys" / "analyzer"),
            "--json",
        )
    )
    counts = {name: truth.pop(name) for name in ("null", "malformed", "duplicate")}
    assert found["counts"] == counts | {"cannot_open": 0}
    assert found["n"] == truth.total()


def _run(*arguments):
    environment = os.environ | {"CROUPIER_PASSPHRASE": "of the benchmarks"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env=environment, cwd=ROOT
    ).stdout
