"""`croupier randomize` and `croupier estimate` over files."""

import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

N = 20_000


def _write(path, values, name="answer"):
    table = pa.table({"device": np.arange(len(values)), name: values})
    (csv.write_csv if path.suffix == ".csv" else parquet.write_table)(table, path)
    return path


@pytest.fixture
def answers():
    return np.repeat(np.arange(4), N // 4)


MECHANISMS = [
    ("k-rr", ()),
    ("symmetric-unary", ()),
    ("local-hashing", ("--parameter", "buckets=5")),
    ("subset-selection", ("--parameter", "subset_size=2")),
    ("rappor", ()),
]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(("mechanism", "own"), MECHANISMS)
def test_round_trip_gives_the_shares_back(croupier, tmp_path, answers, mechanism, own, suffix):
    source = _write(tmp_path / f"answers{suffix}", answers)
    reports = tmp_path / f"reports{suffix}"
    flags = ("--mechanism", mechanism, "--k", 4, "--max-epsilon-local", 6, *own)
    target = ("-o", reports, "--insecure-seed", 1)
    written = croupier("randomize", source, "--column", "answer", *target, *flags, "--json")
    assert written.code == 0
    assert written.document["rows"] == N
    assert written.document["epsilon_local"] <= 6
    how = () if suffix == ".parquet" else flags
    estimated = croupier("estimate", reports, *how, "--confidence", 0.999999, "--json")
    assert estimated.code == 0
    assert estimated.document["n"] == N
    for row in estimated.document["estimates"]:
        low, high = row["interval"]
        assert low <= 0.25 <= high
        assert high - low < 0.2


def test_labels_and_projection(croupier, tmp_path):
    source = _write(tmp_path / "answers.csv", ["yes", "no"] * 500)
    reports = tmp_path / "reports.parquet"
    flags = ("--column", "answer", "--labels", "no,yes", "--max-epsilon-local", 2)
    assert croupier("randomize", source, "-o", reports, *flags).code == 0
    outcome = croupier("estimate", reports, "--project", "--simultaneous", "--json")
    shares = {row["value"]: row["share"] for row in outcome.document["estimates"]}
    assert set(shares) == {"yes", "no"}
    assert sum(shares.values()) == pytest.approx(1)


def test_means(croupier, tmp_path):
    source = _write(tmp_path / "ages.parquet", np.tile([20.0, 40.0], 10_000))
    reports = tmp_path / "reports.parquet"
    flags = ("--column", "answer", "--mechanism", "laplace", "--grid", "0:100:5")
    more = ("--max-epsilon-local", 4, "--insecure-seed", 1)
    outcome = croupier("randomize", source, "-o", reports, *flags, *more)
    assert outcome.code == 0, outcome.err
    (row,) = croupier("estimate", reports, "--confidence", 0.999999, "--json").document["estimates"]
    assert row["interval"][0] <= 30 <= row["interval"][1]


@pytest.mark.parametrize("mechanism", ["k-rr", "local-hashing"])
def test_reports_of_version_0_1_are_still_estimated(croupier, tmp_path, answers, mechanism):
    """It stored `epsilon_local` where `max_epsilon_local` is meant."""
    source = _write(tmp_path / "answers.parquet", answers)
    reports, old = tmp_path / "reports.parquet", tmp_path / "old.parquet"
    flags = ("--column", "answer", "--mechanism", mechanism, "--k", 4, "--max-epsilon-local", 6)
    assert croupier("randomize", source, "-o", reports, *flags).code == 0
    table = parquet.read_table(reports)
    stored = table.schema.metadata[b"croupier.randomizer"]
    assert b'"max_epsilon_local"' in stored
    renamed = stored.replace(b'"max_epsilon_local"', b'"epsilon_local"')
    parquet.write_table(table.replace_schema_metadata({b"croupier.randomizer": renamed}), old)
    now, then = (croupier("estimate", file, "--json") for file in (reports, old))
    assert then.code == 0, then.err
    assert then.document["estimates"] == now.document["estimates"]


def test_words_name_what_was_done_and_what_comes_next(croupier, tmp_path, answers):
    source = _write(tmp_path / "answers.parquet", answers)
    reports = tmp_path / "reports.parquet"
    flags = ("--column", "answer", "--k", 4, "--max-epsilon-local", 4)
    written = croupier("randomize", source, "-o", reports, *flags)
    assert "20,000 reports" in written.out
    assert "epsilon_local <= 4.00" in written.out
    assert "shuffle" in written.out
    estimated = croupier("estimate", reports)
    assert "share" in estimated.out
    assert "20,000 reports" in estimated.out
    assert not croupier("estimate", reports, "--quiet").out


def test_insecure_seed_repeats_and_says_so(croupier, tmp_path, answers):
    source = _write(tmp_path / "answers.parquet", answers)
    flags = ("--column", "answer", "--k", 4, "--max-epsilon-local", 4, "--insecure-seed", 7)
    for name in ("one.parquet", "two.parquet"):
        assert "protects nobody" in croupier("randomize", source, "-o", tmp_path / name, *flags).out
    first, second = (parquet.read_table(tmp_path / f"{name}.parquet") for name in ("one", "two"))
    assert first.equals(second)


@pytest.mark.parametrize(
    ("values", "code", "expected"),
    [
        ([0, 1, 77_777], 1, "1 values are not among the 4 categories"),
        ([0, None, 1], 1, "1 entries of answer are missing"),
        ([0.5, 1.0], 1, "1 values are not whole numbers"),
        (["mauve", "taupe"], 1, "2 values are not numbers"),
    ],
)
def test_bad_data_is_counted_never_shown_and_leaves_no_file(
    croupier, tmp_path, values, code, expected
):
    source = _write(tmp_path / "answers.parquet", values)
    flags = ("--column", "answer", "--k", 4, "--max-epsilon-local", 4)
    outcome = croupier("randomize", source, "-o", tmp_path / "reports.parquet", *flags)
    assert outcome.code == code
    assert expected in outcome.err
    assert "77" not in outcome.err
    assert "mauve" not in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["answers.parquet"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nowhere.csv", "-o", "r.csv"), "must exist"),
        (("{answers}", "-o", "r.txt"), ".parquet or .csv"),
        (("{answers}", "-o", "nowhere/r.csv"), "folder that exists"),
        (("{answers}", "-o", "{answers}"), "a different file"),
        (("{answers}", "-o", "r.csv"), "one of device, answer"),
        (("{answers}", "-o", "r.csv", "--column", "colour"), "one of device, answer"),
        (("{answers}", "-o", "r.csv", "--mechanism", "krr"), "Did you mean k-rr?"),
        (("{answers}", "-o", "r.csv", "--parameter", "buckets=3"), "is not a parameter of k-rr"),
        (("{answers}", "-o", "r.csv", "--grid", "0-1"), "LOW:HIGH:STEP"),
    ],
)
def test_usage_errors_say_what_to_write(
    croupier, tmp_path, monkeypatch, answers, arguments, expected
):
    monkeypatch.chdir(tmp_path)
    source = _write(tmp_path / "answers.csv", answers)
    line = [argument.format(answers=source) for argument in arguments]
    flags = ("--k", 4, "--max-epsilon-local", 4)
    outcome = croupier("randomize", *line, *flags, "--json")
    assert outcome.code == 2
    assert expected in outcome.document["error"]


