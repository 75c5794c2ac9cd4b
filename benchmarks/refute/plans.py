"""Random plans of every kind, small enough to list all outcomes."""

from random import Random
from typing import Any

from benchmarks.refute.draws import rows
from croupier.errors import ParameterError
from croupier.plan.file import PlanError
from croupier.plan.plan import Plan

__all__ = ["MODELS", "ORDERS", "PUBLICATIONS", "large_plan", "tiny_plan"]

MODELS = (
    "single",
    "divide",
    "subsample",
    "parallel",
    "together",
    "multinomial",
    "bins",
    "rectified-parallel",
    "rectified-multinomial",
    "rectified-bins",
)
PUBLICATIONS = ("none", "estimate", "histogram", "sorted", "released-order")
ORDERS = ("uniform", "uniform", "groups", "mallows")

Tables = dict[str, Any]


def tiny_plan(random: Random, *, model: str | None = None) -> Plan:
    """A plan for two to five people in a batch."""
    while True:
        try:
            return Plan.from_document(_document(random, model or random.choice(MODELS)))
        except (PlanError, ParameterError):
            continue


def _document(random: Random, model: str) -> Tables:
    least = random.choice((2, 2, 3, 3, 4))
    groups = 2 if model in ("divide", "bins", "rectified-bins") else 1
    rounds = random.choice((1, 1, 2, 3))
    return {
        "schema": 2,
        "name": "tiny",
        "population": {
            "enrolled": groups * (least + random.randrange(3)),
            "corrupt_fraction": random.choice((0, 0, 0.2, 0.25, 0.4)),
        },
        "protections": {"minimum_batch": least, "report_size": 256},
        "guarantee": {"delta": random.choice((0.2, 0.05, 0.01, 1e-4))},
        "analyzer": {"publication": random.choice(PUBLICATIONS)},
        "collection": {"rounds": rounds},
        "participation": {
            "model": model,
            "noise": random.choice(("fresh", "reused")) if rounds > 1 else "fresh",
            **_model_keys(random, model),
        },
        **_asked(random, model),
        **_order(random, least),
    }


def _model_keys(random: Random, model: str) -> Tables:
    weights = [1, random.choice((1, 3))]
    if model.endswith("bins"):
        return {"bins": random.choice(([weights, [1, 1]], [weights]))}
    if model.endswith(("parallel", "multinomial")):
        return {"weights": weights}
    keys = {"divide": {"groups": 2}, "subsample": {"repeats": random.choice((1, 2))}}
    return keys.get(model, {})


def _asked(random: Random, model: str) -> Tables:
    several = model not in ("single", "subsample") and random.random() < 0.3
    if model == "together":
        return {"questions": [_small(random), _small(random)]}
    if not several:
        return {"randomizer": _mechanism(random)}
    return {"questions": [_mechanism(random), _mechanism(random)]}


def _small(random: Random) -> Tables:
    """A mechanism with few values and reports, some of which are told apart more easily."""
    local = random.choice((0.5, 1.0, 2.5))
    if random.random() < 0.5:
        k = random.choice((2, 2, 3))
        return {"mechanism": "k-rr", "k": k, "max_epsilon_local": local, "denominator": 64}
    made: list[list[float]] = [[], []]
    while made[0] == made[1]:  # no shares can be estimated from equal rows
        kind = random.choice(("even", "skewed", "flat"))
        made = rows(random, kind, values=2, reports=2, total=97)
    return {"mechanism": "matrix", "matrix": made}


def _mechanism(random: Random) -> Tables:
    local = random.choice((0.5, 0.8, 1.5, 2.5, 4.0))
    kind = random.choice(("matrix", "matrix", "matrix", "response", "other"))
    if kind == "matrix":
        shape = random.choice(("even", "skewed", "flat", "zeros", "equal rows", "nearly equal"))
        total = random.choice((16, 97, 1000))
        made = rows(
            random,
            shape,
            values=random.choice((2, 2, 3)),
            reports=random.choice((2, 3)),
            total=total,
        )
        return {"mechanism": "matrix", "matrix": made}
    if kind == "response":
        k = random.choice((2, 3))
        return {"mechanism": "k-rr", "k": k, "max_epsilon_local": local, "denominator": 64}
    return random.choice(
        (
            {"mechanism": "optimized-unary", "k": 2, "max_epsilon_local": local, "denominator": 16},
            {
                "mechanism": "subset-selection",
                "k": 3,
                "max_epsilon_local": local,
                "subset_size": 1,
                "denominator": 64,
            },
            {"mechanism": "hadamard", "k": 3, "max_epsilon_local": local, "denominator": 64},
            {
                "mechanism": "one-bit-mean",
                "grid": {"low": 0.0, "high": 2.0, "step": 1.0},
                "max_epsilon_local": local,
                "denominator": 64,
            },
        )
    )


def _binary(random: Random) -> Tables:
    """A mechanism with two values, which is quick to prove for many people."""
    if random.random() < 0.5:
        local = random.choice((0.5, 1.0, 2.0, 4.0))
        return {"mechanism": "k-rr", "k": 2, "max_epsilon_local": local}
    kind, reports = random.choice(("even", "flat", "skewed")), random.choice((2, 3))
    return {
        "mechanism": "matrix",
        "matrix": rows(random, kind, values=2, reports=reports, total=1000),
    }


def _order(random: Random, least: int) -> Tables:
    order, digest = random.choice(ORDERS), "0" * 64
    if order == "groups":
        return {"shuffling": {"order": "uniform", "groups": {"sha256": digest}}}
    if order == "mallows":
        groups = {"sha256": digest, "sensitivity": least * (least - 1) // 2}
        alpha = random.choice((0.5, 1.0, 2.0))
        return {"shuffling": {"order": "mallows", "alpha": alpha, "groups": groups}}
    return {}


def large_plan(random: Random, *, model: str | None = None) -> Plan:
    """A plan for tens to thousands of people, too many to list."""
    while True:
        chosen = model or random.choice(MODELS)
        document = _document(random, chosen)
        least = random.choice((20, 20, 30, 30, 60, 60, 100, 100, 200, 1500))
        groups = 2 if chosen in ("divide", "bins", "rectified-bins") else 1
        if "questions" not in document:
            document["randomizer"] = _binary(random)
        document["protections"]["minimum_batch"] = least
        document["population"] = {
            "enrolled": groups * least * random.choice((1, 2, 4)),
            "corrupt_fraction": random.choice((0, 0.01, 0.1)),
        }
        document["guarantee"]["delta"] = random.choice((1e-2, 1e-4, 1e-6))
        document["policy"] = {"batch": {"max_epsilon": 1.5, "min_bayes_security": 0.5}}
        try:
            return Plan.from_document(document)
        except (PlanError, ParameterError):
            continue
