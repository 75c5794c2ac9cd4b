"""`python -m benchmarks`: what is compared, how, and that every case asks both sides the same."""

import dataclasses
import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import BASELINE, main, run
from benchmarks.case import Case, Peer, Sides
from benchmarks.cases import CASES
from benchmarks.cases.batches import differing
from benchmarks.measurement import Disagreement, Measured, measure
from benchmarks.page import page, table
from benchmarks.results import Results, compare
from croupier.randomizers import randomizer

ROOT = Path(__file__).parents[1]
HEAVY = {"duckdb-order", "duckdb-open", "intake-single", "intake-batched", "batch-rounds", "k-rr"}
HEAVY |= {"unary", "best-gain", "local-rounds"}
ELSEWHERE = {"spark-order", "spark-open"}
"""A minute each; what Spark answers is compared in tests/unit/pipeline/engines."""
WHERE = {
    "date": "2026-01-02",
    "processor": "A processor",
    "cores": 2,
    "memory_gb": 8.0,
    "load": 0.1,
    "niceness": 0,
    "system": "Linux x86_64",
    "python": "3.11.9",
    "croupier": "0.1.0",
    "numpy": "2.4.6",
    "numba": "0.68.1",
}


def measured(ratio):
    return Measured(
        question="How long?",
        peer="peer 1.0",
        ours=ratio * 0.002,
        theirs=0.002,
        ratio=ratio,
        spread=(0.8 * ratio, 1.2 * ratio),
        turns=3,
        difference=1e-12,
        tolerance=1e-9,
        unit="relative",
    )


def results(**ratios):
    return Results(WHERE, measured={name: measured(ratio) for name, ratio in ratios.items()})


def case(*, ours=2.0, theirs=4.0, difference=0.0):
    @contextmanager
    def sides(_):
        yield Sides(lambda: ours, lambda: theirs, lambda: difference, 0.5, "apples")

    return Case("fruit", "{size} fruits?", Peer("numpy"), sides, size=1_000, small=10)


def absent():
    return dataclasses.replace(case(), peer=Peer("no-such-package", "pip install it"))


def test_a_regression_is_found_and_named():
    found = compare(results(a=1.25, b=1.0), results(a=1.0, b=1.0), asked=["a", "b"])
    assert list(found.regressed) == ["a"]
    assert "from 1 to 1.25, by 25%" in found.regressed["a"]
    assert not found.passed


def test_an_improvement_and_a_small_growth_pass():
    found = compare(results(a=0.3, b=1.19), results(a=1.0, b=1.0), asked=["a", "b"])
    assert found.passed
    assert found.compared == 2


def test_cases_of_one_run_only_are_said():
    found = compare(results(a=1.0, b=1.0), results(a=1.0, c=1.0), asked=["a", "b", "c"])
    assert found.new == ("b",)
    assert found.missing == ("c",)
    assert found.passed
    assert compare(results(a=1.0), results(a=1.0, c=1.0), asked=["a"]).missing == ()


def test_a_run_that_compared_nothing_does_not_pass():
    assert not compare(results(a=1.0), results(c=1.0), asked=["a", "c"]).passed


def test_results_are_read_as_they_were_written(tmp_path):
    written = results(a=0.5)
    written.skipped["b"] = "peer is not installed"
    written.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json") == written


def test_the_ratio_is_that_of_the_least_times():
    times = iter([3.0, 1.0, 2.0])

    @contextmanager
    def sides(_):
        yield Sides(lambda: next(times), lambda: 2.0, lambda: 0.0, 0.0, "apples")

    found = measure(dataclasses.replace(case(), sides=sides, rounds=3))
    assert found.ratio == 0.5
    assert found.spread == (0.5, 1.5)
    assert found.question == "1,000 fruits?"


def test_other_answers_are_not_timed():
    with pytest.raises(Disagreement, match="1 apples apart"):
        measure(case(difference=1.0))
    with pytest.raises(Disagreement):
        measure(case(difference=float("nan")))


