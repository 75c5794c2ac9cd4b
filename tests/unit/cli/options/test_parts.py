"""What divides a public file into parts."""

from hashlib import sha256

import numpy as np
import pytest

from croupier.cli.options.parts import PartOptions
from croupier.cli.options.public_groups import RuleOptions
from croupier.errors import ParameterError
from croupier.plan.plan import Plan

TEXT = "x,town,floor\n" + "".join(
    f"{place / 10},{'ab'[place % 2]},{place // 6}\n" for place in range(12)
)


def plan(order="mallows", **more):
    groups = {"sha256": sha256(TEXT.encode()).hexdigest()} | more
    shuffling = {"order": order, "groups": groups} | ({"alpha": 3.0} if order == "mallows" else {})
    tables = {"schema": 2, "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0}}
    return Plan.from_document(
        tables
        | {"population": {"enrolled": 12}, "protections": {"minimum_batch": 2}}
        | {"shuffling": shuffling}
    )


LINES = ["x,town", "0.0,a", "0.1,a", "0.2,b", "inf,b"]


def test_a_place_at_infinity_is_refused(tmp_path):
    text = "\n".join(LINES)
    public = tmp_path / "public.csv"
    public.write_text(text)
    tables = plan("uniform").document()
    tables["shuffling"]["groups"]["sha256"] = sha256(text.encode()).hexdigest()
    rule = RuleOptions(columns="x", group_column="town")
    asked = PartOptions(by="place", public=public, rule=rule, cell=None, least=None, value=None)
    with pytest.raises(ParameterError, match="finite numbers"):
        asked.read(Plan.from_document(tables))


@pytest.fixture
def options(tmp_path):
    public = tmp_path / "public.csv"
    public.write_text(TEXT)

    def make(by, *, columns="x", radius=0.15, group_column=None, **more):
        rule = RuleOptions(columns=columns, radius=radius, group_column=group_column)
        given = {"public": public, "cell": None, "least": None, "value": None} | more
        return PartOptions(by=by, rule=rule, **given)

    return make


LINE = plan(sensitivity=3)
TOWNS = plan("uniform")


def test_squares_groups_and_columns(options):
    squares = options("place", cell=0.5).read(LINE)
    assert [str(one) for one in squares.names] == ["0 to 0.5", "0.5 to 1", "1 to 1.5"]
    assert squares.part_of.tolist() == [0] * 5 + [1] * 5 + [2] * 2
    assert squares.displacement.columns == ("x",)
    floors = options("floor").read(LINE)
    assert (floors.by, floors.names) == ("floor", ["0", "1"])
    assert floors.part_of.tolist() == [0] * 6 + [1] * 6
    joined = options("group").read(LINE)
    assert joined.names == ["group of place 0"]


def test_groups_that_are_mixed_alone_keep_their_reports(options):
    towns = options("group", columns=None, radius=None, group_column="town").read(TOWNS)
    assert towns.names == ["a", "b"]
    assert [towns.displacement.stayed_in([part]) for part in (0, 1)] == [1, 1]
    assert towns.displacement.median is None
    floors = options("floor", columns=None, radius=None, group_column="town").read(TOWNS)
    assert floors.displacement.stayed_in([0, 1]) == pytest.approx(0.5, abs=0.1)


def test_without_a_length_a_square_has_some_hundred_places(options):
    assert len(options("place").read(LINE).names) == 1
    assert np.ptp(options("place").read(LINE).part_of) == 0


@pytest.mark.parametrize(
    ("by", "given", "problem"),
    [
        ("x", {}, "a column of names or whole numbers"),
        ("village", {}, "got 'village'. Or give --by place"),
        ("group", {"cell": 1.0}, "come with --by place"),
        ("place", {"cell": 0.0}, "be above 0"),
        ("place", {"cell": 1e-9}, "at most 1,000,000 squares"),
        ("place", {"cell": float("nan")}, "be above 0"),
        ("place", {"cell": float("inf")}, "be above 0"),
        ("place", {"least": 0}, "at least 1"),
        ("place", {"value": "2"}, "be a value of a question"),
        ("place", {"public": None}, "be given, with --by"),
        (None, {}, "come with --by"),
    ],
)
def test_what_cannot_be_divided_is_refused(options, by, given, problem):
    with pytest.raises(ParameterError, match=problem):
        options(by, **given).read(LINE)


def test_a_plan_without_groups_has_no_parts(options):
    everybody = Plan.from_document(
        {
            "schema": 2,
            "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0},
            "population": {"enrolled": 100},
            "protections": {"minimum_batch": 50},
        }
    )
    with pytest.raises(ParameterError, match="the plan mixes everybody"):
        options("place").read(everybody)
    unused = PartOptions(
        by=None,
        public=None,
        rule=RuleOptions(),
        cell=None,
        least=None,
        value=None,
    )
    assert unused.read(everybody) is None
