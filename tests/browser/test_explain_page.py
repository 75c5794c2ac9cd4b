"""The page of a plan in a real browser: nothing fetched, nothing cut off, readable by all."""

from pathlib import Path

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.documents.explain.page import explain
from croupier.plan.plan import Plan
from tests.nasty_plan import nasty_ladder

EXAMPLES = Path(__file__).parents[2] / "examples" / "plans"

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PLAN = """
schema = 2
name = "a-collection-with-quite-a-long-name-that-must-break-somewhere"
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.5}
population = {enrolled = 1_000_000, corrupt_fraction = 0.05}
protections.minimum_batch = 200_000
policy.batch = {max_epsilon = 0.1, max_reidentification = 5e-4}
"""
MALLOWS = f"""
[shuffling]
order = "mallows"
alpha = 4.0
groups = {{sha256 = "{"0f" * 32}", sensitivity = 24_627}}
"""


@pytest.fixture(scope="module", params=["uniform", "mallows"])
def seen(look, request, tmp_path_factory):
    """What a desktop, a phone and a printer show of a page."""
    plan = Plan.from_toml(PLAN + (MALLOWS if request.param == "mallows" else ""))
    path = tmp_path_factory.mktemp("page") / "explain.html"
    path.write_text(explain(assess(plan), file="a-plan.toml"), encoding="utf-8")
    return path.as_uri(), look(path.as_uri())


@pytest.mark.parametrize("device", ["desktop", "phone", "print"])
def test_the_page_asks_for_nothing_and_complains_of_nothing(seen, device):
    url, looks = seen
    assert looks[device]["requests"] == [url]
    assert looks[device]["messages"] == []


@pytest.mark.parametrize("device", ["desktop", "tablet", "phone", "print"])
def test_nothing_is_cut_off(seen, device):
    assert seen[1][device]["overflow"] == 0


def test_parts_are_closed_on_a_phone_only(seen):
    for device, closed in {"desktop": False, "phone": True, "print": False}.items():
        look = seen[1][device]
        assert look["parts"] > 8
        assert look["shown"] == (0 if closed else look["parts"])


def test_the_summary_is_on_one_sheet(seen):
    assert seen[1]["print"]["sheets"] == 1


SHEETS = [
    *(pytest.param(name, marks=pytest.mark.proof) for name in ("crash-bits", "health-survey")),
    "emoji",
    "nasty",
]


@pytest.mark.parametrize("name", SHEETS)
def test_the_summary_of_every_example_is_on_one_sheet(look, name, tmp_path, monkeypatch):
    monkeypatch.setattr("croupier.documents.explain.page._plots", lambda *_: ())
    ladder = nasty_ladder() if name == "nasty" else assess(Plan.load(EXAMPLES / f"{name}.toml"))
    path = tmp_path / "explain.html"
    path.write_text(explain(ladder), encoding="utf-8")
    looks = look(path.as_uri())
    assert looks["print"]["sheets"] == 1
    assert [looks[device]["overflow"] for device in ("desktop", "phone", "print")] == [0, 0, 0]


def test_tables_are_cards_on_a_phone_only(seen):
    assert [seen[1][device]["cards"] for device in ("desktop", "phone")] == [False, True]


def test_in_the_dark_pictures_are_dark_too_and_paper_stays_white(seen):
    dark, paper = seen[1]["dark"], seen[1]["print"]
    assert dark["white"] == 0
    assert (dark["page"], paper["page"]) == ("rgb(20, 24, 28)", "rgb(255, 255, 255)")
    assert dark["letters"] == "rgb(230, 234, 238)"
    assert paper["letters"] != dark["letters"]


@pytest.mark.parametrize("device", ["desktop", "dark", "phone"])
def test_axe_finds_nothing_serious(seen, device):
    serious = [
        entry for entry in seen[1][device]["findings"] if entry["impact"] in ("serious", "critical")
    ]
    assert not serious
