"""Mechanisms that break their claim, each by a mistake that has been made in practice.

They are test cases for audits. Never collect anything with them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.numerics.keystream import Keystream

__all__ = ["BROKEN", "BrokenMechanism"]

_CLAIM = 1.0
_KEEP = math.exp(_CLAIM) / (math.exp(_CLAIM) + 1)


@dataclass(frozen=True)
class BrokenMechanism:
    """A mechanism that claims epsilon_local 1 and does not have it.

    Attributes:
        mistake: The mistake, in a sentence.
        call: A function that takes an array of values and returns as many outputs.
        inputs: The values that it is meant for.
        claim: The epsilon that it claims.
    """

    mistake: str
    call: Callable[[NDArray[Any]], Any]
    inputs: tuple[Any, ...] = (0, 1)
    claim: float = _CLAIM


def _uniform(size: int) -> NDArray[np.float64]:
    """Doubles in (0, 1), as careless code draws them."""
    return (np.asarray(Keystream().words(size) >> np.uint64(11)) + 0.5) * 2.0**-53


def _chance(size: int, probability: float) -> NDArray[np.bool_]:
    return _uniform(size) < probability


def _laplace(size: int, scale: float) -> NDArray[np.float64]:
    sign = np.where(_chance(size, 0.5), 1.0, -1.0)
    return -scale * sign * np.log(_uniform(size))


def _response(values: NDArray[Any], keep: float) -> NDArray[np.int64]:
    return np.where(_chance(len(values), keep), values, 1 - values).astype(np.int64)


def _generous_response(values: NDArray[Any]) -> NDArray[np.int64]:
    return _response(values, 1 / (1 + math.exp(-1.1)))


def _wrong_scale(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.round(values + _laplace(len(values), 0.5 / _CLAIM), 2)


def _low_bits(values: NDArray[Any]) -> NDArray[np.float64]:
    return values.astype(np.float64) + _laplace(len(values), 1 / _CLAIM)


def _truth_among_the_lies(values: NDArray[Any]) -> NDArray[np.int64]:
    keep = math.exp(_CLAIM) / (math.exp(_CLAIM) + 3)
    anything = Keystream().integers(4, len(values)).astype(np.int64)
    return np.where(_chance(len(values), keep), values, anything)


def _off_by_one(values: NDArray[Any]) -> NDArray[np.int64]:
    keep = math.exp(_CLAIM) / (math.exp(_CLAIM) + 4 - 2)
    other = (values + 1 + Keystream().integers(3, len(values)).astype(np.int64)) % 4
    return np.where(_chance(len(values), keep), values, other)


def _modulo(values: NDArray[Any]) -> NDArray[np.int64]:
    byte = Keystream().integers(256, len(values)) % np.uint64(100)
    return np.where(byte < round(100 * _KEEP), values, 1 - values).astype(np.int64)


def _length(values: NDArray[Any]) -> list[bytes]:
    said = _response(values, _KEEP)
    return [
        b'{"on":%s}' % (b"true" if bit else b"false") + b" " * int(value)
        for bit, value in zip(said, values, strict=True)
    ]


def _missing(values: NDArray[Any]) -> list[int | None]:
    said, lost = _response(values, _KEEP), _chance(len(values), 0.01)
    return [
        None if gone and value == 1 else int(bit)
        for bit, gone, value in zip(said, lost, values, strict=True)
    ]


def _seeded(values: NDArray[Any]) -> NDArray[np.int64]:
    flips = {int(v): np.random.default_rng(int(v)).random() < _KEEP for v in np.unique(values)}
    return np.array([value if flips[int(value)] else 1 - value for value in values])


def _moving_support(values: NDArray[Any]) -> NDArray[np.float64]:
    noise = _laplace(len(values), 1 / _CLAIM)
    while (np.abs(noise) > 5).any():
        far = np.abs(noise) > 5
        noise[far] = _laplace(int(far.sum()), 1 / _CLAIM)
    return np.round(values + noise, 3)


def _one_sided(values: NDArray[Any]) -> NDArray[np.int64]:
    steps = np.floor(np.log(_uniform(len(values))) / -_CLAIM)
    return values.astype(np.int64) + steps.astype(np.int64)


def _whole_budget_a_bit(values: NDArray[Any]) -> NDArray[np.int64]:
    bits = (np.arange(8) == values[:, None]).astype(np.int64)
    return np.asarray(np.where(_chance(bits.size, _KEEP).reshape(bits.shape), bits, 1 - bits))


def _gaussian(values: NDArray[Any]) -> NDArray[np.float64]:
    noise = np.random.default_rng(Keystream().words(4)).normal(0, 1.5, len(values))
    return np.round(values + noise, 2)


def _averaged(values: NDArray[Any]) -> NDArray[np.int64]:
    return _response(values, _KEEP) + _response(values, _KEEP)


def _lattice(values: NDArray[Any]) -> NDArray[np.float64]:
    sign = np.where(_chance(len(values), 0.5), 1, -1)
    steps = np.floor(np.log(_uniform(len(values))) / -_CLAIM)
    return np.asarray(values + sign * steps)


BROKEN: dict[str, BrokenMechanism] = {
    "generous-response": BrokenMechanism(
        "randomized response with epsilon 1.1 instead of 1", _generous_response
    ),
    "wrong-scale": BrokenMechanism(
        "Laplace noise of half the scale: sensitivity taken for a radius", _wrong_scale
    ),
    "low-bits": BrokenMechanism(
        "Laplace noise as a double: the lowest bits of the sum tell what was added (Mironov 2012)",
        _low_bits,
    ),
    "truth-among-the-lies": BrokenMechanism(
        "k-ary response whose random other answer may be the true one",
        _truth_among_the_lies,
        (0, 1, 2, 3),
    ),
    "off-by-one": BrokenMechanism(
        "k-ary response that counts k - 2 other answers instead of k - 1", _off_by_one, (0, 1, 2, 3)
    ),
    "biased-modulo": BrokenMechanism("a random byte modulo 100 favours small numbers", _modulo),
    "length": BrokenMechanism("a report that is longer for one value than for the other", _length),
    "missing": BrokenMechanism("one value is sometimes not reported at all", _missing),
    "seeded": BrokenMechanism("noise from a generator that is seeded with the value", _seeded),
    "moving-support": BrokenMechanism(
        "Laplace noise redrawn until it is small: where it ends depends on the value",
        _moving_support,
    ),
    "one-sided": BrokenMechanism("geometric noise without a sign", _one_sided),
    "whole-budget-a-bit": BrokenMechanism(
        "unary encoding that spends the whole budget on each of the two bits that differ",
        _whole_budget_a_bit,
        (0, 3, 7),
    ),
    "gaussian": BrokenMechanism("Gaussian noise sold as pure epsilon", _gaussian),
    "averaged": BrokenMechanism(
        "two answers about one value, each with the whole budget", _averaged
    ),
    "lattice": BrokenMechanism(
        "whole-numbered noise on a value that is not whole", _lattice, (0.0, 0.5)
    ),
}
"""Known mistakes by name."""
