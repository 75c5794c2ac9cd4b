"""The harness with many plans on a small scale: it measures, and counts what is missing."""

import shutil

import pytest

from benchmarks import plans
from tests.conftest import SERVER


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("wrk") is None, reason="needs wrk")
def test_a_service_with_several_plans_is_compared_with_one(database):  # noqa: ARG001 - or skipped
    result = plans.measure(SERVER, plans=3, rounds=1, seconds=5.0, idle=0.5)
    assert result["acknowledged"] > 10
    assert result["missing"] == 0
    for who in ("one", "many"):
        assert result[who]["start_s"] > 0
        assert result[who]["memory_mb"] > 10
        assert result[who]["requests_per_s"] > 1
    table = plans.as_table(result)
    assert "| figure | 1 plan | 3 plans | ratio |" in table
    assert table.count("\n| ") == len(result["one"])
