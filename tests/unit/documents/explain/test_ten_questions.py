"""Ten questions of a reader who knows none of our words, answered by the summary."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from croupier.documents.explain.asked import record_facts
from croupier.documents.explain.page import explain, explain_in_markdown
from croupier.plan.sections import RecordSection

FILLED = {
    "title": "Which pets?",
    "purpose": "Choose the food.",
    "randomizer": {
        "text": "Do you have a pet?",
        "mechanism": "k-rr",
        "labels": ["no", "yes"],
        "max_epsilon_local": 1.5,
    },
    "shufflers": [{"operator": "Example Foundation"}],
    "analyzer": {"operator": "Example Inc."},
    "record": {
        "controller": "Example Inc.",
        "contact": "privacy@example.org",
        "legal_basis": "Consent",
        "retention": "Batches 30 days.",
        "rights": "Switch it off in the settings.",
    },
}
QUESTIONS = {
    "what is asked": (
        "Do you have a pet? Answers: no, yes.",
        "question-1: the plan does not give the words. Answers: one of 2",
    ),
    "of whom": ("5,000 people are enrolled. One round every 24 hours",) * 2,
    "what for": ("Choose the food.", "The plan does not state a purpose."),
    "who decides": (
        "Example Inc. decides what is collected.",
        "The plan does not say who decides.",
    ),
    "whom to ask": ("Ask privacy@example.org.", "The plan does not say whom to ask."),
    "how long kept": ("Batches 30 days.", "The plan does not say how long reports are kept."),
    "too few people": ("A batch that stays below 2,000 people is deleted after 3 days.",) * 2,
    "who is trusted": (
        "The shuffler, run by Example Foundation, must mix",
        "The shuffler, run by somebody whom the plan does not name, must mix",
    ),
    "if not trustworthy": ("only the noise of your device protects your answer",) * 2,
    "collusion": ("If shuffler and analyzer work together, they know which report is yours",) * 2,
    "one person risks": ("How often is your report traced to you?",) * 2,
    "a guess": ("How often is a guess between two answers right?",) * 2,
    "withdraw": (
        "A report that you sent stays in its batch",
        "The plan does not say what else you may ask for.",
    ),
    "rights": ("Your rights: Switch it off in the settings.", "You send nothing more."),
    "not promised": ("What is not promised? That you take part is not hidden.",) * 2,
}


@pytest.fixture(scope="module")
def summaries():
    return {}


@pytest.fixture
def summary(ladder_of, summaries, without_plots):  # noqa: ARG001 - takes effect by itself
    """The words of the summary of a plan with all texts or none, in HTML and Markdown."""

    def read(filled):
        if filled not in summaries:
            ladder = _with_texts(ladder_of("uniform")) if filled else ladder_of("uniform")
            root = ET.fromstring(explain(ladder).partition("\n")[2])  # noqa: S314 - a page of ours
            (node,) = (n for n in root.iter("section") if n.get("class") == "summary")
            spaced = ET.tostring(node, encoding="unicode").replace("</dt>", " </dt>")
            words = "".join(ET.fromstring(spaced).itertext())  # noqa: S314 - a page of ours
            markdown = explain_in_markdown(ladder).partition("## What is asked, and how")[0]
            markdown = re.sub(r"\\(.)", r"\1", markdown.replace("**", ""))
            summaries[filled] = [" ".join(text.split()) for text in (words, markdown)]
        return summaries[filled]

    return read


def _with_texts(ladder):
    return replace(ladder, plan=ladder.plan.replace(**FILLED))


@pytest.mark.parametrize("filled", [True, False])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_summary_answers(summary, question, filled):
    expected = QUESTIONS[question][0 if filled else 1]
    for text in summary(filled):
        assert expected in text


def test_an_empty_record_is_none(ladder_of):
    assert record_facts(ladder_of("uniform").plan.replace(record=RecordSection())) == {}
