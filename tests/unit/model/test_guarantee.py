import math
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import ParameterError
from croupier.model import Adversary, Direction, Guarantee, Metric, View

READER = Adversary(sees={View.BATCH})
UPPER, LOWER, EXACT = Direction.UPPER, Direction.LOWER, Direction.EXACT


def guarantee(value=0.07551, direction=UPPER, **more):
    facts = {"metric": Metric.EPSILON, "adversary": READER, "theorem": "Somebody 2019, Lemma 1"}
    return Guarantee(value=value, direction=direction, **(facts | more))


@pytest.mark.parametrize(
    ("direction", "asked", "limit", "proved"),
    [
        (UPPER, UPPER, 0.5, True),
        (UPPER, UPPER, 0.6, True),
        (UPPER, UPPER, 0.4, False),
        (UPPER, LOWER, 0.4, False),
        (UPPER, EXACT, 0.5, False),
        (LOWER, LOWER, 0.5, True),
        (LOWER, LOWER, 0.4, True),
        (LOWER, LOWER, 0.6, False),
        (LOWER, UPPER, 0.6, False),
        (LOWER, EXACT, 0.5, False),
        (EXACT, UPPER, 0.5, True),
        (EXACT, UPPER, 0.4, False),
        (EXACT, LOWER, 0.5, True),
        (EXACT, LOWER, 0.6, False),
        (EXACT, EXACT, 0.5, True),
        (EXACT, EXACT, 0.4, False),
    ],
)
def test_what_is_proved_depends_on_the_direction(direction, asked, limit, proved):
    assert guarantee(0.5, direction).proves(asked, limit) is proved


def test_an_infinite_bound_proves_no_finite_limit():
    assert not guarantee(math.inf).proves(UPPER, 1e300)
    assert guarantee(math.inf).proves(UPPER, math.inf)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (guarantee(), "epsilon <= 0.0756"),
        (guarantee(direction=LOWER), "epsilon >= 0.0755"),
        (guarantee(delta=1e-8), "epsilon <= 0.0756 at delta 1e-08"),
        (guarantee(delta=0.0), "epsilon <= 0.0756 at delta 0"),
        (guarantee(0.25, EXACT, metric=Metric.GUESS_OF_TWO), "guess_of_two = 0.250"),
        (guarantee(math.inf), "epsilon <= inf"),
        (guarantee(0.0), "epsilon <= 0"),
    ],
)
def test_printed_claims_are_rounded_outward(claim, text):
    assert str(claim) == text


@settings(deadline=None)
@given(st.floats(0, 1e6))
def test_a_printed_claim_is_never_stronger_than_the_proved_one(value):
    upper, lower = str(guarantee(value)), str(guarantee(value, LOWER))
    assert guarantee(value).proves(UPPER, float(upper.split("<= ")[1]))
    assert guarantee(value, LOWER).proves(LOWER, float(lower.split(">= ")[1]))


@pytest.mark.parametrize("value", [-1e-9, -math.inf, math.nan])
def test_values_below_zero_are_refused(value):
    with pytest.raises(ParameterError) as refusal:
        guarantee(value)
    assert refusal.value.parameter == "value"


@pytest.mark.parametrize("delta", [-1e-9, 1.0, math.nan])
def test_deltas_that_are_no_failure_probability_are_refused(delta):
    with pytest.raises(ParameterError) as refusal:
        guarantee(delta=delta)
    assert refusal.value.parameter == "delta"


def test_a_guarantee_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        guarantee().value = 0.0


def test_guarantees_with_the_same_facts_are_equal():
    assert guarantee() == guarantee()
    assert hash(guarantee()) == hash(guarantee())
    assert guarantee() != guarantee(direction=LOWER)


def test_html_shows_and_escapes_everything_the_claim_rests_on():
    claim = guarantee(
        theorem="<i>Lemma</i>", assumptions=("n > 3", "no Sybils"), recompute="croupier & co"
    )
    html = claim._repr_html_()
    shown = ["epsilon &lt;= 0.0756", str(READER), "&lt;i&gt;", "n &gt; 3; no Sybils", "r &amp; co"]
    assert [text for text in shown if text not in html] == []


def test_html_leaves_out_what_is_not_given():
    html = guarantee()._repr_html_()
    assert "assumes" not in html
    assert "recompute" not in html
