"""Every column of the ladder of plans with dummies, against all outcomes of tiny collections."""

import math
import random
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.model.metric import Metric
from croupier.plan.plan import Plan
from tests.refute.dummy_world import World, divergence

SLACK = 1e-12
SHARP = 2e-7
"""The relative width within which a value is called exact."""

TABLES = [(1, 20, 1), (1, 15, 15, 1), (1, 30, 10, 1), (1, 10, 20, 10, 1), (1, 0, 1, 40, 1)]
ALL, HALF, QUARTER = Fraction(1), Fraction(1, 2), Fraction(1, 4)
PUBLISHED = ["histogram", "estimate", "sorted", "released-order", "none"]
SHOWN = ("sorted", "released-order")


def made(local, k, shufflers, *, n, publication="histogram", delta=0.2, **more):
    """A plan without local noise, or of k-rr, whose tables are given."""
    response = {"mechanism": "k-rr", "k": k, "max_epsilon_local": local}
    sections = [
        {
            "operator": f"operator {place}",
            "keep": float(keep),
            "dummies": {"epsilon": 20.0, "delta": 0.1, "weights": list(weights)},
        }
        for place, (weights, keep) in enumerate(shufflers)
    ]
    document = {
        "schema": 2,
        "randomizer": response if local else {"mechanism": "plain", "k": k},
        "population": {"enrolled": n},
        "protections": {"minimum_batch": n},
        "guarantee": {"delta": delta},
        "analyzer": {"publication": publication},
        "shufflers": sections,
    }
    return Plan.from_document(document | more)


def channel_of(plan):
    own, other = plan.randomizer.answer_chances
    k = plan.randomizer.domain.size
    return [[own if a == b else other for b in range(k)] for a in range(k)]


class Truth:
    """The best attacks on a row; of everybody but one shuffler, on the worse of both cases."""

    def __init__(self, world, row):
        self.world = world
        self.cases = ["honest_1", "honest_2"] if row == "all_but_one" else [row]

    def delta(self, epsilon):
        return max(self.world.delta(case, epsilon) for case in self.cases)

    def value(self, metric):
        distance = self.delta(0.0)
        if metric is Metric.GUESS_OF_TWO:
            return (1 + distance) / 2
        if metric is Metric.BAYES_SECURITY:
            return 1 - distance
        return max(getattr(self.world, metric.value)(case) for case in self.cases)


def rows_of(plan):
    if len(plan.shufflers) == 1:
        return ["batch", "shuffler", "collusion"]
    return ["batch", "shuffler_1", "shuffler_2", "all_but_one", "everybody"]


def require_epsilon(cell, truth, delta):
    if cell.proved is not None:
        assert truth.delta(cell.proved.value) <= delta
    if cell.attained is not None and cell.attained.value > 0:
        assert truth.delta(cell.attained.value * (1 - SHARP)) > delta


def require_true(plan, world):
    """No proved number is refuted, and every number that is said to be reached is."""
    ladder, publication = assess(plan), plan.analyzer.publication
    for row in rows_of(plan):
        mixes = row.startswith("shuffler")
        ordered = row == "shuffler" and publication == "released-order"
        # The only shuffler knows the order that it drew, and so every sender.
        truth, cells = Truth(world, "collusion" if ordered else row), ladder[row].cells
        if mixes and publication == "none":
            assert cells[Metric.EPSILON].proved.value == 0
            continue
        for metric, cell in cells.items():
            if metric is Metric.EPSILON:
                require_epsilon(cell, truth, Fraction(plan.guarantee.delta))
                continue
            if metric is Metric.REIDENTIFICATION and mixes and publication not in SHOWN:
                continue  # no row is shown to point at
            exact = float(truth.value(metric))
            assert cell.upper is None or exact <= cell.upper * (1 + SLACK), (row, metric)
            assert cell.lower is None or exact >= cell.lower * (1 - SLACK) - 1e-14, (row, metric)
    for row in (ladder.blind, *ladder.rows, ladder.combined):
        for metric, cell in row.cells.items():
            both = cell.lower is not None and cell.upper is not None
            assert not both or cell.lower <= cell.upper * (1 + SLACK), (row.rung, metric)