def test_reports_of_another_mechanism_are_refused(croupier, tmp_path, answers):
    source = _write(tmp_path / "answers.parquet", answers)
    flags = ("--column", "answer", "--mechanism", "k-rr", "--max-epsilon-local", 4)
    outcome = croupier("estimate", source, *flags, "--k", 3)
    assert outcome.code == 1
    assert "not reports of k-rr" in outcome.err


def test_a_file_without_a_mechanism_asks_for_one(croupier, tmp_path, answers):
    source = _write(tmp_path / "answers.parquet", answers)
    outcome = croupier("estimate", source, "--column", "answer")
    assert outcome.code == 2
    assert "does not say how it was randomised. Repeat the flags" in outcome.err


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_empty_file_is_called_empty(croupier, tmp_path, suffix):
    source = tmp_path / f"answers{suffix}"
    source.touch()
    outcome = croupier("estimate", source)
    assert outcome.code == 2
    assert "must not be empty" in outcome.err


def test_without_pyarrow_the_error_is_the_install_command(croupier, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    source = _write(tmp_path / "a.csv", [0, 1])
    flags = ("--k", 4, "--max-epsilon-local", 4)
    outcome = croupier("randomize", source, "-o", tmp_path / "b.csv", *flags)
    assert outcome.code == 1
    assert "pip install '.[frames]'" in outcome.err


@pytest.mark.parametrize(
    "content",
    [
        "ans\n0\n1,alicesecret\n2\n",
        "ans\n" + "1\n" * 600_000 + "alicesecret\n",
        "ans\n0\n\n2\n",
        "",
        "2\n1\n0\n",
        "cat\n",
    ],
)
@pytest.mark.parametrize("json", [(), ("--json",)])
def test_unreadable_text_is_refused_and_never_quoted(croupier, tmp_path, content, json):
    source = tmp_path / "answers.csv"
    source.write_text(content)
    flags = ("--labels", "cat,dog") if content.startswith("cat") else ("--k", 3)
    outcome = croupier(
        "randomize", source, "-o", tmp_path / "r.csv", *flags, "--max-epsilon-local", 2, *json
    )
    assert outcome.code in {1, 2}
    assert "alicesecret" not in outcome.out + outcome.err
    assert "Traceback" not in outcome.err
    if json:
        assert outcome.document["error"]
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]


