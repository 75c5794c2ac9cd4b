"""The bound for a reader of a Mallows order, against every order, batch and value of few people."""

import math
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

from croupier.errors import ParameterError
from croupier.leakage.reidentification import clone_probability
from croupier.leakage.visible_order import visible_order_link
from croupier.model.guarantee import Direction
from croupier.research.order import finding_probability
from croupier.shufflers.order_crowd import order_crowds

CHANNELS = {
    "2-rr": [[0.75, 0.25], [0.25, 0.75]],
    "3-rr": [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]],
    "one-sided": [[0.5, 0.5], [0.2, 0.8]],
    "quiet": [[0.5, 0.5], [0.5, 0.5]],
}


def epsilon_of(rows):
    return max(
        math.log(a / b) for one in rows for other in rows for a, b in zip(one, other, strict=True)
    )


@cache
def outcomes_of(n, theta, present, corrupt, alphabet):
    """All reports of those present, the law of all orders, and what is seen of each pair of them.

    Place k of the order gets the report of person `moves[k]`; places of the missing are empty. Who
    is corrupt shows the report as well.
    """
    orders = np.array(list(permutations(range(n))))
    turned = np.array([sum(m[i] > m[j] for j in range(n) for i in range(j)) for m in orders])
    law = np.exp(-theta * turned)
    reports = np.array(list(product(range(alphabet), repeat=len(present))))
    sent = np.full((len(reports), n), alphabet)
    sent[:, list(present)] = reports
    seen = np.concatenate(
        [
            sent[:, orders],
            np.repeat(sent[:, None, list(corrupt)], len(orders), axis=1),
        ],
        axis=2,
    )
    codes = seen @ (alphabet + 1) ** np.arange(seen.shape[2])
    _, views = np.unique(codes, return_inverse=True)
    return reports, law / law.sum(), np.argsort(orders, axis=1), views.reshape(codes.shape)


def chance_to_find(rows, values, target, *, theta, present, corrupt=()):
    """The best attacker's success, summed over all that can be seen."""
    n, rows = len(values), np.array(rows)
    reports, law, places, views = outcomes_of(n, theta, present, corrupt, rows.shape[1])
    chances = rows[np.array(values)[list(present)], reports].prod(axis=1)
    cells = views * n + places[:, target]
    found = np.bincount(cells.ravel(), weights=np.outer(chances, law).ravel(), minlength=0)
    found = np.pad(found, (0, -len(found) % n)).reshape(-1, n)
    return found.max(axis=1).sum()


def mean_over_clones(weights, local):
    """The bound with the very weights: the mean over who is a clone."""
    p = math.exp(-local)
    total = 0.0
    for clones in product([False, True], repeat=len(weights)):
        chance = math.prod(p if clone else 1 - p for clone in clones)
        total += chance / (1 + sum(w for w, clone in zip(weights, clones, strict=True) if clone))
    return total


CASES = [
    (name, theta, n, present, corrupt)
    for name in CHANNELS
    for theta in (0.0, 0.15, 0.7)
    for n, present, corrupt in (
        (2, (0, 1), ()),
        (3, (0, 1, 2), ()),
        (3, (0, 2), ()),
        (4, (0, 1, 2, 3), ()),
        (4, (0, 1, 3), ()),
        (4, (0, 1, 2, 3), (2,)),
    )
]


@pytest.mark.parametrize(("name", "theta", "n", "present", "corrupt"), CASES)
def test_nobody_is_found_more_often_than_proved(name, theta, n, present, corrupt):
    rows = CHANNELS[name]
    local = epsilon_of(rows)
    crowds = dict(zip(present, order_crowds(present, theta=theta, people=n), strict=True))
    attained = 0.0
    for target in set(present) - set(corrupt):
        others = [who for who in present if who != target and who not in corrupt]
        weights = [math.exp(-theta * (2 * abs(who - target) - 1)) for who in others]
        sharp = mean_over_clones(weights, local)
        proved = 1.0
        if crowds[target] > 1 + len(corrupt):
            proved = visible_order_link(
                epsilon_local=local, crowd=float(crowds[target]), corrupt=len(corrupt)
            ).value
        assert sharp <= proved * (1 + 1e-9)
        for values in product(range(len(rows)), repeat=n):
            exact = chance_to_find(
                rows, values, target, theta=theta, present=present, corrupt=corrupt
            )
            attained = max(attained, exact / sharp)
            assert exact <= sharp * (1 + 1e-9)
    # Not so loose that any number would pass.
    assert attained > 0.5


