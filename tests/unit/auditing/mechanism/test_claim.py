import math
import sys
from enum import Enum

import numpy as np
import pytest

from croupier.accounting.blanket import lower_curve, upper_curve
from croupier.auditing.mechanism.claim import audit, audit_samples
from croupier.errors import ParameterError
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.keystream import Keystream
from croupier.randomizers import KaryRandomizedResponse, randomizer
from croupier.randomizers.registry import MECHANISMS
from croupier.research.broken import BROKEN

GRID = {"low": 0, "high": 1, "step": 0.25}
CORRECT = {
    "k-rr": ({"k": 20}, [0, 7, 19], 0.8),
    "memoised-k-rr": ({"k": 20, "max_epsilon_permanent": 3.0}, [0, 7, 19], 0.8),
    "symmetric-unary": ({"k": 6}, [0, 5], 0.6),
    "optimized-unary": ({"k": 6}, [0, 5], 0.6),
    "rappor": ({"k": 6, "bits": 16, "hashes": 2}, [0, 1, 5], 0.3),
    # What a hashed report tells depends on its hash; no question of ours asks for that.
    "local-hashing": ({"k": 6}, [0, 5], None),
    "dictionary": ({"k": 6, "functions": 4}, [0, 5], None),
    "text": ({"longest": 2, "alphabet": "ab", "functions": 4}, ["a", "b"], None),
    "distribution": ({"grid": GRID, "fanout": 2}, [0.0, 1.0], 0.7),
    "hadamard": ({"k": 6}, [0, 3, 5], 0.8),
    "subset-selection": ({"k": 6}, [0, 5], 0.8),
    "laplace": ({"grid": GRID}, [0.0, 1.0], 0.8),
    # Its epsilon_local is attained where the noise is cut off, and that is rare.
    "gaussian": ({"grid": GRID}, [0.0, 1.0], 0.3),
    "one-bit-mean": ({"grid": GRID}, [0.0, 1.0], 0.8),
    "sampled-sign": ({"dimension": 3}, [[1, 1, 1], [-1, -1, -1]], 0.8),
}
"""Parameters, inputs, and the share of its own epsilon_local that a short audit must show."""


def test_every_mechanism_is_audited():
    assert set(MECHANISMS) - set(CORRECT) == {"matrix", "parallel", "plain", "together"}


@pytest.mark.parametrize("name", CORRECT)
def test_correct_mechanisms_pass_and_power_is_stated(name, alarm):
    parameters, inputs, shown = CORRECT[name]
    mechanism = randomizer(name, max_epsilon_local=1.0, **parameters)
    found = audit(mechanism, inputs=inputs, samples=60_000, confidence=1 - alarm)
    assert found.claim == mechanism.epsilon_local
    assert not found.refuted
    assert found.claim < found.power[0].epsilon < 1.2 * found.claim
    if shown is not None:
        assert audit(mechanism, inputs=inputs, claim=shown, samples=200_000).refuted


def test_the_value_itself_refutes_every_finite_claim():
    assert audit(randomizer("plain", k=3), inputs=[0, 1], claim=8.0, samples=60_000).refuted


def test_a_matrix_and_parallel_questions_pass(alarm):
    matrix = randomizer("matrix", matrix=[[3, 1], [1, 3]])
    both = randomizer(
        "parallel",
        queries=[{"mechanism": "k-rr", "k": k, "max_epsilon_local": 1.0} for k in (2, 3)],
    )
    for mechanism, inputs in ((matrix, [0, 1]), (both, [[0, 0], [1, 2]])):
        assert not audit(mechanism, inputs=inputs, samples=60_000, confidence=1 - alarm).refuted


def test_a_tenth_more_than_claimed_is_found():
    loose = KaryRandomizedResponse(k=2, max_epsilon_local=1.1)
    found = audit(loose, inputs=[0, 1], claim=1.0)
    assert found.refuted
    assert 1.06 < found.evidence.lower < 1.13
    assert found.witness.event.startswith("output = ")
    assert set(found.witness.inputs) == {0, 1}
    assert found.samples == 500_000
    assert found.witness.hits.trials == 800_000


