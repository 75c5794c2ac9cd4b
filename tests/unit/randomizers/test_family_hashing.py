"""Dictionary and text: public hash functions, proofs that hold for all of them, what is found."""

import hashlib
import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from benchmarks.refute.oracle import exp_between, histogram_pairs, worst_delta
from benchmarks.unlisted import Crowd, zipf
from croupier.accounting.amplify import bracket
from croupier.accounting.blanket import local_curve, lower_curve, upper_curve
from croupier.assessment.ladder.ladder import assess
from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.reidentification import reidentification
from croupier.leakage.uninformed import guess_uninformed, uninformed_vulnerability
from croupier.model.guarantee import Direction
from croupier.model.metric import Metric
from croupier.plan.plan import Plan
from croupier.randomizers import Dictionary, KaryRandomizedResponse, ParallelRandomizer, Text
from croupier.randomizers.hash_family import HashFamily

NAMES = [bytes([number]) * 32 for number in range(6)]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def small(name):
    """Mechanisms whose channels can be listed, in one batch."""
    given = {"max_epsilon_local": 1.0, "denominator": 16}
    made = [
        Dictionary(k=3, functions=2, buckets=2, **given),
        Dictionary(k=3, functions=3, buckets=3, **given),
        Dictionary(k=2, functions=1, buckets=3, **given),
        Text(longest=1, alphabet="ab", functions=2, buckets=2, **given),
        Text(longest=2, alphabet="a", levels=(1, 2), functions=1, buckets=3, **given),
    ]
    return [each.in_batches((name,)) for each in made]


@pytest.mark.parametrize("name", NAMES[:3], ids=range(3))
@pytest.mark.parametrize("index", range(5))
def test_proofs_hold_for_the_functions_of_every_batch(name, index):
    """Upper >= exact >= lower, over all data of two and three people."""
    made = small(name)[index]
    rows = made.channel().weights.tolist()
    for n in (2, 3):
        pairs = histogram_pairs(rows, n)
        for epsilon in (0.0, 0.2, 0.6):
            low, high = (worst_delta(pairs, ratio) for ratio in exp_between(epsilon)[::-1])
            upper, lower = upper_curve(made, n=n), lower_curve(made, n=n)
            assert upper.delta(epsilon) >= float(low) * (1 - 1e-12)
            assert lower.delta(epsilon) <= float(high) * (1 + 1e-12)


def test_values_that_never_meet_attain_the_local_curve():
    """Some batch has functions that keep two values apart; the curve is about the worst batch."""
    for name in (number.to_bytes(32) for number in range(100)):
        made = Dictionary(
            k=2, functions=2, buckets=3, max_epsilon_local=1.0, denominator=16
        ).in_batches((name,))
        one, two = made.channel().probabilities
        if np.abs(one - two).sum() / 2 >= local_curve(made).delta(0.0) - 1e-12:
            return
    pytest.fail("no batch attains what is called exact")


@pytest.mark.parametrize("others", [None, 2])
def test_classes_are_laws_and_those_with_others_are_the_channel(others):
    made = small(NAMES[0])[1]
    for first, second in permutations(range(3), 2):
        classes = made.likelihood_classes(first, second, others=others)
        assert sum(classes.first) == sum(classes.second) == 1
        if others is not None:
            theirs = made.channel().likelihood_classes(first, second, others=others)
            ours = zip(classes.reference, classes.first, classes.second, strict=True)
            assert sorted(ours) == sorted(
                zip(theirs.reference, theirs.first, theirs.second, strict=True)
            )


def test_the_proof_is_that_of_the_buckets():
    for made in (
        Dictionary(k=10_000, max_epsilon_local=4.0),
        Text(longest=12, max_epsilon_local=4.0),
    ):
        assert made.g == 56
        buckets = KaryRandomizedResponse(k=56, max_epsilon_local=4.0)
        assert made.epsilon_local == buckets.epsilon_local
        ours, theirs = (bracket(each, n=10_000, delta=1e-6) for each in (made, buckets))
        assert ours.upper.value == pytest.approx(theirs.upper.value, rel=1e-9)
        assert ours.lower.value == 0, "some batch may put two values into one bucket"
        named = bracket(made.in_batches(NAMES[:1]), n=10_000, delta=1e-6)
        assert named.upper.value == ours.upper.value
        assert 0.9 * named.upper.value < named.lower.value <= named.upper.value


