"""Open text: what is found, what is not, and what liars can do."""

import re
from dataclasses import replace
from itertools import pairwise
from string import ascii_lowercase

import numpy as np
import pytest

from benchmarks.unlisted import Crowd, made_up_words, zipf
from croupier.errors import DataError, ParameterError
from croupier.model.texts import Texts
from croupier.plan.file import PlanError
from croupier.plan.plan import Plan
from croupier.randomizers import Text
from croupier.randomizers.estimates.family_fit import FamilyFit, add_up
from croupier.randomizers.estimates.prefix_walk import _Walk

NAMES = [bytes([number]) * 32 for number in range(4)]
LETTERS = "abcdef"


def texts(rng, *, n, liars=(), levels=None, name=NAMES[0], epsilon=4.0, known=400):
    """A mechanism, words, people's places and a tally."""
    made = Text(
        longest=6, alphabet=LETTERS, levels=levels, functions=512, max_epsilon_local=epsilon
    )
    made = made.in_batches((name,))
    words = [word for word in made_up_words(rng, 20_000, 6) if set(word) <= set(LETTERS)][:known]
    people = rng.choice(len(words), size=n, p=zipf(len(words)))
    crowd = Crowd(made, made.domain.encode(np.array(words, dtype=object)))
    return made, words, people, crowd.tally(rng, people, liars)


def test_frequent_texts_are_found_and_no_false_ones():
    rng = np.random.default_rng(26)
    false = 0
    for name in NAMES:
        made, words, people, tally = texts(rng, n=60_000, name=name)
        found = made.estimate_tally(tally, len(people))
        truth = np.bincount(people, minlength=len(words)) / len(people)
        above = {
            word
            for word, share in zip(words, truth, strict=True)
            if share > 8 * made.rms_error(60_000)
        }
        assert len(above) >= 3
        assert above <= set(found.values)
        shares = dict(zip(words, truth.tolist(), strict=True))
        false += sum(shares.get(word, 0) == 0 for word in found.values)
        for word, low, high in zip(found.values, found.lower, found.upper, strict=True):
            assert low <= shares.get(word, 0) <= high
        assert sum(found.answered) == 60_000
        assert list(found.points) == sorted(found.points, reverse=True)
        assert found.simultaneous() is found
    assert false <= 1


def test_noise_alone_is_no_text():
    """Reports that follow no value at all; each run shows one with a chance of 5 % at most."""
    rng = np.random.default_rng(26)
    made = Text(longest=4, alphabet="abcd", functions=256, max_epsilon_local=3.0)
    shown = 0
    for _ in range(20):
        rows, buckets = rng.integers(made.rows, size=30_000), rng.integers(made.g, size=30_000)
        found = made.estimate_tally(made.tally(np.stack([rows, buckets], axis=1)), 30_000)
        shown += len(found.values) > 0
        assert found.to_frame() is not None
    assert shown <= 5


def test_listed_texts_are_tested_beside_the_walk():
    rng = np.random.default_rng(26)
    made, words, _, tally = texts(rng, n=60_000, levels=(6,))
    found = made.find(tally, 60_000, listed=[*words[:30], "fade"])
    assert set(words[:3]) <= set(found.values)
    wide = Text(longest=20, levels=(20,), max_epsilon_local=4.0)
    reports = wide.randomize(["red"] * 3000 + ["blue"] * 1000)
    assert wide.find(wide.tally(reports), 4000, listed=["red", "green"]).values == ["red"]
    with pytest.raises(ParameterError, match="--candidates"):
        wide.estimate(reports)
    with pytest.raises(DataError):
        made.find(tally, 60_000, listed=["UPPER"])
    with pytest.raises(ParameterError, match="other texts"):
        found.projected()