def test_an_audit_at_high_confidence_refutes_a_guarantee():
    loose = KaryRandomizedResponse(k=2, max_epsilon_local=2.0)
    found = audit(loose, inputs=[0, 1], claim=1.0, confidence=1 - 1e-9, samples=50_000)
    claimed = Guarantee(
        metric=Metric.EPSILON,
        value=1.0,
        direction=Direction.UPPER,
        adversary=found.evidence.adversary,
        theorem="an optimistic one",
        delta=0.0,
    )
    assert found.evidence.refutes(claimed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("response", "truth"),
    [
        (KaryRandomizedResponse(k=2, max_epsilon_local=1.0), 1.0),
        (KaryRandomizedResponse(k=5, max_epsilon_local=0.5), 0.5),
    ],
    ids=["2-rr", "5-rr"],
)
def test_coverage_of_a_thousand_audits(response, truth, oracle):
    rng = Keystream(insecure_seed=1)
    covered = sum(
        audit(
            lambda values: response.randomize(values, rng=rng),
            inputs=[0, 1],
            claim=truth,
            samples=800,
            vectorised=True,
            search=0.25,
            rng=rng,
        ).evidence.lower
        <= truth
        for _ in range(1000)
    )
    assert oracle.holds(covered, 1000)
    # The intervals are not idle either: they come close.
    assert covered < 1000


@pytest.mark.slow
def test_coverage_of_a_thousand_audits_of_recorded_outputs(oracle):
    """A law with many outputs, so that the search has much to choose from."""
    noise = randomizer("laplace", grid={"low": 0, "high": 1, "step": 0.125}, max_epsilon_local=1.0)
    covered = 0
    for _ in range(1000):
        outputs = {x: noise.randomize(np.repeat(x, 400)) for x in (0.0, 1.0)}
        covered += audit_samples(outputs, claim=1.0).evidence.lower <= noise.epsilon_local
    assert oracle.holds(covered, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.001, 0.01])
def test_the_shuffled_view_stays_below_the_exact_curve(delta, alarm):
    response = KaryRandomizedResponse(k=2, max_epsilon_local=1.0)
    upper = upper_curve(response, n=100).epsilon(delta)
    found = audit(
        response,
        inputs=[0, 1],
        claim=upper,
        n=100,
        delta=delta,
        samples=100_000,
        confidence=1 - alarm,
    )
    assert not found.refuted
    assert "all others hold" in found.witness.event
    lower = lower_curve(response, n=100).epsilon(delta)
    caught = audit(
        response,
        inputs=[0, 1],
        claim=lower / 3,
        n=100,
        delta=delta,
        samples=100_000,
        insecure_seed=1,
    )
    assert caught.refuted


def test_the_shuffled_view_of_many_categories_comes_near_the_truth():
    response = KaryRandomizedResponse(k=10, max_epsilon_local=3.0)
    truth = upper_curve(response, n=50).epsilon(0.01)
    found = audit(response, inputs=[0, 1, 2], claim=0.5, n=50, delta=0.01, samples=20_000)
    assert found.refuted
    assert 0.5 * truth < found.evidence.lower


def test_coverage_of_shuffled_audits(oracle):
    response = KaryRandomizedResponse(k=3, max_epsilon_local=1.0)
    truth = upper_curve(response, n=5).epsilon(0.02)
    covered = sum(
        audit(response, inputs=[0, 1], claim=truth, n=5, delta=0.02, samples=500).evidence.lower
        <= truth
        for _ in range(300)
    )
    assert oracle.holds(covered, 300)


def coin(value):
    return value if Keystream().integers(4, 1)[0] else 1 - value


def test_a_callable_of_one_value():
    found = audit(coin, inputs=[0, 1], claim=0.5, samples=3000)
    assert found.refuted


def test_what_a_target_must_do():
    with pytest.raises(ParameterError, match="ZeroDivisionError"):
        audit(lambda value: 1 / value, inputs=[0, 1], claim=1.0, samples=100)
    with pytest.raises(ParameterError, match="40 outputs"):
        audit(lambda values: values[:1], inputs=[0, 1], claim=1.0, samples=100, vectorised=True)
    with pytest.raises(ParameterError, match="callable"):
        audit(3, inputs=[0, 1], claim=1.0)
    with pytest.raises(ParameterError, match="inputs"):
        audit(coin, inputs=[1, 1], claim=1.0)
    with pytest.raises(ParameterError, match="claim"):
        audit(coin, inputs=[0, 1])
    with pytest.raises(ParameterError, match="claim"):
        audit(KaryRandomizedResponse(k=2, max_epsilon_local=1.0), inputs=[0, 1], n=10)
    with pytest.raises(ParameterError, match="search"):
        audit(coin, inputs=[0, 1], claim=1.0, search=1.0)
    with pytest.raises(ParameterError, match="confidence"):
        audit(coin, inputs=[0, 1], claim=1.0, confidence=0.5, samples=100)
    with pytest.raises(ParameterError, match="hold 20"):
        audit_samples({0: [1, 2], 1: [1, 2]}, claim=1.0)


