"""What the page says is asked, of whom, how often, and who answers for it."""

import re
from datetime import timedelta

import pytest

from croupier.documents.explain.asked import asked_rows, collection_facts, lasting, record_facts
from croupier.plan.plan import Plan
from croupier.plan.sections import ParticipationSection

PLAN = Plan.from_toml("""\
schema = 2
title = "Which pets?"
purpose = "Choose the <food>."
population = {enrolled = 9_000, corrupt_fraction = 0.01}
protections = {minimum_batch = 1_500, disposal_age = "36h"}
collection.every = "12h"
analyzer.operator = "Example Inc."
shufflers = [{operator = "Example Foundation"}]
record = {controller = "Example Inc.", retention = "30 days", date = 2026-11-15}

[[questions]]
name = "pet"
text = "Which pet do you have?"
mechanism = "k-rr"
labels = ["cat", "<b>dog</b>"]
max_epsilon_local = 1.0

[[questions]]
mechanism = "one-bit-mean"
grid = {low = 0, high = 5, step = 1}
max_epsilon_local = 1.0
""")


def test_every_question_has_its_words_and_answers():
    first, second = asked_rows(PLAN)
    assert (first.name, first.text) == ("pet", "Which pet do you have?")
    assert first.answers == "cat, <b>dog</b>"
    assert (second.name, second.answers) == ("question-2", "a number from 0 to 5 in steps of 1")
    assert second.text == "The plan does not give the words."
    assert first.noise == "k-rr, epsilon_local 1.00"


def test_many_labels_are_counted():
    labels = [f"v{number}" for number in range(100)]
    plan = PLAN.replace(
        questions=[{"mechanism": "k-rr", "labels": labels, "max_epsilon_local": 1.0}]
    )
    (row,) = asked_rows(plan)
    assert row.answers.endswith("v59 and 40 more")


def test_rounds_and_deletion_are_told():
    facts = collection_facts(PLAN)
    assert facts["How often"].startswith(
        "one round every 12 hours; a person sends at most 1 report,"
    )
    assert facts["Deleted"] == "batches that stay smaller, after 36 hours"
    assert facts["Released"].startswith(
        "at the end of a round in which at least 1,500 people reported, mixed"
    )
    assert (facts["Who mixes"], facts["Who estimates"]) == ("Example Foundation", "Example Inc.")


@pytest.mark.parametrize(
    ("participation", "rounds", "sent"),
    [
        ({"model": "single"}, 1, "at most 1 report, with"),
        ({"model": "single"}, 4, "at most 4 reports, with"),
        ({"model": "multinomial", "weights": 60}, 1, "at most 1 report, with"),
        (
            {"model": "rectified-multinomial", "weights": 60},
            2,
            "at most 120 reports, at most 2 of them with an answer, with",
        ),
        ({"model": "subsample", "repeats": 30}, 1, "at most 30 reports, with"),
    ],
)
def test_reports_of_a_person_are_counted_with_those_that_are_empty(participation, rounds, sent):
    one = [{"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0}]
    plan = PLAN.replace(questions=one, participation=participation, collection__rounds=rounds)
    assert sent in collection_facts(plan)["How often"]


def test_the_record_is_told_as_far_as_it_goes():
    assert record_facts(PLAN) == {
        "Controller": "Example Inc.",
        "Kept": "30 days",
        "Reviewed": "2026-11-15",
    }


@pytest.mark.parametrize("model", ParticipationSection.model_fields["model"].annotation.__args__)
def test_every_participation_model_has_words(model):
    weights = {"participation__weights": 3} if "bins" not in model else {"participation__bins": [3]}
    own = weights if model.removeprefix("rectified-") in {"parallel", "multinomial", "bins"} else {}
    one = [{"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0}]
    plan = PLAN.replace(questions=one, participation__model=model, **own)
    assert collection_facts(plan)["Who answers when"]


@pytest.mark.usefixtures("without_plots")
def test_the_page_shows_it_all():
    page = PLAN.explain().html
    text = re.sub(r"<[^>]*>", "", page)
    for words in ("Which pets?", "Which pet do you have?", "12 hours", "36 hours", "30 days"):
        assert words in text
    assert "Choose the &lt;food&gt;." in page
    assert "&lt;b&gt;dog&lt;/b&gt;" in page
    assert "does not bind it" in text
    bare = PLAN.replace(record=None, purpose=None).explain().html
    assert "The plan has no [record]" in bare
    assert "The plan does not state a purpose." in bare


def test_durations_are_spoken():
    assert lasting(timedelta(minutes=90)) == "90 minutes"
    assert lasting(timedelta(seconds=61)) == "61 seconds"
    assert lasting(timedelta(days=2)) == "2 days"
