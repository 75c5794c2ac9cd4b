import math
from dataclasses import FrozenInstanceError

import pytest

from croupier.errors import ParameterError
from croupier.model import Adversary, Direction, Evidence, Guarantee, Metric, View
from croupier.model.evidence import REFUTATION_CONFIDENCE

BLIND = Adversary(sees={View.ESTIMATE})
READER = Adversary(sees={View.ESTIMATE, View.BATCH})
WATCHER = Adversary(sees={View.ESTIMATE, View.BATCH, View.LENGTHS})
STRANGER = Adversary(sees={View.PARTICIPATION})


def evidence(lower, upper, *, adversary=READER, **more):
    facts = {
        "metric": Metric.GUESS_OF_TWO,
        "measured": (lower + upper) / 2,
        "confidence": 1 - 1e-9,
        "games": 10_000,
    }
    return Evidence(lower=lower, upper=upper, adversary=adversary, **(facts | more))


def guarantee(direction, value=0.5, *, adversary=READER, metric=Metric.GUESS_OF_TWO):
    return Guarantee(
        metric=metric,
        value=value,
        direction=direction,
        adversary=adversary,
        theorem="Somebody 2019, Lemma 1",
    )


@pytest.mark.parametrize(
    ("direction", "refuted"),
    [(Direction.UPPER, True), (Direction.LOWER, False), (Direction.EXACT, True)],
)
def test_only_an_interval_wholly_above_what_is_possible_refutes(direction, refuted):
    claim = guarantee(direction)
    assert evidence(0.6, 0.7).refutes(claim) is refuted
    assert evidence(0.5, 0.6).refutes(claim) is False
    assert evidence(0.4, 0.6).refutes(claim) is False
    assert evidence(0.3, 0.4).refutes(claim) is False


@pytest.mark.parametrize(
    ("direction", "refuted"),
    [(Direction.UPPER, False), (Direction.LOWER, True), (Direction.EXACT, True)],
)
def test_of_security_an_attack_may_leave_less_than_the_floor(direction, refuted):
    claim = guarantee(direction, metric=Metric.BAYES_SECURITY)
    security = {"metric": Metric.BAYES_SECURITY}
    assert evidence(0.3, 0.4, **security).refutes(claim) is refuted
    assert evidence(0.3, 0.4, adversary=BLIND, **security).refutes(claim) is refuted
    assert evidence(0.3, 0.4, adversary=WATCHER, **security).refutes(claim) is False
    assert evidence(0.3, 0.5, **security).refutes(claim) is False
    assert evidence(0.6, 0.7, **security).refutes(claim) is False


@pytest.mark.parametrize(
    ("attacker", "refuted"), [(BLIND, True), (READER, True), (WATCHER, False), (STRANGER, False)]
)
def test_only_an_attacker_within_the_guarantee_refutes(attacker, refuted):
    above = evidence(0.6, 0.7, adversary=attacker)
    assert above.refutes(guarantee(Direction.UPPER)) is refuted


def test_evidence_at_another_delta_is_refused():
    with pytest.raises(ParameterError, match="delta"):
        evidence(0.6, 0.7, delta=1e-6).refutes(guarantee(Direction.UPPER))


@pytest.mark.parametrize(
    ("confidence", "refutes"),
    [
        (0.95, False),
        (math.nextafter(REFUTATION_CONFIDENCE, 0), False),
        (REFUTATION_CONFIDENCE, True),
        (1 - 1e-12, True),
    ],
)
def test_a_proof_falls_only_to_a_very_sure_measurement(confidence, refutes):
    seen = evidence(0.6, 0.7, confidence=confidence)
    assert seen.refutes(guarantee(Direction.UPPER)) is refutes


def test_evidence_about_another_metric_is_refused():
    with pytest.raises(ParameterError, match="guess_of_two") as refusal:
        evidence(0.6, 0.7).refutes(guarantee(Direction.UPPER, metric=Metric.EPSILON))
    assert refusal.value.parameter == "guarantee"


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({"measured": 0.2}, "measured"),
        ({"measured": 0.8}, "measured"),
        ({"measured": math.nan}, "measured"),
        ({"confidence": 0.0}, "confidence"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": math.nan}, "confidence"),
        ({"games": 0}, "games"),
    ],
)
def test_measurements_that_cannot_be_are_refused(wrong, parameter):
    with pytest.raises(ParameterError) as refusal:
        evidence(0.3, 0.7, **wrong)
    assert refusal.value.parameter == parameter


def test_evidence_proves_nothing_and_cannot_be_changed():
    seen = evidence(0.3, 0.4)
    assert not hasattr(seen, "proves")
    with pytest.raises(FrozenInstanceError):
        seen.upper = 0.9