@pytest.mark.parametrize(
    ("k", "functions", "buckets", "epsilon"),
    [(2, 16, 2, 4.0), (3, 1, 2, 2.0), (4, 64, 4, 2.0), (10, 64, None, 4.0)],
)
def test_what_is_proved_without_a_batch_holds_for_every_batch(k, functions, buckets, epsilon):
    made = Dictionary(
        k=k, functions=functions, buckets=buckets, max_epsilon_local=epsilon, denominator=1 << 16
    )
    with pytest.raises(TooLargeError, match="Name a batch"):
        made.channel()
    stated = guess_uninformed(made, n=1)
    assert stated.direction is Direction.UPPER
    batches = [made.in_batches((bytes([number]) * 32,)) for number in range(12)]
    exact = [uninformed_vulnerability(each, n=1) for each in batches]
    assert max(exact) <= stated.value
    apart = [each.channel().probabilities for each in batches]
    worst = max(np.abs(rows[0] - rows[1]).sum() / 2 for rows in apart)
    assert worst <= local_curve(made).delta(0.0) * (1 + 1e-12)
    told = reidentification(made, n=50)
    assert told.lower.value <= min(reidentification(each, n=50).lower.value for each in batches)
    assert told.upper.value >= max(reidentification(each, n=50).upper.value for each in batches)


def test_the_ladder_has_no_lower_ends_where_the_batch_decides():
    asked = {"mechanism": "dictionary", "labels": ["no", "yes"], "buckets": 2}
    plan = Plan.from_document(
        {
            "schema": 2,
            "randomizer": asked | {"max_epsilon_local": 4.0},
            "population": {"enrolled": 500},
            "protections": {"minimum_batch": 200},
        }
    )
    for row in assess(plan):
        for metric in (Metric.EPSILON, Metric.GUESS_OF_TWO, Metric.BAYES_SECURITY):
            attained = row[metric].attained
            assert attained is None or attained.value in (0, 0.5, 1), (row.rung, metric)
            assert row[metric].proved.direction is not Direction.EXACT
        assert row[Metric.GUESS_INFORMED].proved.direction is Direction.UPPER


def test_functions_are_pairwise_independent_and_differ_by_batch():
    one, other = (HashFamily(name, functions=4096, buckets=7) for name in NAMES[:2])
    marks = one.fingerprints([b"cat", b"dog"])
    buckets = one.buckets_of(np.arange(4096)[:, None], marks)
    assert buckets.tolist()[9] == [one.bucket(9, b"cat"), one.bucket(9, b"dog")]
    joint = np.bincount(buckets[:, 0] * 7 + buckets[:, 1], minlength=49)
    assert ((joint - 4096 / 49) ** 2 / (4096 / 49)).sum() < 48 + 7 * math.sqrt(96)
    same = buckets[:, 0] == other.buckets_of(np.arange(4096), other.fingerprints([b"cat"] * 4096))
    assert abs(same.mean() - 1 / 7) < 0.04


def test_words_of_all_functions_are_those_of_each():
    family = HashFamily(NAMES[0], functions=300, buckets=11)
    assert family.words.shape == (300, 3)
    assert family.words.dtype == np.uint64
    [mark] = family.fingerprints([b"cat"])
    every = family.buckets_of(np.arange(300), mark).tolist()
    assert every == [family.bucket(each, b"cat") for each in range(300)]


@pytest.mark.parametrize("drawn", [[7], [5, 5, 2, 9], [*range(10)], [*range(10), 3], []])
def test_drawn_functions_give_the_same_buckets_without_the_words_of_others(drawn):
    family = HashFamily(NAMES[0], functions=10, buckets=7)
    rows = np.array(drawn, dtype=np.int64)
    words = [b"%d" % place for place in range(len(drawn))]
    marks = family.fingerprints(words)
    expected = [family.bucket(*pair) for pair in zip(drawn, words, strict=True)]
    assert family.buckets_of_drawn(rows, marks).tolist() == expected
    assert ("words" in vars(family)) == (len(set(drawn)) == 10)
    assert family.buckets_of(rows, marks).tolist() == expected
    assert family.buckets_of_drawn(rows, marks).tolist() == expected


def test_one_value_is_randomised_without_hashing_every_function(monkeypatch):
    made = Text(
        longest=16,
        alphabet="ab",
        levels=tuple(range(1, 17)),
        functions=1 << 16,
        max_epsilon_local=1.0,
    )
    assert made.rows == 1 << 20
    hashed, original = [], hashlib.sha256
    monkeypatch.setattr(hashlib, "sha256", lambda data: hashed.append(data) or original(data))
    made.randomize(["abba", "b"])
    assert len(hashed) <= 4  # the name of the batch, the beginning of messages, and two functions


