"""Open text: what is found, what is not, and what liars can do."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.unlisted import Crowd, made_up_words, zipf
from croupier.errors import DataError, ParameterError
from croupier.model.texts import Texts
from croupier.randomizers import Text
from croupier.randomizers.estimates.family_fit import FamilyFit

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


@pytest.mark.parametrize("frequent", [True, False])
def test_the_most_that_one_report_moves_is_found_by_trying_every_report(frequent):
    rng = np.random.default_rng(26)
    made, words, _, tally = texts(rng, n=20_000, levels=(6,))
    fit = FamilyFit.of(made, tally, 0)
    rows = made.domain.encode(np.array(words, dtype=object))
    shares = fit.shares(made.messages(rows, np.zeros(len(rows), dtype=int)))
    place = int(shares.places[0]) if frequent else int(np.setdiff1d(range(9, 40), shares.places)[0])
    [stated] = shares.moved_by_one(np.array([place]))
    buckets = shares.buckets(place)[0]
    low, high = 0.0, 0.0
    # Reports about the own bucket, and that of the most frequent text, where both are known best.
    others = shares.buckets(int(shares.places[1]))[0]
    for row in range(0, made.functions, 16):
        for bucket in {int(buckets[row]), int(others[row]), int((buckets[row] + 1) % made.g)}:
            one = tally.reshape(made.rows, made.g).copy()
            one[row, bucket] += 1000
            after = FamilyFit.of(made, one.ravel(), 0)
            own = after.joint_fit(
                [
                    after.families[0].fingerprints(
                        made.messages(rows[shares.places], np.zeros(len(shares.places), dtype=int))
                    )
                ]
            )
            own = replace(own, weights=shares.frequent.weights)
            left = [each - each.mean(axis=1, keepdims=True) for each in after.counts]
            held = own.solved(own.at_buckets(left))
            if frequent:
                value = held[0]
            else:
                rest = left[0] - own.expected(held)[0]
                value = rest[np.arange(made.functions), buckets].sum() * fit.scale
            low, high = (
                min(low, value - shares.counts[place]),
                max(high, value - shares.counts[place]),
            )
    found = (high - low) / 1000 / shares.people
    assert found <= stated * (1 + 1e-3)
    assert found > 0.9 * stated


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