ONE = [
    (local, k, [(weights, keep)], 3 if k == 2 else 2)
    for k, local, weights, keep in [
        (2, None, TABLES[0], ALL),
        (2, None, TABLES[2], ALL),
        (2, None, TABLES[4], ALL),
        (2, None, TABLES[1], HALF),
        (2, 1.0, TABLES[3], ALL),
        (2, 3.0, TABLES[0], QUARTER),
        (3, None, TABLES[1], ALL),
        (3, None, TABLES[2], QUARTER),
        (3, 2.0, TABLES[0], ALL),
    ]
]
TWO = [
    (None, 2, [(TABLES[0], ALL), (TABLES[2], ALL)], 2),
    (None, 2, [(TABLES[2], ALL), (TABLES[0], HALF)], 2),
    (None, 2, [(TABLES[0], QUARTER), (TABLES[0], ALL)], 2),
    (1.0, 2, [(TABLES[0], ALL), (TABLES[1], ALL)], 2),
    (3.0, 2, [(TABLES[0], HALF), (TABLES[0], HALF)], 2),
]


@pytest.mark.parametrize("publication", PUBLISHED)
@pytest.mark.parametrize("delta", [0.2, 1e-3])
@pytest.mark.parametrize(("local", "k", "shufflers", "n"), ONE)
def test_one_shuffler(local, k, shufflers, n, delta, publication):
    plan = made(local, k, shufflers, n=n, delta=delta, publication=publication)
    require_true(plan, World(channel_of(plan), shufflers, n))


@pytest.mark.parametrize("publication", ["histogram", "sorted"])
@pytest.mark.parametrize(("local", "k", "shufflers", "n"), TWO)
def test_two_shufflers(local, k, shufflers, n, publication):
    plan = made(local, k, shufflers, n=n, publication=publication)
    require_true(plan, World(channel_of(plan), shufflers, n))


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(60))
def test_drawn_plans(seed):
    pick = random.Random(seed)  # noqa: S311 - plans, not noise
    two = pick.random() < 0.5
    k = 2 if two else pick.choice([2, 2, 3])
    n = 2 if two or k == 3 else pick.choice([2, 3])
    tables = TABLES[:3] if two else TABLES
    shufflers = [(pick.choice(tables), pick.choice([ALL, ALL, HALF])) for _ in range(1 + two)]
    local = pick.choice([None, None, 1.0, 3.0])
    delta, publication = pick.choice([0.2, 0.15, 0.01]), pick.choice(PUBLISHED)
    plan = made(local, k, shufflers, n=n, delta=delta, publication=publication)
    require_true(plan, World(channel_of(plan), shufflers, n))


def test_what_is_exact_of_plain_reports():
    """A bracket that closes: epsilon, both guesses of the informed, Bayes security."""
    plan = made(None, 3, [(TABLES[3], ALL)], n=2)
    world, row = World(channel_of(plan), [(TABLES[3], ALL)], 2), assess(plan)["batch"]
    for metric in (Metric.GUESS_OF_TWO, Metric.GUESS_INFORMED, Metric.BAYES_SECURITY):
        exact = float(Truth(world, "batch").value(metric))
        assert row[metric].exact
        assert row[metric].proved.value == pytest.approx(exact, rel=1e-12)
    epsilon = row["epsilon"]
    assert epsilon.exact
    assert world.delta("batch", epsilon.proved.value * (1 - SHARP)) > Fraction(0.2)


def test_everybody_but_one_shuffler_traces_a_plain_report_exactly_so_often():
    shufflers = [(TABLES[0], ALL), (TABLES[3], ALL)]
    plan = made(None, 2, shufflers, n=2)
    cell = assess(plan)["all_but_one"]["reidentification"]
    exact = World(channel_of(plan), shufflers, 2).reidentification("honest_1")
    assert cell.exact
    assert cell.proved.value == pytest.approx(float(exact), rel=1e-12)


def test_noise_on_the_device_hides_which_row_to_look_at():
    """The value of a report is not known then, so that the same chance is not reached."""
    shufflers = [(TABLES[0], ALL), (TABLES[0], ALL)]
    plan = made(1.0, 2, shufflers, n=2)
    cell = assess(plan)["all_but_one"]["reidentification"]
    exact = float(World(channel_of(plan), shufflers, 2).reidentification("honest_1"))
    assert not cell.exact
    assert cell.lower <= exact < 0.97 * cell.upper


