"""Outputs with parts: a leak in one part shows, however seldom whole outputs repeat."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from croupier.auditing.mechanism.claim import audit
from croupier.errors import ParameterError

RNG = np.random.default_rng(5)
UNSEEN = "outputs hardly ever repeat, so that single outputs and rare leaks inside them"


@pytest.fixture(autouse=True)
def _seeded():
    """Draw the same numbers in every test, whichever ran before."""
    RNG.bit_generator.state = np.random.default_rng(5).bit_generator.state


def noisy(x):
    """Randomized response of epsilon ln 3 < 1.1."""
    return x ^ int(RNG.random() < 0.25)


def audited(mechanism, samples=50_000, **facts):
    return audit(mechanism, inputs=[0, 1], claim=1.1, samples=samples, insecure_seed=5, **facts)


def test_outputs_that_never_repeat_are_not_said_to_have_been_looked_at():
    found = audited(lambda x: RNG.normal(noisy(x), 9), samples=5000)
    assert UNSEEN in "; ".join(found.not_looked_at)
    assert not any("only one input" in looked for looked in found.looked_at)
    assert math.isinf(found.rarest_leak)
    repeating = audited(noisy, samples=5000)
    assert UNSEEN not in "; ".join(repeating.not_looked_at)
    assert any("only one input" in looked for looked in repeating.looked_at)


def nonce(bits=62):
    return int(RNG.integers(1 << bits))


COUNTER = itertools.count()


@dataclass
class Report:
    nonce: int
    value: int


BESIDE_A_NONCE = {
    "tuple": lambda x: (nonce(), x),
    "list": lambda x: [next(COUNTER), x],
    "dictionary": lambda x: {"id": nonce(), "v": x},
    "nested": lambda x: {"a": [nonce(40)], "b": [x]},
    "text": lambda x: f"{nonce()}:{x}",
    "bytes": lambda x: b"%d:%d" % (nonce(), x),
    "data class": lambda x: Report(nonce(), x),
    "row": lambda x: np.array([nonce(), x]),
    "row of doubles": lambda x: (RNG.random(), *[0.0] * 20, float(x)),
    "array in a dictionary": lambda x: {"id": nonce(), "bits": np.eye(3, dtype=int)[x]},
}


@pytest.mark.parametrize("name", BESIDE_A_NONCE)
def test_a_leak_beside_a_nonce_is_found(name):
    found = audited(BESIDE_A_NONCE[name], samples=5000)
    assert found.refuted
    assert found.evidence.lower > 3
    assert "output" in found.witness.event


def test_what_was_looked_at_beside_a_nonce():
    found = audited(lambda x: (nonce(), noisy(x)), samples=5000)
    assert not found.refuted
    assert "parts of outputs that only one input has" in found.looked_at[0]
    assert "leaks in parts of outputs that hardly ever repeat" in found.not_looked_at
    hidden = audited(lambda x: (nonce(), RNG.normal(noisy(x), 9)), samples=5000)
    assert UNSEEN in "; ".join(hidden.not_looked_at)


def test_a_rare_leak_beside_a_nonce_is_found():
    found = audited(
        lambda x: (nonce(), 2 + x if RNG.random() < 1 / 500 else noisy(x)), samples=20_000
    )
    assert found.refuted
    assert "output[1]" in found.witness.event


def test_a_part_that_holds_its_claim_raises_no_alarm(alarm):
    for mechanism in (lambda x: {"id": nonce(), "v": noisy(x)}, lambda x: f"{nonce()}:{noisy(x)}"):
        assert not audited(mechanism, samples=5000, confidence=1 - alarm).refuted


def bits(x):
    array = np.zeros(2000, dtype=np.uint8)
    array[1000] = x
    return array


EXACTLY = {
    "a large whole number beside a double": lambda x: ((1 << 60) + x, RNG.random()),
    "more than 63 bits": lambda x: ((1 << 63) + x, -1),
    "more than 63 bits alone": lambda x: (1 << 63) + x if RNG.random() < 0.9 else -1,
    "64 bits in an array": lambda x: np.array([2**64 - 1 - x, 5], dtype=np.uint64),
    "the middle of an array": lambda x: {"bits": bits(x)},
    "and beside a nonce": lambda x: (nonce(), bits(x)),
    "last digits": lambda x: {"v": np.array([0.5 + x * 1e-12])},
    "a type in a row": lambda x: (1, bool(x) if x else 0, "a"),
    "truth values": lambda x: (True, False) if x else (1, 0),
    "a shape": lambda x: ((1, 2), (3, 4)) if x else (1, 2, 3, 4),
    "ragged": lambda x: [1, [2]] if x else [1, 2],
}


@pytest.mark.parametrize("name", EXACTLY)
def test_outputs_are_told_apart_to_the_last_bit(name):
    assert audited(EXACTLY[name], samples=3000).refuted


def in_some_order(x):
    return {8 * x, 8 - 8 * x}


def members_in_some_order(x):
    return {"a": 1, "b": 2} if x else {"b": 2, "a": 1}


class Lengthless:
    """Has a length that cannot be asked for."""

    def __len__(self):
        raise RuntimeError

    def __eq__(self, other):
        return True

    __hash__ = None

    def __repr__(self):
        return "Lengthless()"


class Opaque:
    """Shows nothing of what it holds."""

    def __eq__(self, other):
        return True

    __hash__ = None


HOLDING = {
    "a set": in_some_order,
    "a dictionary": members_in_some_order,
    "an array without dimensions": lambda x: np.array(noisy(x)),
    "no dimension or one": lambda x: np.array(noisy(x)) if nonce(1) else np.array([noisy(x)]),
    "ragged rows": lambda x: [[noisy(x), 1], [2]],
    "rows of several lengths": lambda x: np.full(1 + noisy(x), 1),
    "no length": lambda _: Lengthless(),
    "masked": lambda x: np.ma.array([1, 2], mask=[noisy(x), 0]),
    "a structure": lambda x: np.array((noisy(x), 1.5), dtype=[("a", "i4"), ("b", "f8")]),
    "complex": lambda x: complex(noisy(x), 1),
    "long doubles": lambda x: np.longdouble(noisy(x)),
    "objects in an array": lambda x: np.array([noisy(x), None], dtype=object),
    "dates": lambda x: np.datetime64("2020-01-01") + noisy(x),
    "nothing": lambda _: (),
}


@pytest.mark.parametrize("name", HOLDING)
def test_outputs_of_any_kind_are_audited(name, alarm):
    assert not audited(HOLDING[name], samples=1000, confidence=1 - alarm).refuted


def test_outputs_that_show_nothing_are_refused():
    with pytest.raises(ParameterError, match="bytes that are sent"):
        audited(lambda _: Opaque(), samples=100)