def test_liars_move_a_share_by_no_more_than_is_stated():
    """Liars who all answer the last level, each with the bucket of one text."""
    base = np.random.default_rng(26)
    made, words, _, honest = texts(base, n=50_000)
    target = len(words) - 1
    crowd = Crowd(made, made.domain.encode(np.array(words, dtype=object)))
    first = made.rows - made.functions
    rows = first + np.arange(500) % made.functions
    marks = crowd.marks[-1, np.full(500, target)]
    lies = made.tally(np.stack([rows, made.family.buckets_of(rows, marks)], axis=1))
    after = made.find(honest + lies, 50_500, listed=[words[target]])
    place = list(after.values).index(words[target])
    reach = 500 * after.moved_by_one[place]
    shares = FamilyFit.of(made, honest, made.level_count - 1).shares(
        made.messages(made.domain.encode(np.array(words, dtype=object)), np.full(len(words), 1))
    )
    old = shares.counts[target] / shares.people
    assert 0.8 * reach < after.points[place] - old <= 1.001 * reach
    doubtful = dict(zip(after.values, after.doubtful(500), strict=True))
    assert doubtful[words[target]]
    assert not doubtful[words[0]]


def share_again(made, tally, level, shares, place):
    """The share of a text among the people of a level, with the same texts fitted together."""
    fit = FamilyFit.of(made, tally, level)
    own = replace(shares.frequent, weights=fit._weights)  # noqa: SLF001 - the fit again, by hand
    left = [each - each.mean(axis=1, keepdims=True) for each in fit.counts]
    held = own.solved(own.at_buckets(left))
    found = np.flatnonzero(shares.places == place)
    if len(found):
        return held[found[0]] / fit.people, fit.people
    rest = left[0] - own.expected(held)[0]
    rows = np.arange(made.functions)
    return rest[rows, shares.buckets(place)[0]].sum() * fit.scale / fit.people, fit.people


@pytest.mark.parametrize("levels", [(2,), (1, 2)])
@pytest.mark.parametrize("text", ["a", "ab", "cc", "ff", ""])
def test_no_report_moves_a_share_further_than_is_stated(levels, text):
    """Take any report away and put any other in its place, with the same texts fitted together."""
    rng = np.random.default_rng(26)
    made = Text(
        longest=2, alphabet=LETTERS, levels=levels, functions=64, buckets=8, max_epsilon_local=4.0
    ).in_batches((b"x" * 32,))
    words = ["a", "ab", "cc", ""]
    crowd = Crowd(made, made.domain.encode(np.array(words, dtype=object)))
    tally = crowd.tally(rng, rng.choice(4, size=20_000, p=[0.5, 0.2, 0.2, 0.1]))
    walk = _Walk(made, tally, [made.domain.encode_one(text)], 0.05)
    for level in range(len(levels)):
        walk.step(level)
    place = walk.texts[made.domain.encode_one(text)]
    [stated] = walk._moved_by_one(np.array([place]))  # noqa: SLF001 - also of texts not shown

    def estimate(tally):
        tested = [
            share_again(made, tally, level, shares, before + place)
            for level, (before, shares) in enumerate(walk._levels)  # noqa: SLF001
            if before + place < len(shares.counts)
        ]
        people = sum(count for _, count in tested)
        return sum(share * count for share, count in tested) / people

    before, ends = estimate(tally), []
    for cell in range(0, len(tally), 3):
        more = tally.copy()
        more[cell] += 1
        ends.append(estimate(more) - before)
    found = max(ends) - min(ends)
    assert found <= stated * (1 + 1e-3)
    assert found > 0.85 * stated


def test_few_functions_are_refused_since_texts_share_all_buckets():
    few = Text(longest=2, alphabet="ab", functions=63, max_epsilon_local=4.0)
    with pytest.raises(ParameterError, match=r"at least 64 for text.*Try 1024"):
        few.estimate(few.randomize(["ab"] * 100))
    asked = {"mechanism": "text", "longest": 2, "functions": 63, "max_epsilon_local": 4.0}
    with pytest.raises(PlanError, match=r"functions.*at least 64"):
        Plan.from_document(
            {
                "schema": 2,
                "randomizer": asked,
                "population": {"enrolled": 500},
                "protections": {"minimum_batch": 200},
            }
        )
    false = 0
    for number in range(40):
        made = Text(
            longest=2, alphabet="ab", levels=(2,), functions=64, buckets=2, max_epsilon_local=4.0
        ).in_batches((bytes([number]) * 32,))
        crowd = Crowd(made, made.domain.encode(np.array(["ab"], dtype=object)))
        rng = np.random.default_rng(number)
        found = made.estimate_tally(crowd.tally(rng, np.zeros(5000, dtype=int)), 5000)
        false += bool(set(found.values) - {"ab"})
        assert np.isfinite(found.standard_errors).all()
    assert false <= 5, "one run in twenty shows a text that nobody sent, at most"


