"""The words of a plan: bound by its digest, except the record; for people, so on one line."""

import pytest

from croupier.plan.file import PlanError
from croupier.plan.plan import Plan
from croupier.plan.text import plan_text
from croupier.randomizers import KaryRandomizedResponse

TEXT = """\
schema = 2
title = "Which pets?"
purpose = "Choose the food."

[[questions]]
name = "pet"
text = "Which pet do you have?"
mechanism = "k-rr"
labels = ["cat", "dog"]
max_epsilon_local = 1.0

[[questions]]
mechanism = "k-rr"
k = 3
max_epsilon_local = 1.0

[population]
enrolled = 900

[protections]
minimum_batch = 500

[[shufflers]]
operator = "Example Labs"

[analyzer]
operator = "Example Org"

[record]
controller = "Example Inc."
processors = ["Example Foundation runs the shuffler"]
legal_basis = "Consent"
retention = "30 days"
contact = "privacy@example.org"
rights = "Switch it off in the settings."
date = 2026-11-15
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Which pets?", "Which pet?"),
        ("Choose the food.", "Choose the toys."),
        ('"pet"', '"animal"'),
        ("Which pet do you have?", "Which pets do you have?"),
        ('"dog"', '"dogs"'),
        ('title = "Which pets?"\n', ""),
    ],
)
def test_what_people_read_is_bound_by_the_digest(old, new):
    assert Plan.from_toml(TEXT).digest != Plan.from_toml(TEXT.replace(old, new)).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Example Inc.", "Another Inc."),
        ("2026-11-15", "2026-11-16"),
        (TEXT[TEXT.index("[record]") :], ""),
    ],
)
def test_the_record_is_not(old, new):
    assert Plan.from_toml(TEXT).digest == Plan.from_toml(TEXT.replace(old, new)).digest


def test_words_are_kept_when_a_plan_is_written():
    plan = Plan.from_toml(TEXT, file="pets.toml")
    assert Plan.from_toml(plan.to_toml()) == plan
    assert Plan.from_toml(plan_text(plan)) == plan
    assert plan.headline == "Which pets?"
    assert Plan.from_toml(
        TEXT.replace('title = "Which pets?"\n', ""), file="pets.toml"
    ).headline == ("pets")


HIDDEN = [
    *("\\u001b[31m", "\\n", "\\u0085", "\\u2028", "\\u202e", "\\u2066"),
    *("\\u200b", "\\u200e", "\\u200f", "\\u061c", "\\u2060", "\\u2064", "\\u206a", "\\u206f"),
    *("\\ufeff", "\\u00ad", "\\U000e0001", "\\U000e007f"),
]
SHOWN = ["Which pets?", "Choose the food.", "Which pet do", "Consent", "runs", "dog", "Labs", "Org"]
"""Parts of texts that people read: title, purpose, question, record, label, operators."""


@pytest.mark.parametrize("mark", HIDDEN)
@pytest.mark.parametrize("words", SHOWN)
def test_words_move_no_cursor_and_hide_nothing(mark, words):
    with pytest.raises(PlanError, match="on one line") as caught:
        Plan.from_toml(TEXT.replace(words, f"{words}{mark}e"))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("blank", ["", " ", "\\u00a0", "\\u3000", "\\u2800", "\\u3164", "\\u200d"])
@pytest.mark.parametrize("words", ["Which pets?", "dog", "Example Labs"])
def test_words_have_something_to_see(blank, words):
    with pytest.raises(PlanError, match="on one line"):
        Plan.from_toml(TEXT.replace(f'"{words}"', f'"{blank}"'))


@pytest.mark.parametrize("words", ["Which pets?", "dog", "Example Labs"])
@pytest.mark.parametrize("padded", [" {}", "{} ", "\\u00a0{}", "{}\\u2009"])
def test_words_neither_begin_nor_end_with_white_space(padded, words):
    with pytest.raises(PlanError, match="on one line"):
        Plan.from_toml(TEXT.replace(f'"{words}"', f'"{padded.format(words)}"'))


@pytest.mark.parametrize(
    "words", ["می‌خواهم", "👩‍🔬 or ❤️", "क्‍ष", "a", "a b", "\u0647\u200d", "日本　語"]
)
def test_words_of_any_script_are_words(words):
    plan = Plan.from_toml(TEXT.replace("Which pets?", words).replace('"dog"', f'"{words}"'))
    assert plan.title == words
    assert plan.questions[0].randomizer.domain.labels == ("cat", words)


def test_half_a_character_is_none():
    document = Plan.from_toml(TEXT).document()
    for broken in (
        {"title": "\ud800"},
        {"questions": [document["questions"][0] | {"labels": ["a", "\ud800"]}] * 2},
    ):
        with pytest.raises(PlanError, match="on one line"):
            Plan.from_document(document | broken)


def test_a_mechanism_of_a_program_follows_the_rule_of_labels():
    made = KaryRandomizedResponse(labels=("cat", "\x1b[31m"), max_epsilon_local=1.0)
    with pytest.raises(PlanError, match="labels must be texts on one line"):
        Plan.from_document(Plan.from_toml(TEXT).document() | {"questions": [made, made]})


@pytest.mark.parametrize("empty", ['title = ""', "title = 3"])
def test_words_are_words(empty):
    with pytest.raises(PlanError, match="title must be a text of 1 to 200 characters"):
        Plan.from_toml(TEXT.replace('title = "Which pets?"', empty))


@pytest.mark.parametrize(
    "date",
    [
        *("0", "1_700_000_000", "1.5", "true", "2026-11-15T00:00:00", "2026-11-15T00:00:00Z"),
        *('"0"', '"1700000000"', '"2026-11-15T00:00:00"', '"20261115"', '"2026-11-31"'),
    ],
)
def test_a_date_is_a_day(date):
    with pytest.raises(PlanError, match="date must be a date, YYYY-MM-DD"):
        Plan.from_toml(TEXT.replace("date = 2026-11-15", f"date = {date}"))


def test_a_date_may_be_a_text():
    written = TEXT.replace("date = 2026-11-15", 'date = "2026-11-15"')
    assert Plan.from_toml(written) == Plan.from_toml(TEXT)


def test_questions_have_names():
    plan = Plan.from_toml(TEXT)
    assert [plan.question_name(index) for index in range(2)] == ["pet", "question-2"]
    with pytest.raises(PlanError, match="name must differ from the others"):
        Plan.from_toml(TEXT.replace('"pet"', '"question-2"'))


def test_one_entry_for_several_questions_is_numbered():
    one = TEXT[: TEXT.index("[[questions]]\nmechanism")] + TEXT[TEXT.index("[population]") :]
    plan = Plan.from_toml(f'{one}\n[participation]\nmodel = "parallel"\nweights = 3\n')
    assert [plan.question_name(index) for index in range(3)] == ["pet-1", "pet-2", "pet-3"]
