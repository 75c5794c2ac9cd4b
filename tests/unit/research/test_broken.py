import numpy as np
import pytest

from croupier.auditing.mechanism.claim import audit, audit_samples
from croupier.numerics.keystream import Keystream
from croupier.research.broken import BROKEN

CASES = [
    pytest.param(name, marks=pytest.mark.proof) if name == "length" else name for name in BROKEN
]


@pytest.mark.parametrize("name", CASES)
def test_every_known_mistake_is_caught(name):
    """With margin: at a confidence that leaves 1e-6 for luck."""
    broken = BROKEN[name]
    found = audit(
        broken.call, inputs=broken.inputs, claim=broken.claim, vectorised=True, confidence=1 - 1e-6
    )
    assert found.refuted, found
    assert broken.mistake


EVENTS = {
    "low-bits": "lowest set bit",
    "missing": "type of the output = NoneType",
    "whole-budget-a-bit": "likelihood score of the output",
}


@pytest.mark.parametrize("name", EVENTS)
def test_the_witness_says_what_leaks(name, monkeypatch):
    """Seeded: of two events that tell as much, either may be chosen."""
    rng, broken = Keystream(insecure_seed=1), BROKEN[name]
    monkeypatch.setattr("croupier.research.broken.Keystream", lambda: rng)
    found = audit(
        broken.call,
        inputs=broken.inputs,
        claim=broken.claim,
        vectorised=True,
        samples=100_000,
        insecure_seed=1,
    )
    assert EVENTS[name] in found.witness.event


def test_recorded_outputs_are_caught_alike():
    broken = BROKEN["length"]
    outputs = {x: broken.call(np.repeat(x, 5000)) for x in broken.inputs}
    assert audit_samples(outputs, claim=broken.claim).refuted