def test_people_who_fill_one_bucket_hide_no_text():
    """Reports of one function raise the count of a text, and not the error of it."""
    rng = np.random.default_rng(26)
    made, _, _, tally = texts(rng, n=60_000)
    before = made.find(tally, 60_000)
    hidden = str(before.values[3])
    cell = made.family.bucket(5, made.message(made.domain.encode_one(hidden), 0))
    tally[5 * made.g + cell] += 600
    after = made.find(tally, 60_600)
    assert hidden in after.values
    moved = before.moved_by_one[3]
    place = list(after.values).index(hidden)
    assert abs(after.points[place] - before.points[3]) <= 600 * moved * 1.1


def test_texts_that_share_buckets_with_one_that_nobody_lists_are_not_shown():
    """A list may lack the most frequent text: what it adds to others is in their intervals."""
    rng = np.random.default_rng(26)
    made = Text(longest=8, alphabet=ascii_lowercase, levels=(8,), max_epsilon_local=4.0)
    made = made.in_batches((b"x" * 32,))
    words = ["covid", *made_up_words(rng, 1000, longest=8)]
    law = np.array([0.3, *[0.7 / 1000] * 1000])
    crowd = Crowd(made, made.domain.encode(np.array(words, dtype=object)))
    tally = crowd.tally(rng, rng.choice(1001, size=200_000, p=law))
    tried = made_up_words(rng, 200_000, longest=8)
    zero = np.zeros(len(tried), dtype=int)
    marks = made.family.fingerprints(
        made.messages(made.domain.encode(np.array(tried, object)), zero)
    )
    table = np.zeros((made.functions, made.g))
    rows = np.arange(made.functions)
    table[rows, made.family.buckets_of(rows, crowd.marks[0, [0] * made.functions])] = 1.0
    score = np.zeros(len(tried))
    add_up([table], made.family.words, marks, into=[score])
    ground = [tried[each] for each in np.argsort(-score)[:20]]
    assert score.max() > 35, "18 of 1,024 functions put two texts in one bucket"
    assert not made.find(tally, 200_000, listed=ground).values
    with_it = made.find(tally, 200_000, listed=[*ground, "covid"])
    assert list(with_it.values) == ["covid"]


@pytest.mark.parametrize(
    ("domain", "text", "codes"),
    [
        (Texts(3), "é", (0xC3 + 1, 0xA9 + 1, 0)),
        (Texts(9, "abc"), "cabbage", None),
        (Texts(3, "abcg"), "cab", (3, 1, 2)),
        (Texts(3, "abcg"), "cabg", (3, 1, 2)),
        (Texts(4, "ab", "lower"), " AB ", (1, 2, 0, 0)),
        (Texts(2, "é", "nfc"), "e\u0301", (1, 0)),
        (Texts(2), "", (0, 0)),
        (Texts(2), "\ud800", None),
        (Texts(2), 7, None),
        (Texts(2), None, None),
    ],
)
def test_texts_become_letters(domain, text, codes):
    values = np.array([text], dtype=object)
    if codes is None:
        with pytest.raises(DataError) as caught:
            domain.encode_one(text)
        assert "cabbage" not in str(caught.value)
        with pytest.raises(DataError):
            domain.encode(values)
    else:
        assert domain.encode_one(text) == codes
        assert domain.encode(values).tolist() == [list(codes)]


@pytest.mark.parametrize(
    ("domain", "values", "said"),
    [
        (Texts(2), ["a", None, float("nan")], "2 values are missing. Drop or fill them first."),
        (Texts(2), [np.float32("nan"), 7], "1 values are missing."),
        (Texts(2), ["a", 7, b"b"], "2 values are not texts. Convert or drop them first."),
        (Texts(2), ["a", "b\ud800"], "1 values have half of a surrogate pair, which is no char"),
        (Texts(2, "ab"), ["\ud800", "c"], "1 values have half of a surrogate pair"),
        (Texts(2, "ab"), ["a", "c", "B"], "2 values are not texts of the alphabet. Map other"),
    ],
)
def test_refused_values_are_told_the_reason(domain, values, said):
    with pytest.raises(DataError) as caught:
        domain.encode(np.array(values, dtype=object))
    assert str(caught.value).startswith(said)
    with pytest.raises(DataError, match="values are missing"):
        domain.encode_one(np.float64("nan"))


