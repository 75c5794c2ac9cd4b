"""Ten million rows through the command line, in bounded memory."""

import json
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

ROWS = 10_000_000
GIGABYTE = 1 << 20  # in kilobytes
PEAK = re.compile(r"VmHWM:\s+(\d+) kB")

#: The command, which at its end writes its own peak. The peak that wait4 and getrusage know is
#: at least that of the process from which this one was forked, however little it needs itself.
MEASURED = """
import atexit, pathlib, sys
from croupier.cli import main
atexit.register(lambda: sys.stderr.write(pathlib.Path("/proc/self/status").read_text()))
main()
"""


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
    flags = ["--mechanism", "k-rr", "--k", "4", "--max-epsilon-local", "1"]
    _run("randomize", str(source), "-o", str(reports), *flags, "--json")
    document = _run("estimate", str(reports), "--confidence", "0.9999999999", "--json")
    assert document["n"] == ROWS
    for row, count in zip(document["estimates"], counts, strict=True):
        low, high = row["interval"]
        assert low <= count / ROWS <= high


def _run(*arguments):
    """What a command prints; it must be content with a gigabyte."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments], capture_output=True, text=True, check=True
    )
    assert int(PEAK.search(done.stderr)[1]) < GIGABYTE
    return json.loads(done.stdout)
