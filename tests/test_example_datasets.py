"""Every script of examples/datasets/ runs."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from croupier.datasets.catalogue import DATASETS

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(script, *arguments, cwd):
    command = [sys.executable, EXAMPLES / script, *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=os.environ, capture_output=True, text=True, check=True
    ).stdout


def test_no_script_is_left_out():
    assert [path.name for path in (EXAMPLES / "datasets").rglob("*.py")] == ["write.py"]


@pytest.mark.parametrize("name", DATASETS)
def test_datasets_are_written_and_marked_synthetic(name, tmp_path):
    said = run("datasets/write.py", name, "people.parquet", "--people", 300, cwd=tmp_path)
    assert "300 synthetic rows" in said
    for path in tmp_path.glob("*.parquet"):
        schema = pq.read_schema(path)
        assert schema.metadata[b"synthetic"] == b"true"
        assert all(field.metadata[b"about"].startswith(b"synthetic") for field in schema)
    table = pq.read_table(tmp_path / "people.parquet")
    assert table.num_rows == 300
    assert "value" in table.column_names
    assert (tmp_path / "people-contacts.parquet").exists() == (name == "friendship")
