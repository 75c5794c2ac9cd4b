"""Classes of outputs, beside sums of fractions."""

import math
from collections import defaultdict
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from croupier.model.likelihood import LikelihoodClasses


def law(random, size):
    """Outputs (reference, first, second), some of them proportional, some impossible."""
    lines = [[random.randrange(4) for _ in range(3)] for _ in range(size)]
    return [tuple(Fraction(entry, random.choice((6, 8))) for entry in line) for line in lines]


def added(outputs):
    """The same by adding up, without the class of zeros."""
    found = defaultdict(lambda: [Fraction(0)] * 3)
    for output in outputs:
        if total := sum(output):
            key = tuple(entry / total for entry in output)
            found[key] = [one + two for one, two in zip(found[key], output, strict=True)]
    return sorted(map(tuple, found.values()))


def columns(classes):
    return sorted(zip(classes.reference, classes.first, classes.second, strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_classes_are_those_of_sums(seed):
    random = Random(seed)  # noqa: S311 - not a secret
    one, two = law(random, 12), law(random, 5)
    first, second = LikelihoodClasses.merged(one), LikelihoodClasses.merged(two)
    assert columns(first) == added(one)
    assert first.mass == sum(w for w, _, _ in one)
    for own, column in zip(
        first.arrays(), (first.reference, first.first, first.second), strict=True
    ):
        assert own.tolist() == list(map(float, column))
    pairs = [tuple(a * b for a, b in zip(x, y, strict=True)) for x in one for y in two]
    assert columns(first.times(second)) == added(pairs)
    third = Fraction(1, 3)
    beside = [(share, law) for share, law in ((third, first), (1 - third, second), (0, first))]
    drawn = [
        tuple(share * e for e in x) for share, own in ((third, one), (1 - third, two)) for x in own
    ]
    assert columns(LikelihoodClasses.side_by_side(beside)) == added(drawn)


def test_a_ratio_beyond_doubles():
    classes = LikelihoodClasses.merged([(Fraction(0), Fraction(1), Fraction(1, 10**400))])
    assert classes.epsilon == pytest.approx(400 * math.log(10), rel=1e-12)
    assert classes.epsilon >= 400 * np.log(10) * (1 - 1e-15)
