import math

import numpy as np
import pytest
from scipy import stats

from croupier.auditing.blackbox import sampled_bayes_security
from croupier.auditing.blackbox.samples import stratified_lower
from croupier.errors import ParameterError
from croupier.model import Adversary, Direction, Guarantee, Metric, View
from croupier.numerics.intervals import clopper_pearson
from croupier.randomizers import randomizer


def drawn(rng, law, size):
    return rng.choice(len(law), size=size, p=law)


def security(laws):
    return 1 - max(np.maximum(0, np.subtract(a, b)).sum() for a in laws for b in laws)


def witness_security(found, laws):
    """The exact security against the chosen set; the least that the interval must reach."""
    first, second = (laws[x] for x in found.pair)
    return min(1, 1 - sum(first[y] - second[y] for y in found.witness))


LAWS = {
    "coin": ([0.6, 0.4], [0.5, 0.5]),
    "rare": ([0.99, 0.01], [1.0, 0.0]),
    "equal, many outputs": ([0.02] * 50, [0.02] * 50),
    "far apart": ([0.8, 0.2], [0.2, 0.8]),
    "skewed": ([0.9, 0.05, 0.03, 0.015, 0.005], [0.85, 0.01, 0.04, 0.05, 0.05]),
}


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("coin", (40, 40)),
        ("rare", (20, 300)),
        ("equal, many outputs", (40, 40)),
        ("skewed", (20, 300)),
    ],
)
def test_coverage_for_categories(name, sizes, oracle, repetitions):
    laws = LAWS[name]
    truth = security(laws)
    rng = np.random.default_rng(1)
    covered = sharp = 0
    for _ in range(repetitions):
        samples = {x: drawn(rng, laws[x], sizes[x]) for x in (0, 1)}
        found = sampled_bayes_security(samples)
        covered += truth <= found.evidence.upper + 1e-12
        sharp += witness_security(found, laws) <= found.evidence.upper + 1e-12
    assert oracle.holds(sharp, repetitions)
    assert covered >= sharp


def test_a_set_chosen_on_the_samples_it_is_tested_on_does_not_cover(oracle):
    first, second = LAWS["equal, many outputs"]
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(500):
        once = {0: drawn(rng, first, 40), 1: drawn(rng, second, 40)}
        twice = {x: np.concatenate([sample, sample]) for x, sample in once.items()}
        covered += sampled_bayes_security(twice).evidence.upper >= 1
    assert not oracle.holds(covered, 500)


def test_coverage_for_three_inputs(oracle, repetitions):
    laws = ([0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.1, 0.5, 0.4])
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(repetitions):
        found = sampled_bayes_security({x: drawn(rng, laws[x], 60) for x in range(3)})
        covered += witness_security(found, laws) <= found.evidence.upper
    assert oracle.holds(covered, repetitions)


def test_coverage_for_numbers(oracle, repetitions):
    shift = 1.0
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(repetitions):
        samples = {0: rng.normal(size=30), 1: shift + rng.normal(size=50)}
        found = sampled_bayes_security(samples)
        low, high = found.witness
        mass = {0: np.diff(stats.norm._cdf([low, high]))[0]}  # noqa: SLF001 - the quick one
        mass[1] = np.diff(stats.norm._cdf([low - shift, high - shift]))[0]  # noqa: SLF001 - idem
        first, second = found.pair
        covered += min(1, 1 - mass[first] + mass[second]) <= found.evidence.upper + 1e-12
    assert oracle.holds(covered, repetitions)


def test_coverage_for_points(oracle):
    truth = 1 - (2 * stats.norm.cdf(0.5) - 1)
    rng = np.random.default_rng(5)
    shift = np.array([1.0, 0.0])
    covered = 0
    for _ in range(1000):
        samples = {0: rng.normal(size=(40, 2)), 1: rng.normal(size=(40, 2)) + shift}
        covered += truth <= sampled_bayes_security(samples).evidence.upper
    assert oracle.holds(covered, 1000)


@pytest.mark.parametrize("name", ["rare", "equal, many outputs", "far apart"])
def test_coverage_on_both_sides_for_a_known_support(name, oracle, repetitions):
    laws = LAWS[name]
    truth = security(laws)
    rng = np.random.default_rng(6)
    above = below = 0
    for _ in range(repetitions):
        samples = {x: drawn(rng, laws[x], (60, 90)[x]) for x in (0, 1)}
        found = sampled_bayes_security(samples, support_size=len(laws[0])).evidence
        above += truth <= found.upper + 1e-12
        below += truth >= found.lower - 1e-12
    assert oracle.holds(above, repetitions, 0.975)
    assert oracle.holds(below, repetitions, 0.975)


