"""Ten million rows through the command line, in bounded memory."""

import json
import resource
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

ROWS = 10_000_000
GIGABYTE = 1 << 20  # in units of ru_maxrss


@pytest.mark.slow
def test_ten_million_rows_in_less_than_a_gigabyte(tmp_path):
    rng = np.random.default_rng(1)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    source, reports = tmp_path / "answers.parquet", tmp_path / "reports.parquet"
    counts = np.zeros(4)
    schema = pa.schema([("answer", pa.int64())])
    with parquet.ParquetWriter(source, schema) as writer:
        for _ in range(10):
            values = rng.choice(4, ROWS // 10, p=shares)
            counts += np.bincount(values, minlength=4)
            writer.write_table(pa.table({"answer": values}))
    flags = ["--mechanism", "k-rr", "--k", "4", "--epsilon-local", "1"]
    _run("randomize", str(source), "-o", str(reports), *flags, "--json")
    document = _run("estimate", str(reports), "--confidence", "0.9999999999", "--json")
    assert document["n"] == ROWS
    for row, count in zip(document["estimates"], counts, strict=True):
        low, high = row["interval"]
        assert low <= count / ROWS <= high
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < GIGABYTE


def _run(*arguments):
    program = [sys.executable, "-c", "from croupier.cli import main; main()", *arguments]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