def test_a_dictionary_has_no_more_answers_than_can_be_analysed():
    assert Dictionary(k=10_000_000, max_epsilon_local=1.0).size == 10_000_000
    with pytest.raises(ParameterError, match="`k` must give at most 10,000,000 answers"):
        Dictionary(k=10_000_001, max_epsilon_local=1.0)


def test_shares_are_unbiased_on_average_over_the_functions():
    truth = np.array([0.5, 0.3, 0.2, 0.0])
    people = np.repeat(np.arange(4), (600, 360, 240, 0))
    rng = np.random.default_rng(26)
    found = []
    for _ in range(100):
        made = Dictionary(k=4, max_epsilon_local=2.0, functions=64).in_batches((rng.bytes(32),))
        tally = Crowd(made, np.arange(4)).tally(rng, people)
        found.append(made.estimate_tally(tally, len(people)).points)
    error = np.mean(found, axis=0) - truth
    assert (np.abs(error) < 5 * np.std(found, axis=0) / math.sqrt(100)).all()


@pytest.mark.parametrize(
    ("runs", "slack"), [(6, 0.012), pytest.param(200, 0.01, marks=pytest.mark.proof)]
)
def test_intervals_and_error_are_those_of_fresh_functions(runs, slack):
    n, k = 100_000, 10_000
    rng = np.random.default_rng(26)
    covered, ratios = [], []
    for _ in range(runs):
        made = Dictionary(k=k, max_epsilon_local=4.0).in_batches((rng.bytes(32),))
        people = rng.choice(k, size=n, p=zipf(k))
        estimate = made.estimate_tally(Crowd(made, np.arange(k)).tally(rng, people), n)
        truth = np.bincount(people, minlength=k) / n
        covered.append(((estimate.lower <= truth) & (truth <= estimate.upper)).mean())
        ratios.append(math.sqrt(((estimate.points - truth) ** 2).mean()) / made.rms_error(n))
    assert abs(np.mean(covered) - 0.95) < slack
    assert np.mean(ratios) < 1.05


def test_batches_are_pooled_with_their_own_functions():
    rng = np.random.default_rng(26)
    plain = Dictionary(k=50, max_epsilon_local=3.0, functions=256)
    people = rng.choice(50, size=40_000, p=zipf(50))
    alone = [plain.in_batches((name,)) for name in NAMES[:2]]
    halves = [people[:15_000], people[15_000:]]
    tallies = [
        Crowd(each, np.arange(50)).tally(rng, own) for each, own in zip(alone, halves, strict=True)
    ]
    both = plain.in_batches(NAMES[:2])
    estimate = both.estimate_tally(both.pool(tallies), len(people))
    truth = np.bincount(people, minlength=50) / len(people)
    assert (np.abs(estimate.points - truth) < 5 * estimate.standard_errors).all()
    mixed = plain.in_batches(NAMES[1::-1])
    wrong = mixed.estimate_tally(mixed.pool(tallies), len(people))
    assert np.abs(wrong.points - truth).max() > 20 * estimate.standard_errors.max()
    with pytest.raises(ParameterError, match="one where reports are made"):
        both.randomize([3])


def test_parallel_questions_pool_too():
    rng = np.random.default_rng(26)
    query = Dictionary(k=20, max_epsilon_local=4.0, functions=128)
    yes_no = KaryRandomizedResponse(k=2, max_epsilon_local=4.0)
    plain = ParallelRandomizer(queries=(query, yes_no))
    assert plain.varies_by_batch
    assert plain.rms_errors(1000)[0] > yes_no.rms_error(1000)
    values = np.column_stack(
        [rng.choice(20, size=20_000, p=zipf(20)), rng.integers(2, size=20_000)]
    )
    tallies = []
    for name, part in zip(NAMES, np.array_split(values, 2), strict=False):
        alone = plain.in_batches((name,))
        tallies.append(alone.tally(alone.randomize(part)))
    both = plain.in_batches(NAMES[:2])
    pooled = both.pool(tallies)
    assert pooled.size == both.tally_size
    shares, yes = both.estimate_tallies(pooled, 20_000)
    truth = np.bincount(values[:, 0], minlength=20) / 20_000
    assert (np.abs(shares.points - truth) < 5 * shares.standard_errors).all()
    assert abs(yes.points[1] - values[:, 1].mean()) < 5 * yes.standard_errors[1]


def test_specification_leaves_the_batch_out():
    made = Dictionary(k=9, max_epsilon_local=1.0).in_batches((NAMES[0],))
    assert made.specification == Dictionary(k=9, max_epsilon_local=1.0).specification
    assert made.likelihoods[0] > Fraction(1, made.g)