def test_a_support_that_is_too_small_by_assumption_does_not_cover(oracle):
    """Why the size matters: frequencies of many outputs look far apart."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(500):
        # Outputs merged into two after looking at them, which is what a false support allows.
        first, second = (rng.integers(0, 1000, size=100) for _ in range(2))
        seen = np.bincount(first, minlength=1000) > np.bincount(second, minlength=1000)
        found = sampled_bayes_security({0: seen[first], 1: seen[second]}, support_size=2)
        covered += found.evidence.upper >= 1
    assert not oracle.holds(covered, 500)


def test_intervals_shrink_to_the_truth():
    laws = LAWS["skewed"]
    truth = security(laws)
    rng = np.random.default_rng(8)
    samples = {x: drawn(rng, laws[x], 400_000) for x in (0, 1)}
    assert sampled_bayes_security(samples).evidence.upper == pytest.approx(truth, abs=0.01)
    both = sampled_bayes_security(samples, support_size=5).evidence
    assert truth - 0.01 < both.lower <= truth <= both.upper < truth + 0.01


def test_the_farthest_pair_and_its_set_are_found():
    laws = {"a": [0.5, 0.5, 0.0], "b": [0.45, 0.55, 0.0], "c": [0.1, 0.5, 0.4]}
    rng = np.random.default_rng(9)
    samples = {
        x: np.array(["red", "green", "blue"], dtype=object)[drawn(rng, law, 2000)]
        for x, law in laws.items()
    }
    found = sampled_bayes_security(samples)
    assert set(found.pair) == {"a", "c"}
    assert "red" in found.witness or "blue" in found.witness
    assert found.evidence.upper < 0.7
    assert set(sampled_bayes_security(samples, support_size=3).pair) == {"a", "c"}


@pytest.mark.parametrize("swap", [False, True])
def test_the_interval_lies_where_one_law_is_ahead(swap):
    rng = np.random.default_rng(10)
    narrow, wide = rng.normal(size=4000), 3 * rng.normal(size=4000)
    samples = {"wide": wide, "narrow": narrow} if swap else {"narrow": narrow, "wide": wide}
    found = sampled_bayes_security(samples)
    edge = math.sqrt(2 * math.log(3) / (1 - 1 / 9))
    assert found.pair == ("narrow", "wide")
    assert found.witness == pytest.approx((-edge, edge), abs=0.4)


def test_the_bound_is_the_one_of_the_formula():
    samples = {"a": [0, 0, 1, 1] + [0] * 30 + [1] * 10, "b": [1, 1, 1, 1] + [0] * 5 + [1] * 15}
    found = sampled_bayes_security(samples, split=0.1)
    # split 0.1 learns from the first four and two.
    lower = clopper_pearson(30, 40, confidence=0.95).lower
    upper = clopper_pearson(5, 22, confidence=0.95).upper
    assert found.witness == {0}
    assert found.evidence.upper == pytest.approx(1 - lower + upper, abs=1e-12)
    assert found.evidence.measured == pytest.approx(1 - 30 / 40 + 5 / 22)
    assert found.evidence.games == 62


def test_common_outputs_are_bounded_together():
    part = {"a": [0] * 70 + [1] * 30, "b": [0] * 30 + [1] * 70}
    found = sampled_bayes_security({x: sample * 2 for x, sample in part.items()}).evidence
    lower = stratified_lower(140, 200, 0.95)
    apart = 1 - clopper_pearson(70, 100).lower + clopper_pearson(30, 100).upper
    assert found.upper == pytest.approx(2 - 2 * lower, abs=1e-12)
    assert found.upper < apart - 0.05
    assert found.measured == pytest.approx(0.6)


def test_rare_outputs_are_bounded_apart():
    part = {"a": [0] * 95 + [1] * 5, "b": [0] * 1000}
    found = sampled_bayes_security({x: sample * 2 for x, sample in part.items()}).evidence
    apart = 1 - clopper_pearson(5, 100).lower + clopper_pearson(0, 1000).upper
    assert found.upper == pytest.approx(apart, abs=1e-12)
    assert found.upper < 1


def test_refutes_a_false_promise_of_k_rr_and_not_a_true_one():
    response = randomizer("k-rr", k=3, max_epsilon_local=2.0)
    channel = response.channel().probabilities
    truth = float(1 - (channel[0, 0] - channel[1, 0]))
    rng = np.random.default_rng(12)
    samples = {x: drawn(rng, channel[x], 20_000) for x in range(3)}
    evidence = sampled_bayes_security(samples, confidence=1 - 1e-9).evidence
    for value, refuted in ((truth + 0.1, True), (truth, False)):
        promise = Guarantee(
            metric=Metric.BAYES_SECURITY,
            value=value,
            direction=Direction.LOWER,
            adversary=Adversary(sees={View.REPORTS}),
            theorem="a vendor's word",
        )
        assert evidence.refutes(promise) is refuted


def test_support_of_one_output_is_perfectly_secure():
    found = sampled_bayes_security({"a": [0, 0], "b": [0]}, support_size=1).evidence
    assert found.measured == found.upper == 1


@pytest.mark.parametrize("direction", [Direction.LOWER, Direction.EXACT])
def test_no_lower_bound_without_an_assumption(direction):
    with pytest.raises(ParameterError, match=r"support_size.*from below.*how many outputs"):
        sampled_bayes_security({"a": [1, 2], "b": [1, 2]}, direction=direction)
    both = sampled_bayes_security(
        {"a": [1, 2] * 500, "b": [1, 2] * 500}, direction=direction, support_size=2
    )
    assert both.evidence.lower > 0.8


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"support_size": 2}, "support_size"),
        ({"support_size": 2.5}, "support_size"),
        ({"confidence": 0.5}, "confidence"),
        ({"split": 1.0}, "split"),
    ],
)
def test_refusals(arguments, name):
    with pytest.raises(ParameterError) as refusal:
        sampled_bayes_security({"a": ["x", "y"], "b": ["z", "x"]}, **arguments)
    assert refusal.value.parameter == name
