import math
from dataclasses import replace
from functools import cached_property
from itertools import product

import numpy as np
import pytest

from croupier.model import Channel
from croupier.model.randomizer import Randomizer
from croupier.model.report import ReportFormat
from croupier.numerics.keystream import Keystream
from croupier.randomizers import KaryRandomizedResponse, OptimizedUnaryEncoding
from croupier.shufflers import UniformShuffler
from croupier.testing import ContractError, check_randomizer, check_shuffler, law_p_value

# One unit of the weights is far below what the sampling test can see.
SMALL = 1 << 14


class OneUnitOff(KaryRandomizedResponse):
    def respond(self, indices, draws):
        answers = super().respond(indices, draws)
        return np.where(draws[:, 0] == self.denominator - 1, 0, answers)


class AlwaysTruthful(KaryRandomizedResponse):
    respond_one = Randomizer.respond_one

    def respond(self, indices, draws):
        del draws
        return indices


class Understated(KaryRandomizedResponse):
    @cached_property
    def epsilon_local(self):
        return math.nextafter(super().epsilon_local, 0)


class Overstated(KaryRandomizedResponse):
    @cached_property
    def epsilon_local(self):
        return math.nextafter(super().epsilon_local, math.inf)


class BiasedEstimate(KaryRandomizedResponse):
    def estimate_tally(self, tally, n, *, confidence=0.95):
        estimate = super().estimate_tally(tally, n, confidence=confidence)
        return replace(estimate, points=estimate.points * 1.01)


class HiddenRandomness(KaryRandomizedResponse):
    def respond(self, indices, draws):
        del draws
        return Keystream().integers(self.size, len(indices)).astype(np.int64)


class OutsideTheFormat(KaryRandomizedResponse):
    def respond(self, indices, draws):
        return super().respond(indices, draws) + 1


class FloatReports(KaryRandomizedResponse):
    def respond(self, indices, draws):
        return super().respond(indices, draws).astype(float)


class UsesUpItsDraws(KaryRandomizedResponse):
    def respond(self, indices, draws):
        answers = super().respond(indices, draws)
        draws[:] = 0
        return answers


class TallyOfShares(KaryRandomizedResponse):
    def tally(self, reports):
        return super().tally(reports) / len(reports)


class TallyWithAnOffset(KaryRandomizedResponse):
    def tally(self, reports):
        return super().tally(reports) + 1


class FloatChannel(KaryRandomizedResponse):
    def channel(self):
        return Channel.from_probabilities(super().channel().probabilities)


class DoubledChannel(KaryRandomizedResponse):
    def channel(self):
        channel = super().channel()
        return Channel.from_weights(channel.weights * np.uint64(2), 2 * channel.denominator)


class PartialChannel(KaryRandomizedResponse):
    """Responds with a third answer that its channel does not list."""

    report_format = ReportFormat((3,))
    respond_one = Randomizer.respond_one

    def respond(self, indices, draws):
        answers = super().respond(indices, draws)
        return np.where(draws[:, 0] == 0, 2, answers)

    def tally(self, reports):
        return super().tally(reports)[:2]


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (OneUnitOff, "every row of draws"),
        (AlwaysTruthful, "samples follow"),
        (Understated, "`epsilon_local` is that"),
        (Overstated, "`epsilon_local` is that"),
        (BiasedEstimate, "unbiased"),
        (HiddenRandomness, "depends on value and draws only"),
        (OutsideTheFormat, "`report_format`"),
        (FloatReports, "`report_format`"),
        (UsesUpItsDraws, "leaves its draws"),
        (TallyOfShares, "tallies of two batches add"),
        (TallyWithAnOffset, "tallies of two batches add"),
        (FloatChannel, "`channel\\(\\)` is exact"),
        (DoubledChannel, "counts the rows of draws"),
    ],
)
def test_a_broken_response_is_found_out(broken, promise, alarm):
    response = broken(k=3, max_epsilon_local=1.0, denominator=SMALL)
    with pytest.raises(ContractError, match=promise):
        check_randomizer(response, false_alarm=alarm)


