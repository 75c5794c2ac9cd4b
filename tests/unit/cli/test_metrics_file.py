"""The textfile of a job, as the node exporter reads it."""

import os
import subprocess
from shutil import which

import pytest
from prometheus_client.parser import text_string_to_metric_families

from croupier.cli.output.metrics_file import Gauge, require_metrics_file, write_metrics
from croupier.errors import ParameterError

GAUGES = [
    Gauge("croupier_a_seconds", "what it is", {(("plan", "5e"),): 1.5, (("plan", "6f"),): 2}),
    Gauge("croupier_other", "another", {(): 0}),
]


def test_the_file_is_what_a_collector_reads(tmp_path):
    file = tmp_path / "a.prom"
    write_metrics(file, GAUGES)
    read = {family.name: family for family in text_string_to_metric_families(file.read_text())}
    assert [sample.value for sample in read["croupier_a_seconds"].samples] == [1.5, 2]
    assert read["croupier_a_seconds"].samples[0].labels == {"plan": "5e"}
    assert read["croupier_other"].documentation == "another"
    assert [*tmp_path.iterdir()] == [file]


def test_the_collector_may_read_it_whatever_the_umask(tmp_path):
    file = tmp_path / "a.prom"
    before = os.umask(0o077)
    try:
        write_metrics(file, GAUGES)
    finally:
        os.umask(before)
    assert file.stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(which("promtool") is None, reason="promtool (Debian: prometheus) is missing")
def test_promtool_finds_nothing_to_criticise(tmp_path):
    file = tmp_path / "a.prom"
    write_metrics(file, GAUGES)
    subprocess.run(["promtool", "check", "metrics"], input=file.read_bytes(), check=True)  # noqa: S607


def test_a_file_that_no_collector_reads_is_refused(tmp_path):
    for file in (tmp_path / "a.txt", tmp_path / "none" / "a.prom"):
        with pytest.raises(ParameterError):
            require_metrics_file(file)
    require_metrics_file(None)
    write_metrics(None, GAUGES)