@pytest.mark.parametrize(
    "given",
    [
        {"longest": 0},
        {"longest": 500},
        {"longest": 4, "alphabet": ""},
        {"longest": 4, "alphabet": "aa"},
        {"longest": 4, "alphabet": "a\ud800"},
        {"longest": 2, "alphabet": "".join(map(chr, range(0x10000, 0x20000)))},
        {"longest": 4, "alphabet": "aB", "normalisation": "lower"},
        {"longest": 4, "normalisation": "upper"},
        {"longest": 4, "levels": ()},
        {"longest": 4, "levels": (1, 3)},
        {"longest": 4, "levels": (2, 2, 4)},
        {"longest": 4, "buckets": 1},
        {"longest": 100, "buckets": 60_000},
        {"longest": 4, "functions": 0},
    ],
)
def test_refused_texts(given):
    with pytest.raises(ParameterError):
        _ = Text(max_epsilon_local=4.0, **given).report_format


MANY_LETTERS = "".join(map(chr, range(0x10000, 0x1FFFF)))


@pytest.mark.parametrize(
    ("alphabet", "least"),
    [(None, 3), ("a", 22), ("abcdefg", 8), ("abcdefgh", 7), (LETTERS, 8), (MANY_LETTERS, 2)],
    ids=["bytes", "1", "7", "8", "6", "65535"],
)
def test_levels_leave_no_gap_with_more_endings_than_can_be_tried(alphabet, least):
    """The gap that is one letter too wide is refused, wherever it is; the one below is not."""
    given = {"alphabet": alphabet, "max_epsilon_local": 4.0}
    for levels in [(1, 1 + least), (1, 2, 2 + least), (1, 1 + least, 2 + least), (9, 9 + least)]:
        with pytest.raises(ParameterError, match=f"`levels` must ascend by at most {least - 1},"):
            Text(longest=levels[-1], levels=levels, **given)
    assert Text(longest=least, levels=(1, least), **given).level_count == 2
    signs = Texts(2, alphabet).letters + 1
    assert signs ** (least - 1) <= 2**21 < signs**least


@pytest.mark.parametrize("letters", [1, 2, 7, 26, 45, 46, 256, 999, 1000, 65_535])
def test_chosen_levels_leave_no_such_gap(letters):
    made = Text(
        longest=40, alphabet=MANY_LETTERS[:letters], functions=64, max_epsilon_local=4.0
    ).lengths
    gaps = [two - one for one, two in pairwise(made)]
    assert all(gap == 1 or (letters + 1) ** gap <= 1000 for gap in gaps)
    again = Text(
        longest=40,
        alphabet=MANY_LETTERS[:letters],
        levels=made,
        functions=64,
        max_epsilon_local=4.0,
    )
    assert again.lengths == made


@pytest.mark.parametrize(
    "given",
    [
        {"longest": 24, "max_epsilon_local": 8.0},
        {"longest": 24, "max_epsilon_local": 20.0},
        {"longest": 100, "max_epsilon_local": 8.0, "functions": 2000},
        {"longest": 100, "max_epsilon_local": 1.0, "functions": 65_536},
        {"longest": 111, "max_epsilon_local": 1.0, "buckets": 65_536},
        {
            "longest": 17,
            "levels": tuple(range(1, 18)),
            "max_epsilon_local": 1.0,
            "functions": 61_681,
        },
    ],
)
def test_too_many_functions_are_refused_with_a_number_that_works(given):
    with pytest.raises(ParameterError, match=r"^`functions` must be at most") as caught:
        Text(**given)
    works = int(re.fullmatch(r"Try functions = (\d+)\.", caught.value.hint)[1])
    assert Text(**given | {"functions": works}).rows <= 2**20
    with pytest.raises(ParameterError):
        Text(**given | {"functions": 2 * works})
    most = int(caught.value.must.split()[3].replace(",", ""))
    assert Text(**given | {"functions": most}).functions == most
    with pytest.raises(ParameterError):
        Text(**given | {"functions": most + 1})