def test_what_is_missing_is_skipped_aloud_and_what_fails_costs_no_other(monkeypatch, capsys):
    cases = {"absent": absent(), "wrong": case(difference=9.0), "right": case()}
    monkeypatch.setattr("benchmarks.__main__.CASES", cases)
    found = run(list(cases), small=True)
    assert found.skipped == {"absent": "no-such-package is not installed: pip install it"}
    assert found.failed == {"wrong": "Disagreement: 9 apples apart, 0.5 allowed"}
    assert found.measured["right"].ratio == 0.5
    assert "absent: skipped, no-such-package is not installed" in capsys.readouterr().err


@pytest.mark.parametrize(("before", "code"), [(0.4, 1), (0.45, 0)])
def test_check_fails_where_a_ratio_has_grown_by_a_fifth(
    before, code, tmp_path, monkeypatch, capsys
):
    results(fruit=before, gone=1.0).write(tmp_path / "baseline.json")
    monkeypatch.setattr("benchmarks.__main__.BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr("benchmarks.__main__.CASES", {"fruit": case(), "gone": absent()})
    monkeypatch.setattr("sys.argv", ["benchmarks", "--check", "--json", str(tmp_path / "now.json")])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr().out
    assert ended.value.code == code
    assert ("REGRESSED  fruit: the ratio went from 0.4 to 0.5, by 25%" in printed) == bool(code)
    assert "MISSING    gone" in printed
    assert Results.read(tmp_path / "now.json").measured["fruit"].ratio == 0.5


def test_the_table():
    found = results(quick=0.125, slow=12.5)
    found.skipped["other"] = "peer is not installed: pip install peer"
    assert table(found) == (
        "| case | question | beside | ours | theirs | ratio | spread | turns | answers |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
        "| `quick` | How long? | peer 1.0 | 250 µs | 2 ms | 0.125 | 0.1 to 0.15 | 3 "
        "| 1e-12 relative; 1e-09 allowed |\n"
        "| `slow` | How long? | peer 1.0 | 25 ms | 2 ms | 12.5 | 10 to 15 | 3 "
        "| 1e-12 relative; 1e-09 allowed |\n"
        "| other | skipped: peer is not installed: pip install peer |  |  |  |  |  |  |  |\n"
    )


def test_a_busy_machine_and_tiny_sizes_are_said():
    quiet = results(a=1.0)
    assert "busy" not in page(quiet)
    assert "busy" in page(dataclasses.replace(quiet, where=WHERE | {"niceness": 19}))
    assert "busy" in page(dataclasses.replace(quiet, where=WHERE | {"load": 1.5}))
    assert "Sizes were those of tests" in page(dataclasses.replace(quiet, small=True))


def test_the_page_shows_the_baseline_and_every_case():
    baseline = Results.read(BASELINE)
    assert (ROOT / "docs/benchmarks.md").read_text() == page(baseline)
    assert {*baseline.measured, *baseline.skipped} == set(CASES)
    assert not baseline.small
    assert not baseline.failed


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in HEAVY else [])
        for name in CASES
        if name not in ELSEWHERE
    ],
)
def test_both_sides_give_the_same_answer(name, alarm):
    if missing := CASES[name].peer.missing():
        pytest.skip(missing)
    assert alarm >= 1e-9  # less than what 6.5 standard errors on two sides need
    with CASES[name].sides(CASES[name].small) as sides:
        assert sides.difference() <= sides.tolerance


def test_another_law_is_noticed(monkeypatch):
    other = randomizer("k-rr", k=10, max_epsilon_local=2.0)
    monkeypatch.setattr("benchmarks.cases.responses.randomizer", lambda *_, **__: other)
    with pytest.raises(Disagreement):
        measure(CASES["k-rr-plain"], small=True)


def test_a_lost_row_is_noticed():
    rows = np.array([b"a", b"b", b"c"])
    assert differing(rows, rows) == 0
    assert differing(rows, rows[:2]) == 1
    assert differing(rows, np.array([b"a", b"b", b"d"])) == 1


def test_the_command_lists_measures_and_writes(tmp_path):
    command = [sys.executable, "-m", "benchmarks"]
    listed = subprocess.run(
        [*command, "--list"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(CASES)
    options = [
        "--only",
        "seal",
        "--small",
        "--json",
        tmp_path / "a.json",
        "--page",
        tmp_path / "a.md",
    ]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert list(json.loads((tmp_path / "a.json").read_text())["measured"]) == ["seal"]
    assert "| `seal` |" in (tmp_path / "a.md").read_text()