def test_a_parquet_file_that_is_none_is_refused(croupier, tmp_path):
    source = tmp_path / "answers.parquet"
    source.write_text("no")
    outcome = croupier("estimate", source, "--json")
    assert outcome.code == 1
    assert "cannot be read" in outcome.document["error"]


def test_reports_say_nothing_of_the_column_they_came_from(croupier, tmp_path, answers):
    source = _write(tmp_path / "answers.csv", answers, name="illness")
    flags = ("--column", "illness", "--k", 4, "--max-epsilon-local", 4)
    assert croupier("randomize", source, "-o", tmp_path / "r.csv", *flags).code == 0
    assert (tmp_path / "r.csv").read_text().splitlines()[0] == '"report"'


def test_another_mechanism_than_the_stored_one_is_refused(croupier, tmp_path, answers):
    source = _write(tmp_path / "answers.parquet", answers)
    reports = tmp_path / "reports.parquet"
    flags = ("--k", 4, "--max-epsilon-local", 4)
    croupier("randomize", source, "--column", "answer", "-o", reports, *flags)
    same = croupier("estimate", reports, "--mechanism", "k-rr", *flags)
    assert same.code == 0
    other = croupier("estimate", reports, "--mechanism", "k-rr", "--k", 4, "--max-epsilon-local", 3)
    assert other.code == 2
    assert "randomised with" in other.err


def test_two_bits_survive_csv(croupier, tmp_path):
    source = _write(tmp_path / "answers.csv", [0, 1] * 20)
    flags = ("--mechanism", "optimized-unary", "--k", 2, "--max-epsilon-local", 3)
    croupier("randomize", source, "--column", "answer", "-o", tmp_path / "r.csv", *flags)
    assert croupier("estimate", tmp_path / "r.csv", *flags).code == 0


def test_number_labels_on_a_column_of_integers(croupier, tmp_path):
    source = _write(tmp_path / "answers.parquet", [10, 20] * 20)
    flags = ("--column", "answer", "--labels", "10,20", "--max-epsilon-local", 3)
    assert croupier("randomize", source, "-o", tmp_path / "r.parquet", *flags).code == 0
