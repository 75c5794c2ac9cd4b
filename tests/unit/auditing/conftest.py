"""Oracles in rational arithmetic, and how coverage is judged."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "blackbox.json").read_text())


@pytest.fixture(scope="session")
def golden():
    return {case["name"]: case for case in GOLDEN["cases"]}


def enumerated_success(target, decoy, score, n):
    """Success of naming the highest score, over every possible row of decoys."""
    total = Fraction(0)
    for y, p in target.items():
        for others in product(decoy.items(), repeat=n - 1):
            chance = p * math.prod((q for _, q in others), start=Fraction(1))
            scores = [score[z] for z, _ in others]
            if all(s <= score[y] for s in scores):
                total += chance / (1 + scores.count(score[y]))
    return total


def exact_success(target, decoy, score, n):
    """The same by the number of ties."""
    total = Fraction(0)
    for y, p in target.items():
        tied = sum((q for z, q in decoy.items() if score[z] == score[y]), Fraction(0))
        below = sum((q for z, q in decoy.items() if score[z] < score[y]), Fraction(0))
        total += p * sum(
            math.comb(n - 1, j) * tied**j * below ** (n - 1 - j) / (j + 1) for j in range(n)
        )
    return total


def best_success(target, decoy, n):
    """beta_n: the score is the likelihood ratio."""
    outputs = target | decoy
    score = {
        y: target.get(y, Fraction(0)) / decoy[y] if decoy.get(y) else math.inf for y in outputs
    }
    return exact_success(target, decoy, score, n)


def holds(covered, repetitions, confidence=0.95):
    """Whether an observed coverage is at most five standard errors below the promised one."""
    error = math.sqrt(confidence * (1 - confidence) / repetitions)
    return covered / repetitions >= confidence - 5 * error


@pytest.fixture(params=[1_000, pytest.param(10_000, marks=pytest.mark.proof)])
def repetitions(request):
    """How often an interval is drawn to see its coverage."""
    return request.param


@pytest.fixture(scope="session")
def oracle():
    """The functions above, since the tests are not a package."""

    class Oracle:
        enumerated = staticmethod(enumerated_success)
        exact = staticmethod(exact_success)
        best = staticmethod(best_success)
        holds = staticmethod(holds)

    return Oracle