@pytest.mark.parametrize("theta", [0.1, 0.5])
def test_five_people(theta):
    rows = CHANNELS["2-rr"]
    for target in (0, 1, 2):
        weights = [math.exp(-theta * (2 * abs(j - target) - 1)) for j in range(5) if j != target]
        sharp = mean_over_clones(weights, epsilon_of(rows))
        for values in product(range(2), repeat=5):
            exact = chance_to_find(rows, values, target, theta=theta, present=tuple(range(5)))
            assert exact <= sharp * (1 + 1e-9)


def test_with_weights_twice_as_large_it_would_be_wrong():
    weights = [math.exp(-0.15 * (2 * distance - 1)) for distance in (1, 2)]
    exact = chance_to_find(CHANNELS["quiet"], [0, 0, 0], 0, theta=0.15, present=(0, 1, 2))
    assert mean_over_clones([2 * weight for weight in weights], 0.0) < exact
    assert exact <= mean_over_clones(weights, 0.0)


def test_a_uniform_order_of_reports_that_say_nothing_attains_it():
    """Everybody reports alike, and every order is equally likely: 1 in n."""
    found = visible_order_link(epsilon_local=0.0, crowd=4.0).value
    exact = chance_to_find(CHANNELS["quiet"], [0, 1, 0, 1], 0, theta=0.0, present=(0, 1, 2, 3))
    assert exact == pytest.approx(0.25)
    assert exact <= found <= 0.25 * (1 + 1e-9)


@pytest.mark.parametrize("local", [0.0, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("crowd", [2, 30, 5_000])
def test_it_is_the_bound_of_a_uniform_crowd(local, crowd):
    claim = visible_order_link(epsilon_local=local, crowd=crowd)
    assert claim.direction is Direction.UPPER
    assert claim.value == pytest.approx(clone_probability(local, n=crowd), rel=1e-12)
    corrupt = visible_order_link(epsilon_local=local, crowd=crowd, corrupt=crowd // 3)
    assert corrupt.value == pytest.approx(clone_probability(local, n=crowd - crowd // 3), rel=1e-12)


def test_more_people_noise_and_honesty_never_hurt():
    values = [visible_order_link(epsilon_local=2.0, crowd=c).value for c in (2, 2.5, 3, 10, 400)]
    assert values == sorted(values, reverse=True)
    values = [visible_order_link(epsilon_local=e, crowd=30).value for e in (0.0, 1.0, 3.0)]
    assert values == sorted(values)
    values = [visible_order_link(epsilon_local=1, crowd=30, corrupt=m).value for m in (0, 5, 29)]
    assert values == sorted(values)
    assert values[-1] == 1


@pytest.mark.parametrize("group", [20, 100])
@pytest.mark.parametrize("local", [0.5, 2.0])
def test_it_is_sharper_than_the_papers_theorem(group, local):
    """A group without gaps, of alpha 4: its crowd alone, against Theorem 4.2."""
    alpha = 4.0
    theta = alpha / (group * (group - 1) // 2)
    crowd = float(order_crowds(np.arange(group), theta=theta, people=group).min())
    paper = finding_probability(alpha, epsilon_local=local, group=group, common_randomizer=True)
    assert visible_order_link(epsilon_local=local, crowd=crowd).value < paper.value
    # The crowd is at least the group, each member at the price of the greatest distance.
    assert crowd >= 1 + (group - 1) * math.exp(-theta * (2 * (group - 1) - 1))


@pytest.mark.parametrize(("crowd", "corrupt"), [(1, 1), (5, 5), (0.5, 0), (math.inf, 0)])
def test_a_crowd_holds_the_corrupt_and_one_more(crowd, corrupt):
    with pytest.raises(ParameterError, match="`crowd` must be finite"):
        visible_order_link(epsilon_local=1.0, crowd=crowd, corrupt=corrupt)
