"""Numbers in the prose of a page are those that the library computes."""

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from croupier import randomizer, solve
from croupier.accounting.clones import stronger_clone_curve
from croupier.accounting.composition import least_epsilon, subsampled
from croupier.leakage.likelihood_ratio import LikelihoodRatio
from croupier.numerics.rounding import ceiling_digits, floor_digits
from croupier.plan.plan import Plan
from croupier.randomizers.delta_summation import DeltaSummation
from croupier.research.continuous_ratio import tail_probability
from croupier.research.shift_defence import ShiftDefence
from croupier.sidechannels.cardinality import ConstantCardinality, observed_counts

DOCS = Path(__file__).parents[1] / "docs"
PRINTED = {"n": 10_000, "epsilon": 1.0, "delta": 1e-6, "gamma": 0.1}
"""The published parameters of Delta-summation."""

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def stated(page, pattern):
    """What one sentence of a page says, found once; line breaks are spaces."""
    text = " ".join((DOCS / page).read_text().split())
    found = re.findall(pattern, text)
    assert len(found) == 1, (page, pattern, found)
    return found[0]


def test_the_shift_fails_by_what_is_computed_for_the_published_case():
    published = stated("side-channels.md", r"two sums with a delta of at least ([\d.]+) where")
    assert published == floor_digits(ShiftDefence(**PRINTED).violation)
    other = ShiftDefence(**PRINTED, range_after_shift=1, zero_sum_sets=1)
    pairs = stated("side-channels.md", r"range of 1 and one zero-sum set, [^.]*, it is ([\d.]+)\.")
    assert pairs == floor_digits(other.violation)


def test_what_the_number_of_messages_gives_away():
    protocol = DeltaSummation(**PRINTED)
    chance = float(observed_counts(protocol).probability(0, 0))
    assert stated("side-channels.md", r"with probability ([\d.]+) %") == f"{100 * chance:.2f}"
    defended = ConstantCardinality.for_delta(protocol, added_delta=1e-6)
    said = stated("side-channels.md", r"is printed: ([\d,]+) messages per person against (\w+) on")
    assert said[0] == f"{defended.messages_a_person:,}"
    assert said[1] == NUMBERS[round(float(protocol.mean_messages(0)))]


def test_the_printed_epsilon_of_one_subsampled_round():
    said = stated(
        "side-channels.md", r"printed epsilon of subsampling, ([\d.]+) .*? gives ([\d.]+)"
    )
    share, people = Fraction(1000, 60_000), 60_000
    curve = stronger_clone_curve(randomizer("k-rr", k=2, max_epsilon_local=2.0), n=1000)
    law = subsampled(curve.log_deltas, float(share))

    def epsilon(delta):
        return least_epsilon(law, delta, most=2.0)

    assert said == (f"{epsilon(float(share) / people):.4f}", f"{epsilon(1e-5):.4f}")


def test_the_epsilon_local_that_reaches_the_published_goal():
    needed = solve("k-rr", k=2, epsilon=0.2, n=10_000, delta=1e-6).value
    assert stated("side-channels.md", r"exceeds the goal; ([\d.]+) is") == f"{needed:.4f}"
    printed = stronger_clone_curve(randomizer("k-rr", k=2, max_epsilon_local=2.81), n=10_000)
    assert printed.epsilon(1e-6) > 0.2


def passwords(words):
    weights = np.arange(1, words + 1) ** -0.7
    return weights / weights.sum()


def first_below_one_in_five(chance):
    return next(n for n in range(2, 1000) if chance(n) < 0.2 - 1e-12)


def test_entries_of_a_list_of_honeywords():
    said = stated("reidentification.md", r"It takes (\d+), (\d+) and (\d+) entries")
    for entries, words in zip(said, (1_000, 10_000, 100_000), strict=True):
        law = LikelihoodRatio.of(passwords(words), np.full(words, 1 / words))
        assert int(entries) == first_below_one_in_five(lambda n, law=law: law.probability(n=n))

    def limit(n):
        return tail_probability(
            lambda ratio: min(1.0, (0.3 / ratio) ** (1 / 0.7)), limit=math.inf, n=n, breaks=[0.3]
        )

    assert int(stated("reidentification.md", r"The (\d+) that the paper prints")) == (
        first_below_one_in_five(limit)
    )


@pytest.mark.parametrize("words", [10, 1_000])
def test_decoys_of_the_passwords_own_law_make_every_entry_as_likely(words):
    law = LikelihoodRatio.of(passwords(words), passwords(words))
    needed = first_below_one_in_five(lambda n: law.probability(n=n))
    assert stated("reidentification.md", r"themselves would need (\w+)") == NUMBERS[needed]


TIMES = {"mechanism": "distribution", "grid": {"low": 0, "high": 1023, "step": 1}}


def test_the_errors_of_a_distribution():
    said = stated(
        "guides/distributions.md",
        r"1,024 numbers \| ([\d.]+) points for 10,000 people, ([\d.]+) for 100,000"
        r" \| ([\d.]+) points for 10,000 people, ([\d.]+) for 100,000 \|",
    )
    local = randomizer(**TIMES, max_epsilon_local=4.0)
    adds = [{"operator": one, "dummies": {"epsilon": 1.0, "delta": 1e-8}} for one in "AB"]
    found = [local.rms_error(people) for people in (10_000, 100_000)]
    for people in (10_000, 100_000):
        plan = Plan.from_document(
            {
                "schema": 2,
                "randomizer": TIMES,
                "population": {"enrolled": people},
                "protections": {"minimum_batch": people},
                "shufflers": adds,
            }
        )
        found.append(plan.rms_error)
    assert said == tuple(ceiling_digits(100 * error, 2) for error in found)
