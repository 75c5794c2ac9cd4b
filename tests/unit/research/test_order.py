"""What alpha means, against adversaries played out on every order of a few people."""

import json
import math
import random
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path

import pytest

from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, Goal, View
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.rounding import log_above
from croupier.research.order import (
    everybody_alpha,
    exposing_prior,
    finding_odds,
    finding_probability,
    odds_bound,
)

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "order.json").read_text())["values"]
FINDING = [case for case in GOLDEN if case["name"] == "finding"]
Q = Fraction(2, 3)


def inversions(order):
    return sum(a > b for a, b in combinations(order, 2))


def mallows(n, q=Q):
    weights = {order: q ** inversions(order) for order in permutations(range(n))}
    total = sum(weights.values())
    return {order: weight / total for order, weight in weights.items()}


def batches(reports, law, reference):
    """The law of the batch: z[s(k)] = y[s(t(k))]."""
    found = {}
    for order, chance in law.items():
        batch = [None] * len(reports)
        for k, person in enumerate(reference):
            batch[person] = reports[reference[order[k]]]
        found[tuple(batch)] = found.get(tuple(batch), 0) + chance
    return found


def assignments(reports, group):
    """Every way to give the group's reports to its members."""
    for some in set(permutations([reports[i] for i in group])):
        changed = list(reports)
        for member, report in zip(group, some, strict=True):
            changed[member] = report
        yield tuple(changed)


def rows(reports, group, law, reference):
    return [batches(way, law, reference) for way in sorted(assignments(reports, group))]


def moved(channel):
    """The largest ratio of two rows at one output."""
    outputs = {z for row in channel for z in row}
    return max(
        max(row.get(z, 0) for row in channel) / min(row.get(z, 0) for row in channel)
        for z in outputs
    )


def sensitivity(group, reference):
    places = sorted(reference.index(person) for person in group)
    g = len(places)
    gaps = ((places[i] - places[i - 1] - 1) * min(i, g - i) for i in range(1, g))
    return g * (g - 1) // 2 + 2 * sum(gaps)


def alpha_of(group, reference, q=Q):
    return log_above((1 / q) ** sensitivity(group, reference))


SETTINGS = [
    ((0, 1, 2), (0, 1, 2), (0, 2)),
    ((0, 1, 2, 3), (2, 0, 3, 1), (0, 1, 2)),
    ((0, 1, 2, 3), (0, 1, 2, 3), (0, 3)),
    ((0, 0, 1, 1), (3, 1, 0, 2), (0, 1, 3)),
    ((0, 1, 2, 3, 4), (4, 2, 0, 1, 3), (1, 2, 4)),
    ((0, 1, 2, 3, 4), (0, 1, 2, 3, 4), (0, 1, 2, 3, 4)),
    ((0, 1, 1, 0, 2), (1, 3, 0, 4, 2), (0, 2, 3)),
]


@pytest.mark.parametrize(("reports", "reference", "group"), SETTINGS)
def test_no_prior_moves_odds_further(reports, reference, group):
    channel = rows(reports, group, mallows(len(reports)), reference)
    bound = odds_bound(alpha_of(group, reference))
    limit = Fraction(bound.factor)
    rng = random.Random(len(reports) + sum(group))  # noqa: S311 - a test
    for _ in range(12):
        weights = [[rng.randrange(1, 50) ** 3 for _ in channel] for _ in range(2)]
        prior = Fraction(sum(weights[0]), sum(map(sum, weights)))
        lowest, highest = map(Fraction, bound.beliefs(float(prior)))
        near_prior = 1 + Fraction(1, 10**12)
        for z in channel[0]:
            seen = [
                sum(w * row.get(z, 0) for w, row in zip(some, channel, strict=True))
                for some in weights
            ]
            odds = seen[0] / seen[1] / (prior / (1 - prior))
            assert 1 / limit <= odds <= limit
            posterior = seen[0] / sum(seen)
            assert lowest / near_prior <= posterior <= highest * near_prior


@pytest.mark.parametrize(("reports", "reference", "group"), SETTINGS)
def test_two_assignments_reach_the_bound_if_reports_differ(reports, reference, group):
    reached = moved(rows(reports, group, mallows(len(reports)), reference))
    limit = Fraction(odds_bound(alpha_of(group, reference)).factor)
    assert reached <= limit
    if len(set(reports)) == len(reports):
        assert reached >= limit * (1 - Fraction(1, 10**12))