def test_dummies_make_a_blind_guess_worse_than_one_in_the_people():
    """Nobody who is shown no rows points at a report more often than a reader of all rows."""
    plan = made(None, 2, [(TABLES[3], ALL)], n=2)
    ladder = assess(plan)
    luck, law = ladder.blind["reidentification"], plan.dummies[0].law
    rows = np.convolve(law, law)  # two possible reports, and two people
    exact = float(rows @ (1 / (2 + np.arange(len(rows)))))
    assert luck.lower <= exact <= luck.upper <= ladder["batch"]["reidentification"].upper < 0.5
    assert luck.lower <= ladder["estimate"]["reidentification"].upper


@pytest.mark.parametrize(("n", "keep"), [(400, 0.05), (100, 0.25), (60, 0.5)])
def test_a_shuffler_that_samples_knows_who_is_left(n, keep):
    """Of 400 people about 20 are kept: the proof for a crowd of 400 fails by a factor of 50."""
    plan = made(2.0, 2, [(TABLES[3], Fraction(keep))], n=n, delta=1e-4, publication="histogram")
    own, other = (float(level) for level in plan.randomizer.answer_chances)

    def exact(epsilon):
        """The others all hold the first value, and it is known which of them are kept."""
        total, factor = 0.0, math.exp(epsilon)
        for left in range(n):
            chance = math.comb(n - 1, left) * keep**left * (1 - keep) ** (n - 1 - left)
            crowd = [math.comb(left, up) * own**up * other ** (left - up) for up in range(left + 1)]
            pairs = zip([*crowd, 0.0], [0.0, *crowd], strict=True)
            laws = [(own * b + other * a, other * b + own * a) for a, b in pairs]
            total += chance * max(
                sum(max(0.0, p - factor * q) for p, q in laws),
                sum(max(0.0, q - factor * p) for p, q in laws),
            )
        return keep * total

    ladder = assess(plan)
    assert exact(ladder["shuffler"].epsilon.value) <= 1e-4
    unsampled = assess(plan.replace(shufflers=[{"dummies": plan.shufflers[0].dummies}]))
    assert exact(unsampled["shuffler"].epsilon.value) > 1e-4, "the former claim is refuted"


@pytest.mark.parametrize("local", [None, 1.0])
@pytest.mark.parametrize("keep", [ALL, HALF])
def test_two_rounds_with_fresh_noise(local, keep):
    """Composed exactly: all pairs of views of both rounds."""
    shufflers = [(TABLES[3], keep)]
    for delta in (0.3, 0.1):
        plan = made(local, 2, shufflers, n=2, delta=delta, collection={"rounds": 2})
        world, row = World(channel_of(plan), shufflers, 2), assess(plan)["batch"]
        assert row.epsilon.value < math.inf
        assert world.delta("batch", row.epsilon.value, rounds=2) <= delta
        distance = world.delta("batch", 0.0, rounds=2)
        assert row.guess_of_two.value >= (1 + distance) / 2
        assert row.bayes_security.value <= 1 - distance


def test_two_rounds_of_a_reused_report():
    """The same report is in both batches: dummies protect it twice, its own noise once."""
    table = TABLES[3]
    plan = made(
        1.0,
        2,
        [(table, ALL)],
        n=2,
        delta=0.2,
        collection={"rounds": 2},
        participation={"noise": "reused"},
    )
    alone = World([[1, 0], [0, 1]], [(table, ALL)], 1)
    seen = [alone.seen("batch", (y,)) for y in range(2)]
    laws = []
    for row in channel_of(plan):
        law = defaultdict(Fraction)
        for chance, view in zip(row, seen, strict=True):
            for first, p in view.items():
                for second, q in view.items():
                    law[first, second] += chance * p * q
        laws.append(law)
    for name in ("batch", "clients", "network"):
        claim = assess(plan)[name]
        assert divergence(*laws, claim.epsilon.value) <= Fraction(0.2)
        assert claim.guess_of_two.value >= (1 + divergence(*laws, 0.0)) / 2
