import numpy as np
import pytest


@pytest.fixture
def places(tmp_path):
    """Public coordinates of three hundred people."""
    path = tmp_path / "places.csv"
    points = np.random.default_rng(1).random((300, 2))
    np.savetxt(path, points, delimiter=",", header="x,y", comments="")
    return path


@pytest.fixture
def reports(croupier, tmp_path):
    """Reports of three hundred people, in their order."""
    answers, path = tmp_path / "answers.csv", tmp_path / "reports.parquet"
    answers.write_text("answer\n" + "\n".join(str(place // 100) for place in range(300)) + "\n")
    flags = ("--k", 3, "--max-epsilon-local", 2, "--insecure-seed", 1)
    assert croupier("randomize", answers, "-o", path, *flags).code == 0
    return path


def test_sensitivity(croupier):
    document = croupier("mallows", "sensitivity", "--positions", "0,3,5,7", "--json").document
    assert document["sensitivity"] == 16
    assert document["paper_bound"] == 28
    assert document["direction"] == "exact"
    words = croupier("mallows", "sensitivity", "--positions", "0,3,5,7", "--alpha", 4).out
    assert "theta 0.250 keeps alpha 4" in words


def test_order(croupier, places, tmp_path):
    target = tmp_path / "order.csv"
    flags = ("mallows", "order", places, "--columns", "x,y", "--radius", 0.1, "--alpha", 4)
    document = croupier(*flags, "-o", target, "--json").document
    assert document["people"] == 300
    assert document["sensitivity"] == min(c["sensitivity"] for c in document["candidates"])
    assert document["sensitivity"] < document["paper_bound"]
    assert document["theta"] == pytest.approx(4 / document["sensitivity"])
    order = np.loadtxt(target, skiprows=1, dtype=int)
    assert sorted(order.tolist()) == list(range(300))
    assert "sweep along" in croupier(*flags).out
    nearest = croupier("mallows", "order", places, "--columns", "x", "--nearest", 3, "--json")
    assert nearest.document["mean_group"] == 4


def test_shuffle(croupier, places, reports, tmp_path):
    target = tmp_path / "mixed.parquet"
    flags = ("mallows", "shuffle", reports, "--public", places, "--columns", "x,y")
    given = (*flags, "--radius", 0.1, "--alpha", 4, "-o", target)
    document = croupier(*given, "--json").document
    assert document["rows"] == 300
    assert 3.9 < document["alpha"] <= 4
    assert document["secure"] is True
    assert "hides nobody" in croupier(*given, "--insecure-seed", 1).out
    before, after = (croupier("estimate", path, "--json").document for path in (reports, target))
    assert before["estimates"] == after["estimates"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("sensitivity", "--positions", "0,0"), "--positions"),
        (("sensitivity", "--positions", "a"), "--positions"),
        (("order", "PLACES", "--columns", "x,y"), "--radius"),
        (("order", "PLACES", "--columns", "z", "--radius", 1), "--columns"),
        (("order", "PLACES", "--columns", "x", "--radius", 1, "-o", "o.txt"), "--output"),
    ],
)
def test_usage_errors(croupier, places, arguments, problem):
    outcome = croupier("mallows", *(places if a == "PLACES" else a for a in arguments))
    assert outcome.code == 2
    assert problem in outcome.err


def test_rows_must_match(croupier, places, reports, tmp_path):
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join(places.read_text().split("\n")[:101]) + "\n")
    flags = ("mallows", "shuffle", reports, "--public", fewer, "--columns", "x,y", "--radius", 0.1)
    outcome = croupier(*flags, "--alpha", 4, "-o", tmp_path / "mixed.parquet")
    assert outcome.code == 2
    assert "300 rows" in outcome.err


def test_people_alone_are_counted(croupier, places, reports, tmp_path):
    flags = ("mallows", "shuffle", reports, "--public", places, "--columns", "x,y", "--radius", 0)
    outcome = croupier(*flags, "--alpha", 4, "-o", tmp_path / "mixed.parquet")
    assert "300 of 300 people share no group" in outcome.out


def test_reports_are_no_public_data(croupier, reports, tmp_path):
    flags = ("--public", reports, "--columns", "report", "--radius", 0, "--alpha", 0)
    outcome = croupier("mallows", "shuffle", reports, *flags, "-o", tmp_path / "mixed.parquet")
    assert outcome.code == 2
    assert "public columns, not reports" in outcome.err


def test_far_places_take_no_memory(croupier):
    document = croupier("mallows", "sensitivity", "--positions", "0,999999999", "--json").document
    assert document["sensitivity"] == 1 + 2 * 999_999_998


def test_a_file_without_rows(croupier, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("x,y\n")
    outcome = croupier("mallows", "order", empty, "--columns", "x,y", "--radius", 1)
    assert outcome.code == 2
    assert "at least one row" in outcome.err


def test_order_prints_the_thetas_that_shuffle_uses(croupier, tmp_path):
    """A couple, a family of three and one person alone: three components."""
    path = tmp_path / "streets.csv"
    path.write_text("x\n0\n0\n10\n10\n10\n20\n")
    flags = ("mallows", "order", path, "--columns", "x", "--radius", 1, "--alpha", 3)
    document = croupier(*flags, "--json").document
    assert document["components"] == 3
    assert document["theta"] == pytest.approx(1)
    assert document["theta_greatest"] is None
    assert document["not_finite"] == {"theta_greatest": "infinity"}
    assert "theta 1.00 to 3.00, in 2 components, keeps alpha 3" in croupier(*flags).out
    alone = ("mallows", "order", path, "--columns", "x", "--radius", 0, "--alpha", 3)
    path.write_text("x\n0\n10\n")
    assert "nobody shares a group" in croupier(*alone).out