def test_the_low_bits_of_one_entry_of_a_row():
    noise = BROKEN["low-bits"].call

    def rows(values):
        return np.stack([noise(0 * values), noise(values)], axis=1)

    found = audit(rows, inputs=[0, 1], claim=1.0, samples=20_000, vectorised=True)
    assert found.refuted
    assert "output[1]'s lowest set bit" in found.witness.event


def test_outputs_that_tell_everything():
    found = audit(lambda value: value, inputs=["a", "b"], claim=1.0, samples=1000)
    assert found.refuted
    assert found.evidence.measured == math.inf


@pytest.mark.parametrize(
    ("said", "word"), [((True, 1), "type"), ((0.0, -0.0), "sign"), ((1, 1.0), "type")]
)
def test_outputs_that_are_equal_and_not_the_same(said, word):
    """What is sent differs: true and 1, 0.0 and -0.0."""
    found = audit(lambda value: said[value], inputs=[0, 1], claim=1.0, samples=1000)
    assert found.refuted
    assert word in found.witness.event


def test_a_repeatable_choice_of_trials():
    outputs = {x: np.arange(500) % (x + 2) for x in (0, 1)}
    first, second = (
        audit_samples(outputs, claim=1.0, rng=Keystream(insecure_seed=5)) for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("vectorised", [False, True])
def test_drift_is_not_leakage(vectorised, alarm):
    """Outputs that ignore the input and change when calls one after the other would change it."""
    samples, learn, calls = 2000, 400, 0
    turns = [learn, 2 * learn, 2 * learn + (samples - learn)]

    def drifting(values):
        nonlocal calls
        size = len(values) if vectorised else 1
        numbers = np.searchsorted(turns, np.arange(calls, calls + size), side="right") % 2
        calls += size
        return numbers if vectorised else int(numbers[0])

    found = audit(
        drifting,
        inputs=["a", "b"],
        claim=0.0,
        samples=samples,
        vectorised=vectorised,
        confidence=1 - alarm,
    )
    assert not found.refuted
    assert calls == 2 * samples


@pytest.mark.parametrize("inputs", [[0, 0.5], ["a", 1], [[0, 1], [2, 3]], [[0], [1, 2]]])
def test_a_vectorised_target_sees_the_inputs_mixed(inputs):
    seen = []

    def asked(values):
        seen.append([[*value] if np.ndim(value) else value for value in values])
        return np.zeros(len(values), dtype=np.int64)

    audit(asked, inputs=inputs, claim=1.0, samples=100, vectorised=True)
    for values in seen:
        first, second = ([place for place, v in enumerate(values) if v == one] for one in inputs)
        assert len(first) + len(second) == len(values)
        assert first[-1] > second[0]
        assert second[-1] > first[0]


def test_a_target_that_leaves():
    for vectorised in (False, True):
        with pytest.raises(ParameterError, match="SystemExit"):
            audit(lambda _: sys.exit(0), inputs=[0, 1], claim=1.0, vectorised=vectorised)


class _Opaque:
    """Holds something, and is equal to nothing but itself."""


class _Answer(Enum):
    NO = 0
    YES = 1


@pytest.mark.parametrize(
    ("call", "message"),
    [(lambda _: None, "None every time"), (lambda _: _Opaque(), "compared; got '_Opaque'")],
)
@pytest.mark.parametrize("n", [None, 3])
def test_outputs_in_which_nothing_can_be_seen_are_refused(call, message, n):
    with pytest.raises(ParameterError, match=message):
        audit(call, inputs=[0, 1], claim=1.0, n=n, samples=200)


@pytest.mark.parametrize("call", [_Answer, lambda value: value or None])
def test_members_of_an_enumeration_and_some_nones_are_outputs(call):
    assert audit(call, inputs=[0, 1], claim=1.0, samples=200).refuted
