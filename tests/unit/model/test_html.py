import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.model import Adversary, Bracket, Evidence, Guarantee
from croupier.model.adversary import View
from croupier.model.guarantee import Direction
from croupier.model.html import element, facts, numbers
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

READER = Adversary(sees={View.BATCH})


def bound(direction, value, theorem):
    return Guarantee(
        metric=Metric.EPSILON,
        value=value,
        direction=direction,
        delta=1e-8,
        adversary=READER,
        theorem=theorem,
    )


def test_everything_that_is_not_markup_is_escaped():
    for html in (
        facts("<a>", {"<b>": "<c>"}),
        numbers("<a>", ("<b>", "<c>"), [("<d>", ["<e>"])]),
    ):
        assert [letter for letter in "abcde" if f"<{letter}>" in html] == []
        assert "&lt;b&gt;" in html
    assert element("p", "<i>", title='"') == '<p title="&quot;">&lt;i&gt;</p>'


def test_cells_of_cards_have_heads():
    html = numbers("shares", ("value", "share"), [("yes", ["0.5"])])
    assert html.count('scope="col"') == 2
    assert html.count('scope="row"') == 1
    assert "<caption>shares</caption>" in html


def test_a_row_shorter_than_its_head_is_refused():
    with pytest.raises(ValueError, match="zip"):
        numbers("", ("value", "share"), [("yes", [])])


def test_bracket_shows_both_sides_and_escapes():
    lower = bound(Direction.LOWER, 0.0755, "<i>pair</i>")
    upper = bound(Direction.UPPER, 0.0756, "blanket & co")
    bracket = Bracket(lower, upper)
    html = bracket._repr_html_()
    assert f"<caption>Proved: {bracket}</caption>" in html
    assert html.index("&lt;i&gt;pair") < html.index("blanket &amp; co")
    assert "<i>" not in html


def test_evidence_says_that_it_satisfies_no_policy():
    seen = Evidence(
        metric=Metric.GUESS_OF_TWO,
        measured=0.6,
        lower=0.5,
        upper=0.75,
        confidence=0.95,
        adversary=READER,
        games=10_000,
    )
    html = seen._repr_html_()
    assert "Measured: guess_of_two 0.6" in html
    assert "0.500 to 0.750, confidence 0.95" in html
    assert "satisfies no policy" in html


def test_ladder_has_a_row_a_rung_and_names_its_plan():
    plan = Plan.from_toml("""
        schema = 2
        name = "shop"
        randomizer = {mechanism = "k-rr", k = 3, max_epsilon_local = 1.0}
        population.enrolled = 1_000
        protections.minimum_batch = 1_000
    """)
    html = assess(plan)._repr_html_()
    assert html.count('scope="row"') == 7
    assert f"shop {plan.digest[:8]}, " in html
    assert "collusion <small>shuffler and analyzer together</small>" in html
