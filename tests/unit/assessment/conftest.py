"""Plans for the ladder, from a few facts or from a seed, and what is proved of them."""

import functools
import random

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.plan.plan import Plan

GROUPS = {"sha256": "0" * 64, "sensitivity": 7}
ONE_QUESTION = {"single", "parallel", "rectified-parallel"}
"""Elsewhere rounds may ask different questions, and noise is fresh."""


def mechanisms(pick):
    epsilon = pick.choice([0.3, 1.0, 2.0])
    k = pick.choice([2, 3, 5, 12])
    response = {"mechanism": "k-rr", "k": k, "max_epsilon_local": epsilon}
    grid = {"low": 0, "high": 1, "step": 0.5}
    return pick.choice(
        [
            response,
            response,
            response,
            {"mechanism": "symmetric-unary", "k": 3, "max_epsilon_local": epsilon},
            {"mechanism": "one-bit-mean", "grid": grid, "max_epsilon_local": epsilon},
        ]
    )


def participations(pick):
    weights = pick.choice([1, 2, 3])
    return pick.choice(
        [
            {"model": "single"},
            {"model": "single"},
            {"model": "divide", "groups": weights},
            {"model": "subsample", "repeats": weights},
            {"model": "parallel", "weights": weights},
            {"model": "multinomial", "weights": weights},
            {"model": "multinomial", "weights": [1, 3]},
            {"model": "bins", "bins": [weights, [2, 1]]},
            {"model": "rectified-parallel", "weights": weights},
            {"model": "rectified-multinomial", "weights": weights},
            {"model": "rectified-bins", "bins": [2, weights]},
        ]
    )


def generated(make_plan, seed):
    pick = random.Random(seed)  # noqa: S311 - plans, not noise
    participation = participations(pick)
    noise = pick.choice(["fresh", "fresh", "fresh", "reused"])
    rounds = pick.choice([1, 1, 1, 1, 1, 1, 1, 2])
    participation["noise"] = noise if participation["model"] in ONE_QUESTION else "fresh"
    shuffling = pick.choice(
        [
            {"order": "uniform"},
            {"order": "uniform"},
            {"order": "uniform", "groups": {"sha256": "0" * 64}},
            {"order": "mallows", "alpha": pick.choice([0.0, 0.5, 4.0]), "groups": GROUPS},
        ]
    )
    batch = pick.choice([5, 40, 300, 2000])
    protections = {"minimum_batch": batch, "report_size": 64}
    if shuffling.get("alpha") == 0.5 and seed % 2:
        protections["minimum_crowd"] = min(batch, 7)
    return make_plan(
        mechanisms(pick),
        enrolled=pick.choice([1, 3]) * batch,
        batch=batch,
        corrupt=pick.choice([0.0, 0.0, 0.1, 0.2]),
        delta=pick.choice([1e-2, 1e-6]),
        protections=protections,
        participation=participation,
        collection={"rounds": rounds},
        shuffling=shuffling,
        analyzer={
            "publication": pick.choice(
                ["none", "estimate", "estimate", "histogram", "sorted", "released-order"]
            )
        },
    )


@pytest.fixture(scope="session")
def make_plan():
    """A plan from the facts that differ; everything else stays small and plain."""

    def make(randomizer=None, *, enrolled=1000, batch=1000, corrupt=0.0, delta=1e-6, **tables):
        document = {
            "schema": 2,
            "randomizer": randomizer or {"mechanism": "k-rr", "k": 4, "max_epsilon_local": 2.0},
            "population": {"enrolled": enrolled, "corrupt_fraction": corrupt},
            "protections": {"minimum_batch": batch, "report_size": 64},
            "guarantee": {"delta": delta},
        } | tables
        if "questions" in tables:
            del document["randomizer"]
        return Plan.model_validate(document)

    return make


@pytest.fixture(scope="session")
def ladder_of(make_plan):
    """The ladder of the plan that a seed stands for, assessed once."""
    return functools.cache(lambda seed: assess(generated(make_plan, seed)))
