"""Estimates by part: whom they are about, how often they hold, what is put together or left out."""

import numpy as np
import pytest
from scipy.stats import binomtest

from croupier.analyzer.displacement import Displacement
from croupier.analyzer.parts import (
    REST,
    AskedByPart,
    FileParts,
    PartCounts,
    PartEstimates,
    Square,
    require_by_part,
    squares_of,
)
from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream
from croupier.protocol.batch_file import require_places, write_batch
from croupier.protocol.receipt import ReceiptError
from croupier.randomizers import randomizer
from croupier.shufflers.mallows import MallowsShuffler

COIN = randomizer("k-rr", labels=["no", "yes"], max_epsilon_local=2.0)
NOWHERE = Displacement(1, (), None, None, (), (), np.ones(9), np.ones(9))


def sums(yes, no):
    reports = COIN.randomize(["yes"] * yes + ["no"] * no)
    return PartCounts(yes + no, COIN.tally(reports))


def estimated(by_part, *, least=None, confidence=0.95):
    file = FileParts(by="town", names="abcdefghi", part_of=np.arange(9), displacement=NOWHERE)
    file = FileParts(**{**vars(file), "least": least})
    asked = AskedByPart("health", COIN, 0, by_part)
    return PartEstimates.of(file, [asked], confidence=confidence)


def test_small_parts_are_put_together_or_left_out():
    found = estimated({0: sums(50, 50), 1: sums(3, 4), 2: sums(30, 20), 5: sums(40, 20)}, least=60)
    assert [(own.part, own.parts, own.estimate.n) for own in found.estimates] == [
        ("a", 1, 100),
        ("f", 1, 60),
    ]
    assert found.withheld == {"health": (2, 57)}
    found = estimated({0: sums(50, 50), 1: sums(3, 4), 2: sums(30, 20)}, least=57)
    assert [(own.part, own.parts, own.estimate.n) for own in found.estimates][1:] == [(REST, 2, 57)]
    assert not found.withheld


def test_a_part_in_which_nobody_drew_a_question_is_small():
    drawn = randomizer("parallel", queries=(COIN, COIN, COIN), weights=(1, 1, 1))
    reports = np.array([[0, 1]] * 9 + [[1, 0]] * 9 + [[2, 1]] * 9)
    parts = {
        part: PartCounts(len(own), drawn.tally(own))
        for part, own in enumerate([reports, reports[:18], reports[18:], reports[:9]])
    }
    file = FileParts(by="town", names="abcd", part_of=np.arange(4), displacement=NOWHERE, least=9)
    asked = [AskedByPart(f"q{index}", drawn, index, parts) for index in range(3)]
    found = PartEstimates.of(file, asked, confidence=0.95)
    names = [(own.question, own.part, own.parts) for own in found.estimates]
    assert names == [(f"q{i}", *own) for i in range(3) for own in (("a", 1), (REST, 3))]
    without = [AskedByPart("q", drawn, 0, {part: parts[part] for part in (1, 3)})]
    assert PartEstimates.of(file, without, confidence=0.95).withheld == {"q": (2, 27)}


def test_what_a_part_needs_is_ten_points_to_either_side():
    """At the size that is asked for, half an interval is a tenth; below it, more."""
    found = estimated({0: sums(2_000, 2_000)})
    needed = found.least["health"]
    half = [
        float(own.estimate.upper[1] - own.estimate.lower[1]) / 2
        for own in estimated({0: sums(needed // 2, needed - needed // 2)}).estimates
    ]
    assert half[0] == pytest.approx(0.1, abs=0.015)
    assert estimated({0: sums(2_000, 2_000)}, confidence=0.99).least["health"] > 1.5 * needed


def test_intervals_that_hold_together_are_those_of_all_parts_and_values():
    found = estimated({part: sums(60, 60) for part in range(3)})
    wide = found.simultaneous()
    assert wide.together
    assert wide.simultaneous() is wide
    each = {1 - own.estimate.confidence for own in wide.estimates}
    assert list(each) == [pytest.approx(0.05 / 6)]


def test_squares_cover_the_map():
    points = np.array([[0.0, 0.0], [0.24, 0.9], [0.25, 0.0], [1.0, 1.0]])
    squares, number = squares_of(points, 0.25)
    assert squares[number[3]] == Square((0.75, 0.75), 0.25)
    for point, own in zip(points, number, strict=True):
        low = np.array(squares[own].low)
        assert (low <= point).all()
        assert (point <= low + 0.25).all()
    assert len(squares) == 4
    assert [str(own) for own in squares_of(np.array([[3.0], [3.0]]), 1.0)[0]] == ["3 to 4"]


def test_displacement_is_that_of_the_law():
    """Two places, one inversion: both stay with a chance of 1/(1 + e^-theta)."""
    law = MallowsShuffler(theta=1.0, components=np.repeat(np.arange(5_000), 2))
    line = np.arange(10_000.0)[:, None]
    found = Displacement.measured(
        law, np.arange(10_000) % 2, columns=("x",), coordinates=line, rng=Keystream(insecure_seed=1)
    )
    assert found.stayed_in([0]) == pytest.approx(1 / (1 + np.exp(-1)), abs=0.01)
    assert (found.median, found.farthest_tenth, found.along) == (0, 1, (0,))
    assert Displacement.measured(law, np.zeros(10_000, dtype=int)).stayed_in([0]) == 1


@pytest.mark.parametrize("people", [60, 240])
def test_intervals_hold_about_what_was_released_there_not_about_residents(people, alarm):
    """An order that moves many: the same intervals miss the residents far too often."""
    law = MallowsShuffler(theta=4 / people)
    part_of = (np.arange(people) >= people // 2).astype(np.int64)
    truth = part_of.astype(bool)  # nobody in part 0, everybody in part 1
    rng, draws = Keystream(insecure_seed=people), 400
    held = {"released": 0, "residents": 0}
    for _ in range(draws):
        sender = law.order(people, rng=rng)
        values = np.array(["no", "yes"])[truth.astype(int)]
        reports = np.asarray(COIN.randomize(values.tolist(), rng=rng))[sender]
        here = part_of == 0
        own = PartCounts(int(here.sum()), COIN.tally(reports[here]))
        (found,) = estimated({0: own}, least=1).estimates
        low, high = found.estimate.lower[1], found.estimate.upper[1]
        held["released"] += bool(low <= truth[sender][here].mean() <= high)
        held["residents"] += bool(low <= 0 <= high)
    assert binomtest(held["released"], draws, 0.95, alternative="less").pvalue > alarm
    assert binomtest(held["residents"], draws, 0.95, alternative="less").pvalue < alarm


def test_texts_and_distributions_are_refused():
    texts = randomizer("text", longest=2, alphabet="ab", functions=64, max_epsilon_local=2.0)
    with pytest.raises(ParameterError, match="texts, dictionaries and distributions"):
        require_by_part([COIN, texts])
    require_by_part([COIN])


@pytest.mark.parametrize("places", [[0, 1, 1], [0, 2, 1], [-1, 0, 1], [0, 1, 3]])
def test_places_that_release_does_not_write_are_refused(places, tmp_path, released):
    rows = np.zeros((3, 8), dtype=np.uint8)
    path = tmp_path / "batch.parquet"
    write_batch(rows, path, places=np.array(places))
    released.collect([0] * 60)
    with pytest.raises(ReceiptError, match="places that release does not write"):
        require_places(path, released.last, people=3)
    good = tmp_path / "good.parquet"
    write_batch(rows[:2], good, places=np.array([0, 2]))
    require_places(good, released.last, people=3)
