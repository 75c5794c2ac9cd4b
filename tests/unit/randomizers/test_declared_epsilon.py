"""An epsilon_local that is declared too small is found wherever a proof would start from it."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from croupier.accounting.amplify import amplify, bracket
from croupier.accounting.blanket import local_curve, lower_curve, upper_curve
from croupier.accounting.clones import stronger_clone_curve
from croupier.assessment.ladder.ladder import assess
from croupier.errors import ParameterError
from croupier.leakage.uninformed import uninformed_upper_bound
from croupier.model.channel import Channel
from croupier.model.participation import SingleRound
from croupier.plan.plan import Plan
from croupier.plan.question import Question
from croupier.randomizers import (
    KaryRandomizedResponse,
    MatrixRandomizer,
    ParallelRandomizer,
    randomizer,
)
from croupier.sidechannels.participation import Observed, remaining

GRID = {"low": 0.0, "high": 4.0, "step": 1.0}
SHIPPED = [
    {"mechanism": "k-rr", "k": 5},
    {"mechanism": "k-rr", "k": 2},
    {"mechanism": "symmetric-unary", "k": 6},
    {"mechanism": "optimized-unary", "k": 500},
    {"mechanism": "subset-selection", "k": 20},
    {"mechanism": "local-hashing", "k": 30},
    {"mechanism": "hadamard", "k": 12},
    {"mechanism": "rappor", "k": 10},
    {"mechanism": "one-bit-mean", "grid": GRID},
    {"mechanism": "laplace", "grid": GRID},
    {"mechanism": "gaussian", "grid": GRID},
    {"mechanism": "sampled-sign", "dimension": 6},
]


@pytest.mark.parametrize("parameters", SHIPPED)
@pytest.mark.parametrize("epsilon_local", [0.1, 1.0, 7.3])
def test_what_is_shipped_declares_what_its_integers_give(parameters, epsilon_local):
    made = randomizer(**parameters, max_epsilon_local=epsilon_local)
    assert made.checked_epsilon_local == made.epsilon_local <= epsilon_local


@dataclass(frozen=True)
class FlatteringMatrix(MatrixRandomizer):
    """Declares less than its matrix says; it has no representative pairs."""

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "epsilon_local", 0.0)


@dataclass(frozen=True)
class FlatteringResponse(KaryRandomizedResponse):
    """The same with representative pairs."""

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "epsilon_local", 0.5)


MATRIX = FlatteringMatrix(matrix=((3, 1), (1, 3)))
RESPONSE = FlatteringResponse(k=3, max_epsilon_local=2.0)
PROOFS = [
    lambda made: bracket(made, n=1_000, delta=1e-6),
    lambda made: amplify(made, n=1_000, delta=1e-6),
    lambda made: upper_curve(made, n=10),
    lambda made: lower_curve(made, n=10),
    local_curve,
    lambda made: stronger_clone_curve(made, n=10),
    lambda made: uninformed_upper_bound(made, n=10**6),
    lambda made: remaining(
        SingleRound(), n=100, delta=1e-6, observed=Observed.NOTHING, randomizer=made
    ),
]


@pytest.mark.parametrize("proof", PROOFS)
@pytest.mark.parametrize(
    ("flattering", "truth"), [(MATRIX, math.log(3)), (RESPONSE, 2.0)], ids=["matrix", "response"]
)
def test_no_proof_starts_from_a_false_declaration(proof, flattering, truth):
    with pytest.raises(ParameterError) as refused:
        proof(flattering)
    assert str(truth)[:8] in str(refused.value)
    assert repr(flattering.epsilon_local) in str(refused.value)


@dataclass(frozen=True)
class PlainResponse(KaryRandomizedResponse):
    """Sends the value as it is, with the representative pairs of another mechanism."""

    def channel(self):
        return Channel.from_weights(np.eye(self.k, dtype=np.uint64), 1)


def test_pairs_of_another_mechanism_do_not_hide_a_channel():
    with pytest.raises(ParameterError, match=r"at least inf.*got 0\.1"):
        amplify(PlainResponse(k=2, max_epsilon_local=0.1), n=1_000, delta=1e-6)


def test_a_false_declaration_is_found_among_many_queries():
    honest = MatrixRandomizer(matrix=((34, 33, 33), (33, 34, 33), (33, 33, 34)))
    false = FlatteringMatrix(matrix=((98, 1, 1), (1, 98, 1), (1, 1, 98)))
    for others in (1, 3):
        with pytest.raises(ParameterError, match="epsilon_local"):
            _ = ParallelRandomizer(queries=(false, *[honest] * others)).checked_epsilon_local


@pytest.mark.parametrize("model", ["single", "multinomial"])
def test_neither_does_a_ladder(model):
    plan = Plan.from_toml(f"""
schema = 2
randomizer = {{mechanism = "k-rr", k = 3, max_epsilon_local = 2.0}}
population.enrolled = 1_000
protections.minimum_batch = 500
participation = {{model = "{model}"{", weights = 2" if model == "multinomial" else ""}}}
""")
    object.__setattr__(plan, "questions", (Question.of(RESPONSE),))
    plan.__dict__.pop("randomizer", None)
    with pytest.raises(ParameterError, match="epsilon_local"):
        assess(plan)