def test_a_wider_group_is_not_covered():
    channel = rows((0, 1, 2, 3), (0, 1, 2), mallows(4), (0, 1, 2, 3))
    assert moved(channel) > Fraction(odds_bound(alpha_of((0, 1), (0, 1, 2, 3))).factor)


def test_beliefs_are_reached_at_the_ends():
    channel = rows((0, 1, 2), (0, 1, 2), mallows(3), (0, 1, 2))
    bound = odds_bound(alpha_of((0, 1, 2), (0, 1, 2)))
    in_place, reverse = channel[0], channel[-1]
    prior = Fraction(1, 4)
    for z, end in (((0, 1, 2), 1), ((2, 1, 0), 0)):
        posterior = prior * in_place[z] / (prior * in_place[z] + (1 - prior) * reverse[z])
        assert float(posterior) == pytest.approx(bound.beliefs(0.25)[end], rel=1e-12)
    assert bound.beliefs(0.0) == (0.0, 0.0)
    assert bound.beliefs(1.0) == (1.0, 1.0)


def alpha_guarantee(value, direction=Direction.UPPER, metric=Metric.ALPHA):
    reader = Adversary(sees={View.BATCH}, wants=Goal.LINK)
    return Guarantee(
        metric=metric, value=value, direction=direction, adversary=reader, theorem="of a test"
    )


def test_a_guarantee_stands_for_its_number():
    assert odds_bound(alpha_guarantee(0.5)) == odds_bound(0.5)
    assert odds_bound(0.5).factor >= math.exp(0.5)
    assert odds_bound(0.0).factor == 1.0
    assert "at most 1.65" in str(odds_bound(0.5))


@pytest.mark.parametrize("alpha", [math.inf, 1e6])
def test_nothing_is_promised_without_bound(alpha):
    bound = odds_bound(alpha)
    assert bound.factor == math.inf
    assert bound.beliefs(0.5) == (0.0, 1.0)
    assert str(bound) == "The batch may show who sent what."
    assert finding_odds(alpha, epsilon_local=1.0, group=9, common_randomizer=True) == 0.0


@pytest.mark.parametrize(
    "alpha",
    [
        -1.0,
        math.nan,
        alpha_guarantee(0.5, Direction.LOWER),
        alpha_guarantee(0.5, metric=Metric.EPSILON),
    ],
)
def test_alpha_must_be_one(alpha):
    with pytest.raises(ParameterError, match="alpha"):
        odds_bound(alpha)


@pytest.mark.parametrize("prior", [-0.1, 1.1, math.nan])
def test_prior_must_be_a_probability(prior):
    with pytest.raises(ParameterError, match="prior"):
        odds_bound(1.0).beliefs(prior)


def play(law, channels, wanted):
    """The best adversary's probability to win, and the worst odds over all batches.

    `channels` gives everybody's law of reports.
    """
    n, k = len(channels), len(wanted)
    win, worst = 0.0, math.inf
    for z in product(sorted(set().union(*channels)), repeat=n):
        total = 0.0
        named = dict.fromkeys(combinations(range(n), k), 0.0)
        for order, chance in law.items():
            likelihood = float(chance)
            for place, sender in enumerate(order):
                likelihood *= channels[sender].get(z[place], 0.0)
            total += likelihood
            for places in named:
                if 2 * sum(order[place] in wanted for place in places) > k:
                    named[places] += likelihood
        best = max(named.values())
        win += best
        worst = min(worst, (total - best) / best if best else math.inf)
    return win, worst


def response(value, epsilon_local):
    truth = 1 / (1 + math.exp(-epsilon_local))
    return {value: truth, 1 - value: 1 - truth}


@pytest.mark.parametrize("case", FINDING, ids=lambda case: f"{case['inputs']['n']}")
def test_finding(case):
    given, value = case["inputs"], case["value"]
    group, wanted, n = given["G0"], given["I0"], given["n"]
    theta = given["alpha"] / sensitivity(group, tuple(range(n)))
    channels = [response(int(i in wanted), given["eps"]) for i in range(n)]
    win, worst = play(mallows(n, math.exp(-theta)), channels, wanted)
    assert win == pytest.approx(value["P_win_optimal"], abs=case["tolerance"])
    assert worst == pytest.approx(value["worst_z_lose_over_win"], abs=case["tolerance"])
    odds = finding_odds(
        given["alpha"],
        epsilon_local=given["eps"],
        group=len(group),
        wanted=len(wanted),
        common_randomizer=True,
    )
    assert odds == pytest.approx(value["bound"], abs=case["tolerance"])
    assert odds <= worst * (1 + 1e-12)
    assert odds <= (1 - win) / win * (1 + 1e-12)
    if len(wanted) == 1:
        found = finding_probability(
            given["alpha"], epsilon_local=given["eps"], group=len(group), common_randomizer=True
        )
        assert found.direction is Direction.UPPER
        assert win <= found.value * (1 + 1e-12)


