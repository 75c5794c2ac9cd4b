import numpy as np
import pytest

from croupier.auditing.mechanism.metric_claim import audit_bayes_security, audit_reidentification
from croupier.errors import ParameterError
from croupier.leakage.bayes_security import bayes_security
from croupier.numerics.keystream import Keystream
from croupier.randomizers import KaryRandomizedResponse


def outputs(response, size, inputs=(0, 1)):
    return {x: response.randomize(np.repeat(x, size)) for x in inputs}


def test_true_claims_stand_and_false_ones_fall(alarm):
    response = KaryRandomizedResponse(k=3, max_epsilon_local=1.0)
    truth = bayes_security(response).value
    drawn = outputs(response, 40_000, (0, 1, 2))
    kept = audit_bayes_security(drawn, claim=truth, confidence=1 - alarm)
    assert not kept.refuted
    assert kept.samples == 40_000
    assert 0 < kept.power < truth
    broken = audit_bayes_security(drawn, claim=truth + 0.1)
    assert broken.refuted
    assert set(broken.inputs) <= {0, 1, 2}


def test_what_is_called_detectable_security_is_found():
    """A response at the stated power is refuted in most of many audits."""
    claim, size = 0.6, 2000
    power = audit_bayes_security(
        outputs(KaryRandomizedResponse(k=2, max_epsilon_local=0.5), size), claim=claim
    ).power
    stream, found = Keystream(), 0
    lie = round(power / 2 * 10**6)
    for _ in range(200):
        flips = (stream.integers(10**6, 2 * size).astype(np.int64) < lie).reshape(2, size)
        drawn = {0: flips[0].astype(np.int64), 1: 1 - flips[1].astype(np.int64)}
        found += audit_bayes_security(drawn, claim=claim).refuted
    # Nine in ten are promised, about; 150 of 200 would be ten standard errors fewer.
    assert found > 150


def test_reidentification(alarm):
    response = KaryRandomizedResponse(k=2, max_epsilon_local=2.0)
    drawn = outputs(response, 40_000)
    # One report of law (p, 1-p) among n - 1 of law (1-p, p), ties drawn by lot: 0.38 at n = 6.
    p = 1 / (1 + np.exp(-2))
    n = 6
    truth = p * (1 - p**n) / (n * (1 - p)) + (1 - p) * p ** (n - 1) / n
    assert not audit_reidentification(drawn, n=n, claim=truth, confidence=1 - alarm).refuted
    found = audit_reidentification(drawn, n=n, claim=truth - 0.1)
    assert found.refuted
    assert found.inputs == (0, 1)
    assert found.power > truth - 0.1


def test_too_few_samples_have_no_power():
    drawn = outputs(KaryRandomizedResponse(k=2, max_epsilon_local=1.0), 12)
    assert audit_bayes_security(drawn, claim=0.05).power is None
    assert audit_reidentification(drawn, n=10, claim=0.5).power is None


def test_what_is_refused():
    drawn = outputs(KaryRandomizedResponse(k=3, max_epsilon_local=1.0), 100, (0, 1, 2))
    with pytest.raises(ParameterError, match="claim"):
        audit_bayes_security(drawn, claim=1.5)
    with pytest.raises(ParameterError, match="inputs"):
        audit_reidentification(drawn, n=3, claim=0.5)


def test_recorded_outputs_may_be_sorted():
    """A leak is found in whatever order the outputs were recorded."""
    told = {0: np.repeat([0, 1, 2], 1000), 1: np.repeat([3, 4, 5], 1000)}
    found = audit_bayes_security(told, claim=0.5)
    assert found.refuted
    assert found.evidence.upper < 0.1
    assert audit_reidentification(told, n=3, claim=0.9).refuted
    first, second = (
        audit_bayes_security(told, claim=0.5, rng=Keystream(insecure_seed=5)) for _ in range(2)
    )
    assert first == second
