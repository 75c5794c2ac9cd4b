"""Texts and large dictionaries on the command line: what is printed, written and refused."""

import numpy as np
import pytest

from croupier.cli.output.texts import print_texts
from croupier.randomizers import Text
from croupier.randomizers.estimates.found_texts import FoundTexts

MADE = ("--mechanism", "text", "--max-epsilon-local", 6, "--parameter", "longest=4")
MADE += ("--parameter", "alphabet=07truenop")


def found(texts, shares, *, moved=0.001, candidates=50, n=10_000):
    """Made-up texts with these shares, each to within one percent."""
    return FoundTexts(
        quantity="share",
        values=texts,
        points=np.array(shares, dtype=float),
        standard_errors=np.full(len(texts), 0.005),
        n=n,
        candidates=candidates,
        answered=(n // 2, n // 2),
        moved_by_one=np.full(len(texts), moved),
    )


@pytest.fixture
def printed(capsys):
    def run(estimate, *, everything=False, corrupt=0):
        print_texts(estimate, confidence=0.95, everything=everything, corrupt=corrupt)
        return capsys.readouterr().out

    return run


def test_texts_that_could_be_made_up_are_marked_and_the_mark_is_explained(printed):
    said = printed(found(["gloop", "zarn"], [0.5, 0.1]), corrupt=200)
    head, first, second, legend, *_ = said.splitlines()
    assert head.split() == ["text", "share", "95", "%", "interval"]
    assert first.split()[:3] == ["gloop", "50.00", "%"]
    assert second.split()[:3] == ["zarn", "10.00", "%?"]
    assert legend == "? The 200 corrupt people of the plan could have made this text up."
    assert "the 200\ncorrupt people of the plan by 20." in said


def test_without_doubt_there_is_no_mark(printed):
    for corrupt in (0, 5):
        said = printed(found(["gloop", "zarn"], [0.5, 0.1]), corrupt=corrupt)
        assert "?" not in said
        assert ("corrupt people" in said) == bool(corrupt)
    assert "2 texts stand out, of 50 that were tested" in said
    assert "that nobody sent is shown with a chance of at most 5 %." in " ".join(said.split())


def test_twenty_texts_are_printed_unless_all_are_asked_for(printed):
    many = found([f"word{place}" for place in range(30)], np.linspace(0.5, 0.02, 30))
    assert "The largest 20 of 30 texts; all of them: --all" in printed(many)
    assert "word29" not in printed(many)
    assert "word29" in printed(many, everything=True)


def test_nothing_found_is_said(printed):
    assert printed(found([], [])).startswith("No text stands out, of 50 that were tested")
    assert printed(found([], [], candidates=0)).startswith("No text stands out: no beginning")


def test_a_text_cannot_write_to_the_terminal(printed):
    said = printed(found(["a\x1b[2Jb", "c\u202ed", "", " e"], [0.4, 0.3, 0.2, 0.1]))
    assert "\x1b" not in said
    assert "\u202e" not in said
    shown = [line.split("  ")[0] for line in said.splitlines()[1:5]]
    assert shown == ['"a\\x1b[2Jb"', '"c\\u202ed"', '""', '" e"']


@pytest.fixture
def reports(croupier, tmp_path):
    """A file of reports of 3,000 people, of whom two thirds typed digits."""
    answers = tmp_path / "answers.csv"
    answers.write_text("\n".join(["typed", *["007"] * 2000, *["true"] * 500, *[""] * 500]) + "\n")
    target = tmp_path / "reports.parquet"
    made = croupier("randomize", answers, "-o", target, *MADE, "--insecure-seed", 26)
    assert made.code == 0, made.err
    return target


def test_a_column_of_texts_stays_as_it_was_typed(croupier, reports):
    document = croupier("estimate", reports, "--json").document
    shares = {row["value"]: row for row in document["estimates"]}
    assert shares.keys() == {"007", "true", ""}
    low, high = shares["007"]["interval"]
    assert low <= 2 / 3 <= high
    assert 0 < shares["007"]["moved_by_one"] < 0.01
    assert document["texts"]["false_text_chance_upper"] == 0.05
    assert sum(document["texts"]["answered"]) == 3000


def test_candidates_are_read_line_by_line(croupier, reports, tmp_path):
    listed = tmp_path / "listed.txt"
    listed.write_bytes(b"007\r\n\r\nnope\n")
    one, other = (
        croupier("estimate", reports, "--json", *more).document["texts"]["candidates"]
        for more in ((), ("--candidates", listed))
    )
    assert other == one + 1
    listed.write_bytes(b"\xff\n")
    assert (
        "must be a text file in UTF-8" in croupier("estimate", reports, "--candidates", listed).err
    )
    missing = croupier("estimate", reports, "--candidates", tmp_path / "missing.txt")
    assert "No such file" in missing.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--project",), "`project` must be left out for text"),
        (("--simultaneous",), ""),
    ],
)
def test_other_options(croupier, reports, flags, said):
    outcome = croupier("estimate", reports, *flags)
    assert said in outcome.err
    assert (outcome.code == 0) == (not said)


def test_letters_of_an_alphabet_are_texts_also_if_they_are_digits(croupier, tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("\n".join(["typed", *["12"] * 50]) + "\n")
    target = tmp_path / "reports.parquet"
    more = ("--parameter", "alphabet=123", "--parameter", "normalisation=lower")
    assert croupier("randomize", answers, "-o", target, *MADE, *more).code == 0
    outside = croupier("randomize", answers, "-o", target, *MADE, "--parameter", "alphabet=a-z")
    assert "50 values are not texts of the alphabet" in outside.err


def test_only_the_largest_values_of_a_dictionary_are_printed_and_hold_together(croupier, tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("\n".join(["crash", *["7"] * 4000, *map(str, range(3000))]) + "\n")
    target = tmp_path / "reports.parquet"
    made = ("--mechanism", "dictionary", "--k", 3000, "--max-epsilon-local", 4)
    made += ("--insecure-seed", 26)
    assert croupier("randomize", answers, "-o", target, *made).code == 0
    said = croupier("estimate", target).out
    assert "The largest 20 of 3,000 values, whose intervals hold together;" in said
    assert said.endswith("7,000 reports. Intervals hold together.\n")
    rows = [line.split() for line in said.splitlines()[1:21]]
    assert rows[0][0] == "7"
    assert {row[-3] for row in rows[1:]} == {"0.00"}, "nothing else stands out"
    together = croupier("estimate", target, "--simultaneous", "--json").document["estimates"][7]
    assert f"{100 * together['interval'][0]:.2f}" == rows[0][-3]
    every = croupier("estimate", target, "--all").out
    assert every.endswith("Intervals hold singly; --simultaneous for all together.\n")
    refused = croupier("estimate", target, "--candidates", answers)
    assert "`--candidates` must be left out: dictionary asks for no text" in refused.err


def test_what_a_text_is_made_of_is_read_from_flags(croupier):
    outcome = croupier("amplify", *MADE, "--n", "1e5", "--delta", 1e-8, "--json")
    made = Text(longest=4, alphabet="07truenop", max_epsilon_local=6.0)
    assert outcome.document["epsilon_local"] == made.epsilon_local
    refused = croupier(
        "amplify", *MADE, "--parameter", "normalisation=upper", "--n", 9, "--delta", 1e-8
    )
    assert '"none", "lower" or "nfc"' in refused.err