def test_a_report_that_the_channel_does_not_list_is_found_out():
    with pytest.raises(ContractError, match="is an output of"):
        check_randomizer(PartialChannel(k=2, max_epsilon_local=1.0, denominator=64))


def test_a_wrong_law_is_found_out_at_the_shipped_denominator():
    with pytest.raises(ContractError, match="samples follow"):
        check_randomizer(AlwaysTruthful(k=3, max_epsilon_local=1.0))


@pytest.mark.parametrize(
    ("randomizer", "made"),
    [
        (KaryRandomizedResponse(k=3, max_epsilon_local=1.0, denominator=SMALL), 6),
        (KaryRandomizedResponse(k=3, max_epsilon_local=1.0), 5),
        (OptimizedUnaryEncoding(k=64, max_epsilon_local=1.0), 2),
    ],
)
def test_only_the_checks_that_were_made_are_named(randomizer, made, alarm):
    every = ["reports", "repeatable", "channel", "unbiased", "sampled law", "every draw"]
    assert check_randomizer(randomizer, false_alarm=alarm) == every[:made]


class Identity(UniformShuffler):
    def order(self, n, *, rng=None):
        del rng
        return np.arange(n)


class ForgetsTheLast(UniformShuffler):
    def order(self, n, *, rng=None):
        return np.minimum(super().order(n, rng=rng), max(n - 2, 0))


class DropsOne(UniformShuffler):
    def order(self, n, *, rng=None):
        return super().order(max(n - 1, 0), rng=rng)


class IgnoresTheStream(UniformShuffler):
    def order(self, n, *, rng=None):
        del rng
        return super().order(n)


class ShufflesTwice(UniformShuffler):
    def shuffle(self, reports, *, rng=None):
        return super().shuffle(super().shuffle(reports, rng=rng), rng=rng)


def test_an_honest_shuffler_passes():
    assert check_shuffler(UniformShuffler()) is None


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (Identity, "drawn afresh"),
        (ForgetsTheLast, "permutation"),
        (DropsOne, "permutation"),
        # Two orders of two agree by chance half of the time; then `shuffle` gives it away.
        (IgnoresTheStream, "depends on `rng` only|applies `order`"),
        (ShufflesTwice, "applies `order`"),
    ],
)
def test_a_broken_shuffler_is_found_out(broken, promise):
    with pytest.raises(ContractError, match=promise):
        check_shuffler(broken())


def test_a_contract_error_is_an_assertion_that_names_the_promise():
    with pytest.raises(AssertionError, match="Broken promise") as failure:
        check_shuffler(Identity())
    assert failure.value.promise == "without `rng`, each order is drawn afresh"


LAWS = [(0.5, 0.5), (0.2, 0.3, 0.5), (0.01, 0.01, 0.98), (0.0, 0.4, 0.6)]


@pytest.mark.parametrize("threshold", [0.5, 0.1, 0.01, 1e-4])
@pytest.mark.parametrize("law", LAWS)
def test_a_p_value_alarms_falsely_no_more_often_than_it_says(law, threshold):
    n, chance = 14, 0.0
    for counts in product(range(n + 1), repeat=len(law)):
        if sum(counts) == n and law_p_value(counts, law) <= threshold:
            orders = math.factorial(n) / math.prod(map(math.factorial, counts))
            chance += orders * math.prod(p**c for p, c in zip(law, counts, strict=True))
    assert chance <= threshold


@pytest.mark.parametrize(
    ("counts", "law", "p_value"),
    [
        ([10, 0], [0.5, 0.5], 4 * 0.5**10),
        ([0, 10, 10], [0.5, 0.25, 0.25], 6 * 0.5**20),
        ([0, 10], [0.0, 1.0], 1.0),
        ([1, 9], [0.0, 1.0], 0.0),
        ([0, 0], [0.5, 0.5], 1.0),
    ],
)
def test_p_values_by_hand(counts, law, p_value):
    assert law_p_value(counts, law) == pytest.approx(p_value)
