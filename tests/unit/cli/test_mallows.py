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
    assert "300 people" in outcome.err


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
    """A couple, a family of three and one person alone: two components."""
    path = tmp_path / "streets.csv"
    path.write_text("x\n0\n0\n10\n10\n10\n20\n")
    flags = ("mallows", "order", path, "--columns", "x", "--radius", 1, "--alpha", 3)
    document = croupier(*flags, "--json").document
    assert (document["components"], document["people_alone"]) == (2, 1)
    assert document["theta"] == pytest.approx(1)
    assert document["theta_greatest"] is None
    assert document["not_finite"] == {"theta_greatest": "infinity"}
    printed = croupier(*flags).out
    assert "theta 1.00 to 3.00, by component, keeps alpha 3" in printed
    assert "2 components, each mixed separately" in printed
    assert "1 of 6 people share no group: not moved" in printed
    assert "In a plan: one theta, 1.00; if all report, crowds of at least 1.42" in printed
    alone = ("mallows", "order", path, "--columns", "x", "--radius", 0, "--alpha", 3)
    path.write_text("x\n0\n10\n")
    assert "nobody shares a group" in croupier(*alone).out


def written(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


RING = ["who,whom", *(f"{i},{(i + 1) % 12}" for i in range(12)), "12,12"]
SETS = ["team,person", *(f"{i // 4},{i}" for i in range(12)), "9,0", "9,11", "9,11", "alone,12"]


def test_contacts_some_steps_away(croupier, tmp_path):
    """A ring of twelve, and one who is in the list only with themselves."""
    path = written(tmp_path / "ring.csv", RING)
    flags = ("mallows", "order", path, "--edges", "who,whom", "--alpha", 2, "--json")
    for steps, mean in ((1, (12 * 3 + 1) / 13), (2, (12 * 5 + 1) / 13), (6, (12 * 12 + 1) / 13)):
        document = croupier(*flags, "--steps", steps).document
        assert (document["people"], document["components"], document["people_alone"]) == (13, 1, 1)
        assert document["mean_group"] == pytest.approx(mean)


def test_sets_that_overlap(croupier, tmp_path):
    """Three teams and two people of different ones, one of them listed twice."""
    path = written(tmp_path / "sets.csv", SETS)
    document = croupier(
        "mallows", "order", path, "--sets", "team,person", "--alpha", 2, "--json"
    ).document
    assert document["people"] == 13
    assert document["mean_group"] == (4 + 4 + 4 + 2 + 1) / 5
    assert (document["components"], document["people_alone"]) == (2, 1)


def test_distance_on_the_earth(croupier, tmp_path):
    """Across the date line two places are near; near the pole, many degrees are."""
    places = [
        (0, 179.9),
        (0, -179.9),
        (89.9, 0),
        (89.9, 180),
        (48.8566, 2.3522),
        (51.5074, -0.1278),
    ]
    path = written(tmp_path / "places.csv", ["lat,lon", *(f"{a},{b}" for a, b in places)])
    flags = ("mallows", "order", path, "--columns", "lat,lon", "--geodesic", "--json")
    # Paris and London are 343.56 km apart on a sphere, the others 22.24 km.
    for radius, mean in ((22.2, 1), (22.3, 10 / 6), (343.5, 10 / 6), (343.6, 2), (20_016, 6)):
        document = croupier(*flags, "--radius", radius).document
        assert document["mean_group"] == pytest.approx(mean), radius
    assert croupier(*flags, "--nearest", 1).document["mean_group"] == 2


def test_shuffle_takes_every_rule(croupier, reports, tmp_path):
    rules = {
        "--edges": (["a,b", *(f"{i},{i + 1}" for i in range(299))], "a,b", ("--steps", 2)),
        "--sets": (["s,p", *(f"{i // 3},{i}" for i in range(300))], "s,p", ()),
        "--group-column": (["town", *(str(i % 7) for i in range(300))], "town", ()),
    }
    for flag, (lines, names, more) in rules.items():
        public = written(tmp_path / "public.csv", lines)
        given = ("--public", public, flag, names, *more, "--alpha", 2, "-o", tmp_path / "m.parquet")
        document = croupier("mallows", "shuffle", reports, *given, "--json").document
        assert (document["rows"], document["people_alone"]) == (300, 0)
        assert document["alpha"] <= 2


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ((), "--columns"),
        (("--edges", "who,whom"), "--steps"),
        (("--steps", 1), "--edges"),
        (("--edges", "who", "--steps", 1), "two columns"),
        (("--edges", "who,whom", "--steps", 1, "--sets", "who,whom"), "without --edges"),
        (("--sets", "who,whom", "--radius", 1), "without --columns"),
        (("--sets", "who,whom", "--columns", "who"), "--columns"),
        (("--edges", "who,whom", "--steps", 1, "--geodesic"), "--geodesic"),
        (("--group-column", "who", "--nearest", 1), "without --columns"),
        (("--radius", 1), "with --radius or --nearest"),
        (("--columns", "who", "--geodesic", "--radius", 1), "latitude"),
        (("--edges", "who,nobody", "--steps", 1), "--edges"),
    ],
)
def test_one_rule_is_given(croupier, tmp_path, rule, problem):
    outcome = croupier("mallows", "order", written(tmp_path / "ring.csv", RING), *rule)
    assert outcome.code == 2
    assert problem in outcome.err


@pytest.mark.parametrize("entry", ["-1", "0.5", "x", "100000000"])
def test_people_of_lists_are_numbers(croupier, tmp_path, entry):
    path = written(tmp_path / "list.csv", ["a,b", f"0,{entry}"])
    for rule in (("--edges", "a,b", "--steps", 1), ("--sets", "a,b")):
        outcome = croupier("mallows", "order", path, *rule)
        assert outcome.code == 2
        assert "number people from 0 on" in outcome.err
