"""The analyzer's step, on every engine, against plain Python over the same file."""

import os

import numpy as np
import pyarrow.parquet as pq
import pytest

from croupier.analyzer.counting import CountReports, ReportCounts
from croupier.analyzer.keys import KeySource

GRID = {"low": 0, "high": 5, "step": 1}
PLANS = {
    "k-rr": {},
    "local-hashing": {
        "randomizer": {"mechanism": "local-hashing", "k": 100, "max_epsilon_local": 2.0}
    },
    "sampled-sign": {
        "randomizer": {"mechanism": "sampled-sign", "dimension": 5, "max_epsilon_local": 2.0}
    },
    "parallel": {
        "randomizer": None,
        "questions": [
            {"mechanism": "symmetric-unary", "k": 9, "max_epsilon_local": 2.0},
            {"mechanism": "laplace", "grid": GRID, "max_epsilon_local": 2.0},
        ],
    },
    "together": {
        "randomizer": None,
        "questions": [
            {"mechanism": "symmetric-unary", "k": 9, "max_epsilon_local": 2.0},
            {"mechanism": "k-rr", "k": 3, "max_epsilon_local": 2.0},
        ],
        "participation": {"model": "together"},
    },
}
VALUES = {"sampled-sign": [[1, -1, 1, 1, -1]], "parallel": [[3, 4]], "together": [[3, 2]]}


@pytest.fixture(params=["duckdb", "spark"])
def made(request):
    return request.getfixturevalue(f"{request.param}_engine")


@pytest.mark.parametrize("name", PLANS)
def test_engines_count_what_plain_python_counts(name, made, make_released, memory_engine):
    """Byte by byte the same table, from answers, nulls, garbage and duplicates."""
    site = make_released(**PLANS[name])
    epoch = site.epoch()
    reports = site.answers(VALUES.get(name, [1]) * 800)
    spoiled = [b"\1", b"\2\2", b"\2\0\0\7", b"\2\1" + b"\xff" * 30, *[None] * 50]
    inner = site.sealed([*reports, *spoiled], epoch)
    inner += [os.urandom(80) for _ in range(9)]
    path = site.release(inner, epoch, repeated=60)
    file = site.folder / "passphrase.txt"
    file.write_text("a passphrase\n")
    file.chmod(0o600)
    source = KeySource(site.keys.path, file)
    step = CountReports(site.plan, epoch, source)
    expected = memory_engine.count([path], step)
    told = []
    found = made.count([path], step, advance=told.append)
    assert found.equals(expected)
    assert found.combine_chunks().to_batches()[0].equals(expected.combine_chunks().to_batches()[0])
    assert sum(told) == pq.read_metadata(path).num_rows == 800 + 54 + 9 + 60

    counts = ReportCounts.of(found, plan=site.plan, round_number=0)
    assert (counts.answers, counts.nulls, counts.duplicate) == (800, 50, 60)
    assert (counts.cannot_open, sum(counts.malformed.values())) == (9, 4)
    assert counts.traits.tolist() == site.plan.randomizer.traits(np.array(reports)).tolist()


GROUPS = {"order": "mallows", "alpha": 3.0, "groups": {"sha256": "0" * 64, "sensitivity": 3}}


def test_engines_count_by_part_what_plain_python_counts(made, make_released, memory_engine):
    """Of equal rows the first place counts; the sums of parts are those of the batch."""
    site = make_released(shuffling=GROUPS)
    epoch = site.epoch()
    spoiled = [b"\1", *[None] * 5]
    inner = site.sealed([*site.answers([1] * 300 + [2] * 100), *spoiled], epoch)
    path = site.release([*inner, os.urandom(80)], epoch, repeated=20)
    part_of = np.arange(427) % 3
    source = KeySource(site.keys.path, site.folder / "passphrase.txt")
    source.passphrase_file.write_text("a passphrase\n")
    source.passphrase_file.chmod(0o600)
    step = CountReports(site.plan, epoch, source, part_of)
    found = made.count([path], step, beside="place")
    assert found.equals(memory_engine.count([path], step, beside="place"))
    counts = ReportCounts.of(found, plan=site.plan, round_number=0)
    whole = memory_engine.count([path], CountReports(site.plan, epoch, source))
    plain = ReportCounts.of(whole, plan=site.plan, round_number=0)
    assert sorted(counts.parts) == [0, 1, 2]
    assert sum(own.answers for own in counts.parts.values()) == counts.answers == plain.answers
    sums = sum(own.tally for own in counts.parts.values())
    assert np.array_equal(sums, counts.tally)
    assert np.array_equal(counts.tally, plain.tally)
    assert (counts.nulls, counts.duplicate, counts.cannot_open) == (5, 20, 1)