@pytest.mark.parametrize("epsilon_local", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("theta", [0.0, 0.1, 0.7])
def test_finding_holds_whatever_everybody_says(epsilon_local, theta):
    law = mallows(4, math.exp(-theta))
    for values in product((0, 1), repeat=4):
        channels = [response(value, epsilon_local) for value in values]
        for group in [(0, 1, 2), (0, 1, 3), (0, 1, 2, 3)]:
            alpha = theta * sensitivity(group, (0, 1, 2, 3))
            odds = finding_odds(
                alpha, epsilon_local=epsilon_local, group=len(group), common_randomizer=True
            )
            for person in group:
                win, worst = play(law, channels, [person])
                assert odds <= min(worst, (1 - win) / win) * (1 + 1e-12)


def test_finding_needs_one_randomizer():
    # Everybody always says their own name: epsilon_local = 0, and a uniform order hides nothing.
    win, worst = play(mallows(3, 1), [{name: 1.0} for name in range(3)], [0])
    assert (win, worst) == (pytest.approx(1.0), 0.0)
    claimed = finding_odds(0.0, epsilon_local=0.0, group=3, common_randomizer=True)
    assert claimed == 2.0
    for ask in (finding_odds, finding_probability):
        with pytest.raises(ParameterError, match="common_randomizer"):
            ask(0.0, epsilon_local=0.0, group=3, common_randomizer=False)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("wanted", {"wanted": 2}),
        ("wanted", {"wanted": 0}),
        ("group", {"group": 0}),
        ("epsilon_local", {"epsilon_local": -1.0}),
        ("epsilon_local", {"epsilon_local": math.nan}),
    ],
)
def test_finding_refuses(name, changed):
    asked = {"epsilon_local": 1.0, "group": 4, "wanted": 1, "common_randomizer": True} | changed
    with pytest.raises(ParameterError, match=name):
        finding_odds(1.0, **asked)


def test_finding_rounds_down_and_up():
    odds = finding_odds(0.3, epsilon_local=0.1, group=1000, wanted=7, common_randomizer=True)
    assert odds == pytest.approx(141 * math.exp(-1.7), rel=1e-14)
    found = finding_probability(0.3, epsilon_local=0.1, group=1000, common_randomizer=True)
    assert found.value == pytest.approx(1 / (1 + 999 * math.exp(-0.5)), rel=1e-14)
    assert found.metric is Metric.REIDENTIFICATION


def mixed(channels, chances):
    """The rows of a mechanism that draws which of several to use."""
    return [
        {
            z: sum(p * row.get(z, 0) for p, row in zip(chances, some, strict=True))
            for z in set().union(*some)
        }
        for some in zip(*channels, strict=True)
    ]


def test_mixing_mechanisms_keeps_alpha():
    reports, group, chances = (0, 1, 2, 3), (0, 1, 2), (Fraction(2, 7), Fraction(5, 7))
    references = ((0, 1, 2, 3), (3, 2, 0, 1))
    channels = [rows(reports, group, mallows(4), reference) for reference in references]
    limit = Fraction(odds_bound(max(alpha_of(group, s) for s in references)).factor)
    assert moved(mixed(channels, chances)) <= limit
    # A part that leaves the group wide apart breaks it, so the check can fail.
    channels[1] = rows(reports, group, mallows(4), (0, 3, 1, 2))
    assert moved(mixed(channels, chances)) > limit


def test_processing_a_batch_keeps_alpha():
    reports, group, reference = (0, 1, 2, 3), (0, 1, 3), (2, 0, 3, 1)
    channel = rows(reports, group, mallows(4), reference)
    limit = moved(channel)
    assert limit <= Fraction(odds_bound(alpha_of(group, reference)).factor)
    rng = random.Random(5)  # noqa: S311 - a test
    ratios = []
    for _ in range(8):
        kernel = {z: [rng.choice((0, 0, 1, 2, 9)) for _ in range(3)] + [1] for z in channel[0]}
        processed = [
            {
                out: sum(
                    chance * Fraction(kernel[z][out], sum(kernel[z])) for z, chance in row.items()
                )
                for out in range(4)
            }
            for row in channel
        ]
        ratios.append(moved(processed))
    assert max(ratios) <= limit
    assert max(ratios) > 1
    first = [{z: chance for z, chance in row.items() if z[0] == 0} for row in channel]
    assert moved([{0: sum(row.values())} for row in first]) <= limit


