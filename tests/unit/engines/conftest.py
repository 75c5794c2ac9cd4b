"""One of each engine for all tests, since Spark takes long to start."""

import os
import sys
from pathlib import Path

import pytest

from croupier.engines.base import engine

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)


@pytest.fixture(scope="session")
def duckdb_engine(tmp_path_factory):
    scratch = tmp_path_factory.mktemp("duckdb")
    with engine("duckdb", memory=1 << 29, processes=2, scratch=scratch) as made:
        yield made
    assert list(scratch.iterdir()) == []


@pytest.fixture(scope="session")
def event_log(tmp_path_factory):
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def spark_engine(tmp_path_factory, event_log):
    scratch = tmp_path_factory.mktemp("spark")
    # Workers are started by Java, which passes the environment on.
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([HERE, before])
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": event_log.as_uri(),
    }
    with engine("spark", master="local[2]", scratch=scratch, settings=settings) as made:
        yield made
    os.environ["PYTHONPATH"] = before
    assert list(scratch.iterdir()) == []
