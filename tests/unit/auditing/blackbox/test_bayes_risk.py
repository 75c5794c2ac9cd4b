import numpy as np
import pytest
from scipy import stats

from croupier.auditing.blackbox import sampled_bayes_risk
from croupier.errors import ParameterError
from croupier.model import Direction, Metric

LAWS = {
    "coins": ([0.8, 0.2], [0.3, 0.7]),
    "nearly silent": ([0.97, 0.03], [1.0, 0.0]),
    "equal, many outputs": ([0.02] * 50, [0.02] * 50),
    "three inputs": ([0.7, 0.2, 0.1, 0.0], [0.1, 0.7, 0.2, 0.0], [0.2, 0.1, 0.7, 0.0]),
}


def drawn(rng, laws, size):
    return {x: rng.choice(len(law), size=size, p=law) for x, law in enumerate(laws)}


def success(laws):
    return np.max(laws, axis=0).sum() / len(laws)


@pytest.mark.parametrize("name", ["nearly silent", "three inputs"])
def test_coverage_for_categories(name, oracle, repetitions):
    truth = success(LAWS[name])
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(repetitions):
        found = sampled_bayes_risk(drawn(rng, LAWS[name], 40)).evidence
        covered += found.lower <= truth + 1e-12
    assert oracle.holds(covered, repetitions)


def test_coverage_is_not_vacuous(oracle, repetitions):
    """With a rule that is certainly the best one, little of the error remains unused."""
    laws = ([0.75, 0.25], [0.25, 0.75])
    rng = np.random.default_rng(2)
    missed = sum(
        sampled_bayes_risk(drawn(rng, laws, 200)).evidence.lower > success(laws)
        for _ in range(repetitions)
    )
    assert oracle.holds(repetitions - missed, repetitions)
    assert missed > 0.01 * repetitions


def test_learning_from_what_is_held_out_does_not_cover(oracle):
    laws = LAWS["equal, many outputs"]
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(500):
        once = drawn(rng, laws, 40)
        twice = {x: np.concatenate([sample, sample]) for x, sample in once.items()}
        covered += sampled_bayes_risk(twice).evidence.lower <= success(laws)
    assert not oracle.holds(covered, 500)


def test_picking_the_best_row_of_the_log_does_not_cover():
    """What the docstring warns of: the bounds of the rows do not hold together."""
    laws = ([0.02] * 50, [0.02] * 50)
    rng = np.random.default_rng(4)
    last = least = 0
    for _ in range(1000):
        found = sampled_bayes_risk(drawn(rng, laws, 600), split=0.8)
        last += found.bayes_risk.upper >= 0.5
        least += min(row.risk_upper for row in found.log) >= 0.5
    assert last >= 920
    assert least < last - 50


@pytest.mark.parametrize("columns", [1, 2])
def test_coverage_for_numbers(columns, oracle):
    truth = stats.norm.cdf(0.75)
    rng = np.random.default_rng(5)
    shift = np.array([1.5, 0.0])[:columns]
    covered = 0
    for _ in range(1000):
        samples = {"a": rng.normal(size=(60, columns)), "b": rng.normal(size=(60, columns)) + shift}
        covered += sampled_bayes_risk(samples).evidence.lower <= truth
    assert oracle.holds(covered, 1000)


@pytest.mark.parametrize("name", ["equal, many outputs", "three inputs"])
def test_coverage_on_both_sides_for_a_known_support(name, oracle, repetitions):
    laws = LAWS[name]
    truth = success(laws)
    rng = np.random.default_rng(6)
    above = below = 0
    for _ in range(repetitions):
        found = sampled_bayes_risk(drawn(rng, laws, 60), support_size=len(laws[0])).evidence
        above += truth <= found.upper + 1e-12
        below += truth >= found.lower - 1e-12
    assert oracle.holds(above, repetitions, 0.975)
    assert oracle.holds(below, repetitions, 0.975)


def test_neighbours_and_frequencies_approach_the_bayes_risk():
    rng = np.random.default_rng(7)
    samples = {"a": rng.normal(size=20_000), "b": rng.normal(size=20_000) + 2}
    found = sampled_bayes_risk(samples)
    truth = stats.norm.cdf(-1.0)
    assert truth <= found.bayes_risk.upper < truth + 0.03
    assert found.bayes_risk.lower == 0
    laws = LAWS["three inputs"]
    found = sampled_bayes_risk(drawn(rng, laws, 50_000), confidence=1 - 1e-9)
    assert 0.3 <= found.bayes_risk.upper < 0.32
    found = sampled_bayes_risk(drawn(rng, laws, 50_000), support_size=4)
    assert 0.29 < found.bayes_risk.lower <= 0.3 <= found.bayes_risk.upper < 0.31


def test_the_log_grows_and_ends_with_the_measurement():
    rng = np.random.default_rng(8)
    laws = ([0.04] * 25, [0.001] * 20 + [0.196] * 5)
    found = sampled_bayes_risk(drawn(rng, laws, 2000))
    assert [row.learned_from for row in found.log] == [32, 64, 128, 256, 512, 1024, 2000]
    last = found.log[-1]
    assert last.risk == pytest.approx(1 - found.evidence.measured)
    assert last.risk_upper == pytest.approx(found.bayes_risk.upper, abs=1e-14)
    assert last.risk < found.log[0].risk
    assert found.evidence.metric is Metric.GUESS_UNINFORMED


def test_what_one_input_has_more_is_learned_from():
    rng = np.random.default_rng(9)
    samples = {"a": rng.integers(0, 5, size=100), "b": rng.integers(0, 5, size=1000)}
    found = sampled_bayes_risk(samples)
    assert found.evidence.games == 100
    assert found.log[-1].learned_from == 1000


@pytest.mark.parametrize("direction", [Direction.LOWER, Direction.EXACT])
def test_no_lower_bound_without_an_assumption(direction):
    samples = {"a": [0.5, 1.5], "b": [2.5, 3.5]}
    with pytest.raises(ParameterError, match=r"support_size.*from below.*how many outputs"):
        sampled_bayes_risk(samples, direction=direction)
    with pytest.raises(ParameterError, match="4 outputs seen"):
        sampled_bayes_risk(samples, direction=direction, support_size=3)
