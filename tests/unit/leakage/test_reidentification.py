"""Re-identification against independently computed values, and the ways in which it is asked."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.likelihood_ratio import LikelihoodRatio
from croupier.leakage.reidentification import (
    advantage_bounds,
    decomposition_law,
    epsilon_local_for,
    expected_reidentified,
    people_for,
    reidentification,
    reidentified_by_luck,
)
from croupier.model import Channel
from croupier.randomizers import randomizer
from croupier.research.continuous_ratio import (
    cell_probabilities,
    laplace_probability,
    tail_probability,
)


def value(case):
    return float(Fraction(case["value"]))


def close(case):
    return pytest.approx(value(case), rel=max(case["tolerance"], 1e-14), abs=0)


def response(k, odds):
    return Channel.from_weights((np.eye(k, dtype=int) * (odds - 1) + 1).tolist(), odds + k - 1)


def matrix(channel):
    return randomizer("matrix", matrix=channel.weights.tolist())


def zipf(outputs):
    law = np.arange(1, outputs + 1) ** -0.7
    return LikelihoodRatio.of(law / law.sum(), np.full(outputs, 1 / outputs))


def zipf_limit_tail(alpha):
    return lambda t: ((1 - alpha) / t) ** (1 / alpha) if t > 1 - alpha else 1.0


def test_given_laws(golden_pairs):
    case = golden_pairs
    laws = [[Fraction(entry) for entry in case[name]] for name in ("target", "decoy")]
    law = LikelihoodRatio.of(*laws)
    people = {"n": case["n"], "guesses": case["guesses"]}
    blind = case["guesses"] / case["n"]
    assert law.probability(**people) == close(case)
    assert law.additive_advantage(**people) == pytest.approx(value(case) - blind, rel=1e-13)
    assert law.multiplicative_advantage(**people) == pytest.approx(value(case) / blind, rel=1e-13)


def test_ends_of_the_advantage(golden_advantage_ends):
    case = golden_advantage_ends
    lower, upper = advantage_bounds(1 / 3, n=case["n"])
    assert {"lower": lower, "upper": upper}[case["end"]] == close(case)


def test_linear_density(golden_linear_density):
    case = golden_linear_density
    found = tail_probability(
        lambda t: 1.5 - t, limit=1.5, n=case["n"], guesses=case["guesses"], breaks=[0.5]
    )
    assert found == pytest.approx(value(case), rel=1e-13)


def test_zipf_in_the_limit(golden_zipf_limit):
    case, alpha = golden_zipf_limit, golden_zipf_limit["alpha"]
    found = tail_probability(
        zipf_limit_tail(alpha),
        limit=math.inf,
        n=case["n"],
        guesses=case["guesses"],
        breaks=[1 - alpha],
    )
    assert found == pytest.approx(value(case), rel=1e-12)


def test_zipf(golden_zipf):
    case = golden_zipf
    law = zipf(case["outputs"])
    assert law.probability(n=case["n"], guesses=case["guesses"]) == close(case)


def test_how_many_decoys_hide_a_zipf_password(golden_zipf_first):
    case = golden_zipf_first
    n = case["value"]
    if case["outputs"] is None:
        found = [0.3 * special.beta(0.3, people) for people in (n - 1, n)]
    else:
        law = zipf(case["outputs"])
        found = [law.probability(n=people) for people in (n - 1, n)]
        assert law.probability(n=149) < 0.2, "149 decoys are not needed, as printed"
    assert found[0] >= 0.2 > found[1]


def test_k_rr_with_rational_odds(golden_k_rr_rational):
    case = golden_k_rr_rational
    channel = response(case["k"], int(case["odds"]))
    bounds = reidentification(matrix(channel), n=case["n"])
    end = bounds.upper if case["bound"] == "blanket" else bounds.lower
    assert end.value == pytest.approx(value(case), rel=1e-12)


def test_clones_with_rational_odds(golden_clones_rational):
    case = golden_clones_rational
    channel = response(2, int(case["odds"]))
    law = decomposition_law(
        channel, 0, gamma=1 / int(case["odds"]), common=channel.probabilities[0]
    )
    assert law.probability(n=case["n"], guesses=case["guesses"]) == close(case)


def test_laplace(golden_laplace):
    case = golden_laplace
    found = laplace_probability(epsilon_local=case["epsilon_local"], x=case["x"], n=case["n"])
    assert found == close(case)


def test_k_rr(golden_k_rr):
    case, k = golden_k_rr, golden_k_rr["k"]
    low = 1 / (math.exp(case["epsilon_local"]) + k - 1)
    law = LikelihoodRatio.of([1 - (k - 1) * low, (k - 1) * low], [low, (k - 1) * low])
    assert law.probability(n=case["n"]) == pytest.approx(value(case), rel=1e-12)
    if case["epsilon_local"] <= 20:
        made = randomizer("k-rr", k=k, max_epsilon_local=case["epsilon_local"])
        assert reidentification(made, n=case["n"]).upper.value == close(case)


def test_clones(golden_clones):
    case = golden_clones
    bounds = reidentification(epsilon_local=case["epsilon_local"], n=case["n"])
    assert bounds.upper.value == close(case)
    assert bounds.upper.value <= 1 < math.exp(5) / 100, "e^epsilon/n is no probability"


def test_people(golden_people):
    case = golden_people
    if case["k"] is None:
        found = people_for(case["target"], epsilon_local=case["epsilon_local"])
    else:
        made = randomizer("k-rr", k=case["k"], max_epsilon_local=case["epsilon_local"])
        found = people_for(case["target"], made)
    assert found == case["value"]


def test_epsilon_local(golden_epsilon_local):
    case = golden_epsilon_local
    found = epsilon_local_for(case["target"], n=case["n"])
    assert found == pytest.approx(value(case), abs=case["tolerance"])
    assert reidentification(epsilon_local=found, n=case["n"]).upper.value <= case["target"]


def test_epsilon_local_of_a_mechanism():
    found = epsilon_local_for(0.5, "k-rr", n=20, k=10)
    for local, safe in ((found, True), (found + 1e-9, False)):
        made = randomizer("k-rr", k=10, max_epsilon_local=local)
        assert (reidentification(made, n=20).upper.value <= 0.5) is safe
    assert found > epsilon_local_for(0.5, n=20)


def test_input_drawn_from_a_prior(golden_drawn_input):
    case = golden_drawn_input
    chance = float(Fraction(case["prior"]))
    bounds = reidentification(matrix(response(2, 3)), n=case["n"], prior=[chance, 1 - chance])
    assert bounds.upper.value == pytest.approx(value(case), rel=1e-12)
    law = LikelihoodRatio.of([0.25 + chance / 2, 0.75 - chance / 2], [0.25, 0.25])
    assert law.limit == pytest.approx(float(Fraction(case["limit"])), rel=1e-15)


def test_ties_are_no_wins():
    law = LikelihoodRatio.of([0.2, 0.8], [0.2, 0.8])
    assert law.probability(n=3) == pytest.approx(1 / 3, rel=1e-15)
    assert law.probability(n=3) < 1, "what Equation 7 as printed gives"
    assert law.additive_advantage(n=3) == 0


def test_limit_and_remainder():
    law = LikelihoodRatio.of([1 / 2, 1 / 3, 1 / 6], [1 / 4, 1 / 4, 1 / 2])
    for n in (1, 2, 10, 1000, 10**9):
        found = law.limit / n - law.remainder(n=n)
        assert found == pytest.approx(law.probability(n=n), rel=1e-14)
        assert law.remainder(n=n) >= 0
    assert 1000 * law.remainder(n=1000) < 10 * law.remainder(n=10)


def test_certain_part():
    law = LikelihoodRatio.of([1 / 3, 2 / 3, 0], [0, 1 / 2, 1 / 2])
    assert law.limit == math.inf
    assert law.probability(n=10**9) == pytest.approx(1 / 3, rel=1e-8)


def test_total_variation_bounds_hold_and_the_printed_one_fails_for_one_person():
    rng = np.random.default_rng(1)
    for _ in range(300):
        target, decoy = rng.dirichlet([0.3] * 4), rng.dirichlet([0.3] * 4)
        law = LikelihoodRatio.of(target, decoy)
        for n in (1, 2, 3, 17):
            low, high = advantage_bounds(min(1.0, law.total_variation), n=n)
            assert low - 1e-14 <= law.additive_advantage(n=n) <= high + 1e-14
            assert n == 1 or low >= law.total_variation / n * (1 - 1e-12)
    assert LikelihoodRatio.of([1, 0], [0, 1]).additive_advantage(n=1) == 0


@pytest.mark.parametrize("distance", [0.0, 1e-300, 0.5, 1 - 1e-12, 1.0])
def test_total_variation_at_its_ends(distance):
    low, high = advantage_bounds(distance, n=7)
    exact = Fraction(distance)
    assert low == pytest.approx(float(sum(exact**i for i in range(1, 7)) / 7), rel=1e-14)
    assert high == pytest.approx(float(exact - exact**7 / 7), rel=1e-14)


def test_discrete_distributions():
    law = LikelihoodRatio.of_discrete(stats.binom(10, 0.6), stats.binom(10, 0.5))
    outputs = np.arange(11)
    same = LikelihoodRatio.of(stats.binom(10, 0.6).pmf(outputs), stats.binom(10, 0.5).pmf(outputs))
    assert law.probability(n=50) == pytest.approx(same.probability(n=50), rel=1e-12)
    poisson = LikelihoodRatio.of_discrete(stats.poisson(3), stats.poisson(2))
    outputs = np.arange(80)
    wide = LikelihoodRatio.of(stats.poisson(3).pmf(outputs), stats.poisson(2).pmf(outputs))
    assert poisson.probability(n=20) == pytest.approx(wide.probability(n=20), rel=1e-12)


def test_discrete_distributions_that_reach_too_far():
    with pytest.raises(TooLargeError, match="larger tail"):
        LikelihoodRatio.of_discrete(stats.zipf(1.5), stats.zipf(2))
    with pytest.raises(ParameterError, match="tail"):
        LikelihoodRatio.of_discrete(stats.poisson(1), stats.poisson(2), tail=math.nan)


def test_small_advantages_keep_their_digits():
    shift = Fraction(1, 10**13)
    target = [Fraction(3, 10) + shift, Fraction(7, 10) - shift]
    floats = [float(entry) for entry in target]
    exact = Fraction(floats[0]) - Fraction(0.3)
    law = LikelihoodRatio.of(floats, [0.3, 0.7])
    assert law.total_variation == pytest.approx(float(exact), rel=1e-12)
    assert law.additive_advantage(n=2) == pytest.approx(float(exact) / 2, rel=1e-3)


def test_samples_estimate_and_err_upward():
    rng = np.random.default_rng(2)
    target, decoy = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    truth = LikelihoodRatio.of(target, decoy).probability(n=10)
    found = [
        LikelihoodRatio.of_samples(
            rng.choice(3, size=500, p=target).tolist(), rng.choice(3, size=500, p=decoy).tolist()
        ).probability(n=10)
        for _ in range(200)
    ]
    assert np.mean(found) == pytest.approx(truth, rel=0.02)


@pytest.mark.parametrize(
    ("target", "decoy"),
    [
        (stats.beta(2, 1), stats.uniform()),
        (stats.norm(1), stats.norm(0)),
        (stats.laplace(0), stats.laplace(1)),
        (stats.expon(), stats.expon(scale=2)),
        (stats.uniform(0, 1), stats.uniform(0.5, 1)),
    ],
)
@pytest.mark.parametrize("guesses", [1, 3])
def test_continuous_laws_are_enclosed(target, decoy, guesses):
    coarse = cell_probabilities(target, decoy, n=10, guesses=guesses, cells=1 << 8)
    fine = cell_probabilities(target, decoy, n=10, guesses=guesses, cells=1 << 14)
    assert coarse[0] <= fine[0] * (1 + 1e-13)
    assert fine[0] <= fine[1] <= coarse[1] * (1 + 1e-13)
    assert fine[1] - fine[0] < 1e-3
    rng = np.random.default_rng(3)
    reports = decoy.rvs((100_000, 10), random_state=rng)
    reports[:, 0] = target.rvs(100_000, random_state=rng)
    # Rounded: equal ratios must not be told apart by how their reports were computed.
    ratio = np.round(target.logpdf(reports) - decoy.logpdf(reports), 9)
    rank = (ratio[:, 1:] > ratio[:, :1]).sum(axis=1)
    ties = (ratio[:, 1:] == ratio[:, :1]).sum(axis=1)
    wins = np.clip((guesses - rank) / (ties + 1), 0, 1).mean()
    assert fine[0] - 0.01 <= wins <= fine[1] + 0.01


def test_linear_density_by_cells():
    low, high = cell_probabilities(stats.beta(2, 1), stats.uniform(), n=20)
    truth = 2 / 21  # density 2x against uniform: (1/n)(M - integral of (t/2)^n)
    assert low <= truth <= high


@pytest.mark.parametrize(("shift", "n"), [(5, 10**9), (7, 10**12), (8.2, 10**15), (-7, 10**12)])
def test_far_tails_are_enclosed(shift, n):
    # Normal laws: the largest (or least) report wins; one integral over the target's law.
    with mpmath.workdps(40):

        def wins(y):
            rival = mpmath.ncdf(-y) if shift > 0 else mpmath.ncdf(y)
            return mpmath.npdf(y - shift) * mpmath.exp((n - 1) * mpmath.log1p(-rival))

        truth = mpmath.quad(wins, mpmath.linspace(shift - 12, shift + 12, 97))
    low, high = cell_probabilities(stats.norm(shift), stats.norm(0), n=n)
    assert low <= truth * (1 + 1e-11)
    assert high >= truth * (1 - 1e-11)


def test_mass_far_out_counts():
    found = tail_probability(
        lambda t: 1.0 if t < 0.9 else 1e-20, limit=1e19, n=10, breaks=[0.5, 0.9]
    )
    assert found == pytest.approx(0.19, rel=1e-9)


def test_rough_tails_are_refused():
    with pytest.raises(ParameterError, match="smooth between the breaks"):
        tail_probability(lambda t: 0.9 if math.sin(40 / t) > 0 else 0.1, limit=1.5, n=20)


def test_expected_number_of_people_found():
    for n in (10, 1000, 10**6):
        assert expected_reidentified(epsilon_local=2.0, n=n) <= math.exp(2) * (1 + 1e-11)
    made = randomizer("k-rr", k=10, max_epsilon_local=2.0)
    assert expected_reidentified(made, n=50) < expected_reidentified(epsilon_local=2.0, n=50)


def test_own_decomposition_never_beats_the_blanket():
    channel = response(4, 5)
    made = reidentification(matrix(channel), n=7).upper.value
    rng = np.random.default_rng(4)
    for _ in range(200):
        common = rng.dirichlet([1.0] * 4)
        gamma = float((channel.probabilities.min(axis=0) / common).min())
        law = decomposition_law(channel, 0, gamma=gamma, common=common)
        assert law.probability(n=7) >= made * (1 - 1e-12)
    with pytest.raises(ParameterError, match="every row"):
        decomposition_law(channel, 0, gamma=0.6, common=[0.25] * 4)


MECHANISMS = [
    ("k-rr", {"k": 5}),
    ("symmetric-unary", {"k": 4}),
    ("optimized-unary", {"k": 4}),
    ("hadamard", {"k": 5}),
    ("subset-selection", {"k": 6, "subset_size": 2}),
    ("laplace", {"grid": {"low": 0.0, "high": 1.0, "step": 0.25}}),
    ("one-bit-mean", {"grid": {"low": 0.0, "high": 1.0, "step": 0.25}}),
    ("sampled-sign", {"dimension": 4}),
]


@pytest.mark.parametrize(("name", "parameters"), MECHANISMS)
def test_every_mechanism(name, parameters):
    made = randomizer(name, max_epsilon_local=1.5, **parameters)
    before = 1.1
    for n in (1, 2, 10, 1000, 10**9):
        bounds = reidentification(made, n=n)
        clones = reidentification(epsilon_local=made.epsilon_local, n=n).upper.value
        assert 1 / n <= bounds.lower.value <= bounds.upper.value <= clones * (1 + 1e-12)
        assert bounds.upper.value < before
        before = bounds.upper.value
    rows = made.channel().probabilities
    blanket = rows.min(axis=0)
    every = max(LikelihoodRatio.of(row, blanket).probability(n=10) for row in rows)
    assert every <= reidentification(made, n=10).upper.value


@pytest.mark.parametrize("guesses", [1, 2, 5, 10, 12])
def test_guesses_thinning_and_corruption(guesses):
    made = randomizer("k-rr", k=3, max_epsilon_local=1.5)
    full = reidentification(made, n=10, guesses=guesses).upper.value
    weights = [math.comb(9, m) * 0.4**m * 0.6 ** (9 - m) for m in range(10)]
    mixed = sum(
        weight * reidentification(made, n=m + 1, guesses=guesses).upper.value
        for m, weight in enumerate(weights)
    )
    thinned = reidentification(made, n=10, guesses=guesses, report_probability=0.4)
    assert thinned.upper.value == pytest.approx(mixed, rel=1e-11)
    assert thinned.lower.value >= reidentification(made, n=10, guesses=guesses).lower.value
    corrupt = reidentification(made, n=14, corrupt=4, guesses=guesses)
    assert corrupt.upper.value == full
    enough = people_for(0.9, made, guesses=guesses, report_probability=0.4)
    risk = [
        reidentification(made, n=n, guesses=guesses, report_probability=0.4).upper.value
        for n in (enough, max(1, enough - 1))
    ]
    assert risk[0] <= 0.9 < risk[1]
    assert full == 1 or guesses < 10


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"n": 0}, "`n`"),
        ({"n": 10, "guesses": 0}, "`guesses`"),
        ({"n": 10, "corrupt": 10}, "`corrupt`"),
        ({"n": 10, "epsilon_local": 1.0}, "not both"),
        ({"n": 10, "prior": [1.0]}, "`prior`"),
        ({"n": 10, "report_probability": 0.0}, "`report_probability`"),
        ({"n": 10.5}, "`n`"),
        ({"n": "10"}, "`n`"),
        ({"n": 10, "corrupt": 0.5}, "`corrupt`"),
        ({"n": 10, "prior": [0.5, 0.5, 0.5]}, "`prior`"),
    ],
)
def test_what_is_refused(arguments, problem):
    with pytest.raises(ParameterError, match=problem):
        reidentification(randomizer("k-rr", k=3, max_epsilon_local=1.0), **arguments)


def test_arguments_that_would_not_count_are_refused():
    with pytest.raises(ParameterError, match="prior"):
        reidentification(epsilon_local=1.0, n=10, prior=[0.5, 0.5])
    with pytest.raises(ParameterError, match="mechanism"):
        epsilon_local_for(0.01, n=1000, k=3)
    grid = {"low": 0.0, "high": 1.0, "step": 0.25}
    assert 0 < epsilon_local_for(0.01, "gaussian", n=1000, grid=grid) < 5


def test_unreachable_targets():
    with pytest.raises(ParameterError, match="above a guess by luck alone, "):
        epsilon_local_for(0.01, n=50)
    with pytest.raises(ParameterError, match="reachable"):
        people_for(1e-16, epsilon_local=1.0)
    with pytest.raises(ParameterError, match="sum to 1"):
        LikelihoodRatio.of([0.5, 0.4], [0.5, 0.5])


@pytest.mark.parametrize("probability", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("guesses", [1, 2, 7])
def test_luck_is_a_guess_among_those_who_report(probability, guesses):
    n = 6
    others = [
        math.comb(n - 1, b) * probability**b * (1 - probability) ** (n - 1 - b) for b in range(n)
    ]
    expected = sum(chance * min(1, guesses / (1 + b)) for b, chance in enumerate(others))
    found = reidentified_by_luck(n=n, guesses=guesses, report_probability=probability)
    assert found == pytest.approx(expected, rel=1e-9)
