"""Texts and large dictionaries on the command line: what is printed, written and refused."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

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
    walked = ("--parameter", "levels=[1, 4]")
    made = croupier("randomize", answers, "-o", target, *MADE, *walked, "--insecure-seed", 26)
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
    for nowhere in (tmp_path / "missing.txt", tmp_path):
        refused = croupier("estimate", reports, "--candidates", nowhere)
        assert refused.code == 2
        assert f"`--candidates` must be a file; got '{nowhere}'" in refused.err


def test_candidates_begin_after_a_mark_and_are_of_the_alphabet(croupier, reports, tmp_path):
    listed = tmp_path / "listed.txt"
    listed.write_text("nope\n", encoding="utf-8-sig")
    assert croupier("estimate", reports, "--candidates", listed).code == 0
    listed.write_text("nope\nWxyz\nQuux\n")
    refused = croupier("estimate", reports, "--candidates", listed)
    assert refused.code == 2
    assert "`--candidates` must be texts of the alphabet; got '2 others'. Take them" in refused.err
    assert "Wxyz" not in refused.err
    assert "Quux" not in refused.err


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array([1.0, float("nan")]), "1 entries of typed are missing. Drop or fill them first."),
        (pa.array(["7", None]), "1 entries of typed are missing"),
        (pa.array([1.0, float("nan")]).dictionary_encode(), "1 entries of typed are missing"),
        (pa.array([b"\xff\xfe"]), "1 entries of typed are of type binary and cannot be read."),
        (pa.array([["7"], ["0"]]), "2 entries of typed are of type list<"),
        (pa.array([7.0, 0.0]), ""),
        (pa.array([b"07", b"true"]), ""),
    ],
)
def test_a_column_is_missing_or_no_text(croupier, tmp_path, column, said):
    answers = tmp_path / "answers.parquet"
    parquet.write_table(pa.table({"typed": column}), answers)
    outcome = croupier("randomize", answers, "-o", tmp_path / "reports.parquet", *MADE)
    assert said in outcome.err
    assert outcome.code == (1 if said else 0)


def test_a_list_is_no_answer_to_any_question(croupier, tmp_path):
    answers = tmp_path / "answers.parquet"
    parquet.write_table(pa.table({"typed": [[1], [2]]}), answers)
    for made in (("--k", 4), ("--mechanism", "laplace", "--grid", "0:1:1")):
        target = ("-o", tmp_path / "reports.parquet", "--max-epsilon-local", 4)
        refused = croupier("randomize", answers, *target, *made)
        assert "2 entries of typed are of type list<" in refused.err


def test_a_misspelt_parameter_is_refused_by_its_name(croupier):
    refused = croupier(
        "amplify", *MADE, "--parameter", "normalization=lower", "--n", 9, "--delta", 1e-8
    )
    named = "`normalization` is not a parameter of text. Did you mean normalisation?"
    assert named in refused.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--project",), "`--project` must be left out for text"),
        (("--quantile", 0.5), "`--quantile` must be left out: text asks for no distribution"),
        (("--range", "0:1"), "`--range` must be left out: text asks for no distribution"),
        (("--confidence", 1.5), "`--confidence` must be in (0, 1); got 1.5"),
        (("--confidence", 1), "`--confidence` must be in (0, 1); got 1"),
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


def test_names_of_alphabets_are_for_flags_only(croupier):
    flags = ("--mechanism", "text", "--max-epsilon-local", 6, "--parameter", "longest=4")
    flags += ("--n", 1e5, "--delta", 1e-8)
    for name in ("a-z", "a-z0-9", "any"):
        assert croupier("amplify", *flags, "--parameter", f"alphabet={name}").code == 0


@pytest.fixture
def numbers(croupier, tmp_path):
    """A file of reports about a number."""
    answers, target = tmp_path / "answers.csv", tmp_path / "reports.parquet"
    answers.write_text("\n".join(["number", *["3"] * 500, *["7"] * 500]) + "\n")
    made = ("--mechanism", "distribution", "--grid", "0:9:1", "--max-epsilon-local", 6)
    assert croupier("randomize", answers, "-o", target, *made, "--insecure-seed", 26).code == 0
    return target


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--project",), "`--project` must be left out for a distribution"),
        (("--quantile", 1.5), "`--quantile` must be in (0, 1); got 1.5"),
        (("--candidates", __file__), "`--candidates` must be left out: distribution asks for no"),
        (("--quantile", 0.5, "--range", "0:3"), ""),
    ],
)
def test_options_of_a_distribution(croupier, numbers, flags, said):
    outcome = croupier("estimate", numbers, *flags)
    assert said in outcome.err
    assert (outcome.code == 0) == (not said), outcome.err


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
