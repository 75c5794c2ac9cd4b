"""Every cell against the truth, by listing all datasets and all outputs of small collections."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.model.metric import Metric

SLACK = 1e-9


def histograms(rows, dataset):
    """The law of the histogram of the reports of a dataset."""
    law = {(0,) * rows.shape[1]: 1.0}
    for value in dataset:
        following = defaultdict(float)
        for counts, chance in law.items():
            for report, probability in enumerate(rows[value]):
                if probability:
                    grown = list(counts)
                    grown[report] += 1
                    following[tuple(grown)] += chance * probability
        law = following
    return law


def divergence(first, second, epsilon):
    return sum(
        max(0.0, chance - math.exp(epsilon) * second.get(seen, 0.0))
        for seen, chance in first.items()
    )


class Truth:
    """What the best attacks reach on the worst dataset of n people."""

    def __init__(self, rows, n):
        self.rows, self.n, self.k = rows, n, len(rows)
        values = range(self.k)
        self.laws = {
            others: [histograms(rows, (*others, x)) for x in values]
            for others in itertools.combinations_with_replacement(values, n - 1)
        }

    def delta(self, epsilon):
        return max(
            divergence(laws[a], laws[b], epsilon)
            for laws in self.laws.values()
            for a, b in itertools.permutations(range(self.k), 2)
        )

    def informed(self):
        return max(
            sum(max(law.get(seen, 0.0) for law in laws) for seen in set().union(*laws)) / self.k
            for laws in self.laws.values()
        )

    def uninformed(self):
        joint = [defaultdict(float) for _ in range(self.k)]
        for others in itertools.product(range(self.k), repeat=self.n - 1):
            for x, law in enumerate(self.laws[tuple(sorted(others))]):
                for seen, chance in law.items():
                    joint[x][seen] += chance / self.k**self.n
        return sum(max(law.get(seen, 0.0) for law in joint) for seen in set().union(*joint))

    def linked(self):
        """The best chance to point at the target's report, over all datasets."""
        best = 0.0
        for dataset in itertools.product(range(self.k), repeat=self.n):
            total = 0.0
            for reports in itertools.product(range(self.rows.shape[1]), repeat=self.n):
                # The reports in a uniform order: which place is the target's?
                chances = [
                    self.rows[dataset[0]][reports[place]]
                    * self.others(dataset[1:], reports[:place] + reports[place + 1 :])
                    for place in range(self.n)
                ]
                total += max(chances) / self.n
            best = max(best, total)
        return best

    def others(self, values, reports):
        """The chance of the reports of the others in a uniform order."""
        orders = list(itertools.permutations(reports))
        return math.fsum(
            math.prod(self.rows[v][r] for v, r in zip(values, order, strict=True))
            for order in orders
        ) / len(orders)


def channels():
    random = np.random.default_rng(7)
    for number in range(24):
        k, outputs = random.integers(2, 4), random.integers(2, 4)
        n = int(random.integers(2, 6 if k == 2 else 5))
        weights = random.integers(1, 12, size=(k, outputs))
        weights[:, -1] += weights.sum(axis=1).max() - weights.sum(axis=1)
        yield pytest.param(weights, n, id=f"{number}: {k}x{outputs}, n={n}")


@pytest.mark.parametrize(("weights", "n"), list(channels()))
def test_all_datasets(make_plan, weights, n):
    total = int(weights.sum(axis=1)[0])
    matrix = {"mechanism": "matrix", "matrix": weights.tolist()}
    delta = 0.01
    ladder = assess(make_plan(matrix, enrolled=n, batch=n, delta=delta))
    truth = Truth(weights / total, n)
    batch = ladder["batch"]

    epsilon = batch["epsilon"]
    assert truth.delta(epsilon.upper) <= delta * (1 + SLACK)
    assert truth.delta(epsilon.lower) >= delta * (1 - SLACK) or epsilon.lower == 0
    distance = truth.delta(0.0)
    exact = {
        Metric.BAYES_SECURITY: 1 - distance,
        Metric.GUESS_OF_TWO: 0.5 + distance / 2,
        Metric.GUESS_INFORMED: truth.informed(),
        Metric.GUESS_UNINFORMED: truth.uninformed(),
    }
    if n <= 4:
        exact[Metric.REIDENTIFICATION] = truth.linked()
    for metric, value in exact.items():
        assert batch[metric].lower <= value + SLACK, metric
        assert batch[metric].upper >= value - SLACK, metric


@pytest.mark.parametrize(("weights", "n"), list(channels())[:8])
def test_corrupt_people_are_as_if_they_were_absent(make_plan, weights, n):
    matrix = {"mechanism": "matrix", "matrix": weights.tolist()}
    full = assess(make_plan(matrix, enrolled=10 * n, batch=n + 3, corrupt=3 / (10 * n), delta=0.01))
    alone = assess(make_plan(matrix, enrolled=10 * n, batch=n, delta=0.01))
    for metric, cell in alone["batch"].cells.items():
        assert full["clients"][metric].upper == cell.upper
        assert full["clients"][metric].lower == cell.lower


def test_nothing_is_exact_where_rounding_is_larger_than_the_epsilon(make_plan):
    """At a delta that is just the total variation of the rows, epsilon is 0."""
    matrix = {"mechanism": "matrix", "matrix": [[103, 463, 434], [290, 263, 447]]}
    cell = assess(make_plan(matrix, enrolled=2, batch=2, delta=0.2))["collusion"][Metric.EPSILON]
    assert cell.lower == 0
    assert cell.upper < 1e-11
    assert not cell.exact