def seen_in_place(found, law, reference):
    """What the batch says about person 0, by Bayes' rule on the enumerated law."""
    sent = [tuple(found.assignment.tolist()), tuple(found.other.tolist())]
    likely = [batches(way, law, reference)[tuple(found.batch.tolist())] for way in sent]
    weights = [found.prior * float(likely[0]), (1 - found.prior) * float(likely[1])]
    assert sent[0][0] != sent[1][0]
    return weights[0] / sum(weights)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.69, 1.5])
def test_exposing_prior(n, alpha):
    theta = 1.0
    found = exposing_prior(alpha, theta=theta, n=n)
    if theta * n * (n - 1) / 2 <= alpha:
        assert found is None
        return
    law = mallows(n, math.exp(-theta))
    posterior = seen_in_place(found, law, tuple(range(n)))
    assert posterior == pytest.approx(found.posterior, rel=1e-12)
    assert posterior / found.prior > math.exp(alpha) * (1 + 1e-6)


def test_even_odds_as_printed_expose_little():
    # No batch can more than double a probability of 1/2, so beyond ln 2 that prior breaks nothing.
    law = mallows(4, math.exp(-1.0))
    in_place, reverse = (batches(way, law, (0, 1, 2, 3)) for way in ((0, 1, 2, 3), (3, 2, 1, 0)))
    ratios = [2 * in_place[z] / (in_place[z] + reverse[z]) for z in in_place]
    assert max(ratios) < 2 < math.exp(1.0)
    assert exposing_prior(1.0, theta=1.0, n=4) is not None


@pytest.mark.parametrize("n", [3, 4])
def test_everybody_in_one_group_is_safe_from_every_prior(n):
    law = mallows(n)
    alpha = log_above((1 / Q) ** (n * (n - 1) // 2))
    assert everybody_alpha(theta=-math.log(Q), n=n) == pytest.approx(alpha, rel=1e-14)
    assert exposing_prior(alpha * (1 + 1e-12), theta=-math.log(Q), n=n) is None
    ways = list(permutations(range(n)))
    channel = {way: batches(way, law, tuple(range(n))) for way in ways}
    limit = Fraction(odds_bound(alpha).factor)
    rng = random.Random(n)  # noqa: S311 - a test
    for _ in range(10):
        prior = {way: Fraction(rng.randrange(1, 9) ** 6) for way in ways}
        total = sum(prior.values())
        for z in ways:
            joint = {way: prior[way] * channel[way][z] for way in ways}
            for i, j in product(range(n), repeat=2):
                before = sum(prior[way] for way in ways if way[i] == j) / total
                after = sum(joint[way] for way in ways if way[i] == j) / sum(joint.values())
                assert before / limit <= after <= before * limit


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_only_a_group_of_everybody_is_safe(n):
    theta, reference = 2.0**-4, tuple(range(n))
    safe = set()
    for size in range(2, n + 1):
        for group in combinations(range(n), size):
            alpha = theta * sensitivity(group, reference)
            if exposing_prior(alpha, theta=theta, n=n) is None:
                safe.add(group)
    all_but_the_middle = tuple(i for i in range(n) if 2 * i != n - 1)
    assert safe == {reference, all_but_the_middle}


def test_exposing_prior_of_a_million():
    found = exposing_prior(2.0, theta=1e-6, n=10**6)
    assert found.prior == pytest.approx(math.exp(-2) / 2)
    assert found.posterior == 1.0
    assert exposing_prior(1.0, theta=math.inf, n=3).posterior == 1.0
    assert exposing_prior(math.inf, theta=math.inf, n=3) is None
    assert exposing_prior(0.0, theta=1.0, n=1) is None
    assert exposing_prior(0.0, theta=0.0, n=9) is None


def test_exposing_prior_refuses():
    with pytest.raises(ParameterError, match="alpha"):
        exposing_prior(800.0, theta=math.inf, n=3)
    for theta in (-1.0, math.nan):
        with pytest.raises(ParameterError, match="theta"):
            exposing_prior(1.0, theta=theta, n=1)
    with pytest.raises(ParameterError, match="`n`"):
        everybody_alpha(theta=1.0, n=0)
