"""What `croupier analyze` prints, writes and refuses."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from matplotlib.figure import Figure

from croupier.plan.plan import Plan
from croupier.protocol.query import Query
from croupier.protocol.wire import Epoch


@pytest.fixture
def analyze(croupier, memory_engine, monkeypatch):
    """The command, with rows counted in this process."""
    monkeypatch.setattr("croupier.engines.base.engine", lambda _name, **_settings: memory_engine)

    def run(site, *arguments):
        plan, keys = site.file, site.keys.path
        return croupier("analyze", "--plan", plan, "--keys", keys, *arguments)

    return run


def test_the_words(released, analyze):
    path = released.collect([0] * 60 + [1] * 40)
    found = analyze(released, path)
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    digest = released.plan.digest[:8]
    assert lines[0] == f"Receipt valid | plan {digest} | 100 counted, 0 null, 0 malformed"
    assert lines[1].split() == ["value", "share", "95", "%", "interval"]
    assert [line.split()[0] for line in lines[2:6]] == ["0", "1", "2", "3"]
    assert lines[-2] == "Intervals hold singly; --simultaneous for all together."
    assert lines[-1].startswith("batch: epsilon <= ")
    assert " as planned, <= " in lines[-1]
    assert not found.err


def test_the_document(released, analyze):
    epoch = released.epoch()
    reports = [*released.answers([0] * 60), None, b"\1", b"\2\1\xff"]
    path = released.release(released.sealed(reports, epoch), epoch, repeated=2)
    document = analyze(released, path, "--json").document
    assert document["plan_digest"] == released.plan.digest
    assert (document["n"], document["people"], document["rounds"]) == (60, 60, [0])
    assert document["counts"] == {"null": 1, "malformed": 2, "duplicate": 2, "cannot_open": 0}
    assert document["malformed"] == {"body": 1, "version": 1}
    expected = released.plan.randomizer.estimate(np.array(reports[:60]))
    first = document["estimates"][0]
    assert first["question"] == "question-1"
    assert (first["value"], first["share"]) == (0, expected.points[0])
    assert first["interval"] == [expected.lower[0], expected.upper[0]]
    assert 0 < document["epsilon_upper"] < document["epsilon_planned"] < 2
    assert document["receipts"][0]["signature"] == released.last.signature
    assert len(document["warnings"]) == 2


def test_the_file_and_the_plot(released, analyze, tmp_path):
    path = released.collect([0] * 60)
    target, plot = tmp_path / "estimates.parquet", tmp_path / "estimates.png"
    assert analyze(released, path, "-o", target, "--plot", plot, "--simultaneous").code == 0
    table = pq.read_table(target)
    assert table.column_names == [
        *("question", "asked", "value", "quantity"),
        *("estimate", "standard_error", "lower", "upper", "answers"),
    ]
    document = analyze(released, path, "--json", "--simultaneous").document
    assert table["value"].to_pylist() == [0, 1, 2, 3]
    assert table["upper"].to_pylist() == [entry["interval"][1] for entry in document["estimates"]]
    assert table.schema.metadata[b"plan_digest"].decode() == released.plan.digest
    assert plot.read_bytes().startswith(b"\x89PNG")
    again = analyze(released, path, "-o", target)
    assert again.code == 2
    assert "--force" in again.err


def test_what_is_drawn_is_what_is_printed(released, analyze, tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: kept.append(figure))
    path = released.collect([0] * 60)
    document = analyze(released, path, "--plot", tmp_path / "estimates.png", "--json").document
    (axes,) = kept[0].axes
    points = {(x, y) for line in axes.lines for x, y in zip(*line.get_data(), strict=True)}
    written = [text.get_text() for text in axes.texts]
    for row, entry in enumerate(document["estimates"]):
        low, high = entry["interval"]
        assert {(low, row), (high, row)} <= points
        if low <= entry["share"] <= high:
            assert (entry["share"], row) in points
        else:
            assert f"{100 * round(entry['share'], 4):.6g} %" in written


def test_means_are_not_projected(make_released, analyze):
    grid = {"low": 0, "high": 5, "step": 1}
    randomizer = {"mechanism": "one-bit-mean", "grid": grid, "max_epsilon_local": 2.0}
    site = make_released(randomizer=randomizer)
    found = analyze(site, site.collect([3] * 80), "--project")
    assert found.code == 2
    assert "no question asks for shares" in found.err


def test_several_questions(make_released, analyze, tmp_path):
    grid = {"low": 0, "high": 5, "step": 1}
    site = make_released(
        randomizer=None,
        questions=[
            {"mechanism": "k-rr", "labels": ["cat", "dog"], "max_epsilon_local": 2.0},
            {"mechanism": "one-bit-mean", "grid": grid, "max_epsilon_local": 2.0},
        ],
    )
    path = site.collect([["cat", 3]] * 80)
    found = analyze(site, path, "-o", tmp_path / "e.parquet", "--plot", tmp_path / "e.svg")
    assert found.code == 0, found.err
    assert "question-1 (" in found.out
    assert "question-2 (" in found.out
    table = pq.read_table(tmp_path / "e.parquet")
    assert table["value"].to_pylist()[:2] == ["cat", "dog"]
    assert table["quantity"].to_pylist() == ["share", "share", "mean"]


YES_OR_NO = {"mechanism": "k-rr", "labels": ["no", "yes"], "max_epsilon_local": 2.0}


@pytest.fixture
def features(make_released):
    """A site with three questions, to which all, half and none of 240 people say yes."""
    questions = [{**YES_OR_NO, "name": name} for name in ("seldom", "often", "always")]
    site = make_released(randomizer=None, questions=questions)
    return site, site.collect([["no", ("no", "yes")[i % 2], "yes"] for i in range(240)])


def test_many_questions_of_two_answers_are_one_table_the_largest_first(features, analyze):
    site, path = features
    found = analyze(site, path)
    lines = found.out.splitlines()
    assert lines[2].split() == ["question", "yes", "95", "%", "interval"]
    assert [line.split()[0] for line in lines[3:6]] == ["always", "often", "seldom"]
    shown = [float(line.split()[1]) for line in lines[3:6]]
    assert shown == sorted(shown, reverse=True)
    assert all(0 <= share <= 100 for share in shown)
    assert "Intervals hold singly; --simultaneous for all together." in found.out


def test_intervals_hold_together_over_all_questions(features, analyze):
    site, path = features
    document = analyze(site, path, "--simultaneous", "--json").document
    assert document["confidence"] == pytest.approx(1 - 0.05 / 6)
    single = analyze(site, path, "--json").document
    for one, wide in zip(single["estimates"], document["estimates"], strict=True):
        assert wide["interval"][0] <= one["interval"][0] <= one["interval"][1]
        assert one["interval"][1] <= wide["interval"][1]
    assert "Intervals hold together." in analyze(site, path, "--simultaneous").out


def test_projected_shares_are_possible_and_keep_their_intervals(features, analyze):
    site, path = features
    raw = analyze(site, path, "--json").document
    document = analyze(site, path, "--project", "--json").document
    assert (raw["projected"], document["projected"]) == (False, True)
    for place in range(3):
        shares = [entry["share"] for entry in document["estimates"][2 * place : 2 * place + 2]]
        assert sum(shares) == pytest.approx(1)
        assert all(0 <= share <= 1 for share in shares)
    intervals = [[entry["interval"] for entry in own["estimates"]] for own in (raw, document)]
    assert intervals[0] == intervals[1]
    found = analyze(site, path, "--project").out
    assert "*" not in found
    assert "Shares are projected" in found


def test_rounds_with_nulls_say_what_the_figures_rest_on(make_released, analyze):
    site = make_released(participation={"model": "rectified-multinomial", "weights": 2})
    epoch = site.epoch()
    reports = [*site.answers([0] * 50), *[None] * 50]
    path = site.release(site.sealed(reports, epoch), epoch)
    (query := site.folder / "query.json").write_bytes(site.queries[0].to_bytes())
    found = analyze(site, path, "--query", query)
    assert found.code == 0, found.err
    assert "question-1: a question (50 answers)" in found.out
    assert found.out.splitlines()[0].endswith("50 counted, 50 null, 0 malformed")
    assert "as planned, if nobody missed a round; <= " in found.out
    assert found.out.endswith("at this size, each round by itself\n")


def test_the_next_round_is_asked_once(make_released, analyze, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    site = make_released(participation={"model": "multinomial", "weights": 2})
    first = analyze(site, "--publish-round", 0, "--question", "cats", "--json")
    assert first.document["query"] == {"round": 0, "file": "query-0.json"}
    query = Query.verified((tmp_path / "query-0.json").read_bytes(), site.plan)
    assert (query.round, query.question) == (0, "cats")
    analyzer = site.inner.public_bytes_raw()
    epoch = Epoch.of(
        site.plan, round_number=0, batch=bytes(16), analyzer=analyzer, query=query.digest
    )
    path = site.release(site.sealed(site.answers([0] * 60), epoch), epoch)
    asking = ("--publish-round", 1, "--question", "dogs")
    found = analyze(site, path, "--query", "query-0.json", *asking)
    assert found.code == 0, found.err
    assert "question-1: cats (60 answers)" in found.out
    assert found.out.endswith("Wrote query-1.json: the query of round 1.\n")
    again = analyze(site, path, "--query", "query-0.json", *asking)
    assert again.code == 2
    assert "A round has one query" in again.err


def test_nothing_is_asked_where_nothing_is_published(make_released, analyze, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    site = make_released(participation={"model": "multinomial", "weights": 2})
    path = site.collect([0] * 40)
    (tmp_path / "query-0.json").write_bytes(site.queries[0].to_bytes())
    asking = ("--publish-round", 1, "--question", "dogs")
    assert analyze(site, path, "--query", "query-0.json", *asking).code == 4
    assert not (tmp_path / "query-1.json").exists()


def refusals(site):
    """What must not be analysed, with exit code and words."""
    path = site.collect([0] * 60)
    beside = path.with_suffix(".receipt.json")

    def too_few():
        epoch = site.epoch(1)
        reports = [*site.answers([0] * 40), *[b"\2\1\xff"] * 20]
        return [site.release(site.sealed(reports, epoch), epoch)]

    def altered():
        data = bytearray(path.read_bytes())
        data[1000] ^= 1
        path.write_bytes(data)
        return [path]

    def forged():
        beside.write_text(beside.read_text().replace('"number":0', '"number":1'))
        return [path]

    def broken_chain():
        paths = [path, *(site.collect([0] * 60, number) for number in (1, 2))]
        paths[1].with_suffix(".receipt.json").unlink()
        return [paths[0], paths[2]]

    def wrong_plan():
        other = Plan.load(site.file).replace(randomizer__k=5)
        site.file.write_text(other.to_toml())
        return [path]

    def wrong_key():
        site.inner = X25519PrivateKey.generate().public_key()
        return [site.collect([0] * 60, 1)]

    def no_receipt():
        beside.unlink()
        return [path]

    return {
        "too_few": (too_few, 4, "NOT PUBLISHED  Round 1 has 40 people with a valid report"),
        "altered": (altered, 1, "is not about the"),
        "forged": (forged, 1, "is not signed by the shuffler"),
        "broken_chain": (broken_chain, 1, "does not follow receipt 0"),
        "wrong_plan": (wrong_plan, 1, "names another plan"),
        "wrong_key": (wrong_key, 1, "has no key that round 1 was opened for"),
        "no_receipt": (no_receipt, 2, "beside its receipt"),
    }


NAMES = ["too_few", "altered", "forged", "broken_chain", "wrong_plan", "wrong_key", "no_receipt"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_refused(name, released, analyze, tmp_path):
    spoil, code, words = refusals(released)[name]
    target = tmp_path / "estimates.parquet"
    files = spoil()
    found = analyze(released, *files, "-o", target)
    assert (found.code, found.out) == (code, "")
    assert words in found.err
    document = analyze(released, *files, "--json")
    assert document.code == code
    assert words in document.document["error"]
    assert not target.exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--confidence", "1"], "in (0, 1)"),
        (["--master", "local[2]"], "without --engine spark"),
        (["-o", "estimates.csv"], "end in .parquet"),
        (["--plot", "estimates.gif"], "end in"),
        (["--memory", "much"], "a size like 4GB"),
        (["--quantile", "0.9"], "left out: no question asks for a distribution"),
        (["--range", "0:9"], "left out: no question asks for a distribution"),
        (["--quantile", "2"], "left out"),
        (["--candidates", "nowhere.txt"], "`--candidates` must be a file"),
        (["--candidates", __file__], "`--candidates` must be left out: no question asks for text"),
        (["--publish-round", "1"], "given with --publish-round"),
        (["--publish-round", str(2**31), "--question", "cats"], "2147483647"),
        (["--publish-round", "1", "--question", "cats"], "ask by query"),
    ],
)
def test_usage_is_checked_before_the_work(given, words, released, analyze):
    found = analyze(released, "nowhere.parquet", *given)
    assert found.code == 2
    assert words in found.err


def test_on_the_cores_of_one_machine(released, croupier, tmp_path):
    """The engine that is the default, with processes of its own."""
    path = released.collect([0] * 60)
    settings = ("--memory", "1GB", "--scratch", tmp_path, "--json")
    plan, keys = released.file, released.keys.path
    found = croupier("analyze", path, "--plan", plan, "--key", keys, *settings)
    assert found.code == 0, found.err
    assert found.document["n"] == 60
